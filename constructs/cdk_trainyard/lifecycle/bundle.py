"""The folder of scripts as a value: what is in it, without what editors and tools leave behind, and its hash.

No CDK objects here. Everything is read once; what is checked, hashed and uploaded is then the same bytes.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final, Self

from cdk_trainyard.node_scripts import scripts_folder

_IGNORED = (
    "__pycache__", "*.py[cod]", ".git", ".hg", ".svn", ".gitignore", ".gitattributes", ".gitkeep",
    ".DS_Store", "Thumbs.db", "desktop.ini", ".idea", ".vscode", ".editorconfig",
    "*~", "#*#", ".#*", ".*.sw[a-p]", ".mypy_cache", ".pytest_cache", ".ruff_cache",
)  # fmt: skip


FILE_BYTES: Final = 8 * 2**20
"""The largest file: what the AWS CLI puts into S3 in one part; every node downloads it at every start."""
BUNDLE_BYTES: Final = 64 * 2**20
"""All files together."""
MOST_FILES: Final = 10_000
"""Number of files: a folder with more is not one of scripts."""
_BEGINNING: Final = 8192
"""What is read of a larger file: where it says its interpreter, and whether it is text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BundleFile:
    """One file of a bundle.

    Attributes:
        name: Path in the bundle with forward slashes, as ``lib/steps.sh``.
        data: Its bytes.
        executable: Whether its owner may execute it. S3 does not keep this: HyperPod executes the entry file only.
        unread: Bytes that were left unread behind ``data``, as no node takes a file of that size.
    """

    name: str
    data: bytes = field(repr=False)
    executable: bool = False
    unread: int = 0

    @property
    def is_text(self) -> bool:
        """Whether it is text (holds no NUL byte in its first 8 KiB: git's rule)."""
        return b"\0" not in self.data[:8192]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """Files of one or more folders laid over one another, sorted by name, and what could not be read.

    Attributes:
        files: What nodes will download.
        unreadable: Names of what is neither a file nor a folder nor a link to a file of its own folder, or may not be
            read.
        misnamed: Names that are not UTF-8 or have control characters, with those written out.
        too_many: Whether there are so many files that none was read.
    """

    files: tuple[BundleFile, ...]
    unreadable: tuple[str, ...] = ()
    misnamed: tuple[str, ...] = ()
    too_many: bool = False

    @property
    def names(self) -> list[str]:
        """Name of every file, sorted."""
        return [file.name for file in self.files]

    def find(self, name: str) -> BundleFile | None:
        """Return the file of that name, or None."""
        return next((file for file in self.files if file.name == name), None)

    def digest(self, *more: str) -> str:
        """Return the SHA-256, in hex, of every name and content and of ``more``.

        Modes, owners, times and the place of the folder are left out: none of them reaches a node, and none is the
        same on two machines.
        """
        parts = [part for file in self.files for part in (file.name.encode(), file.data)]
        whole = hashlib.sha256()
        for part in (*parts, *(text.encode() for text in more)):
            whole.update(len(part).to_bytes(8, "big") + part)
        return whole.hexdigest()

    def with_file(self, file: BundleFile) -> Self:
        """Return the bundle with one more file."""
        files = sorted((*self.files, file), key=_order)
        return replace(self, files=tuple(files))

    def write(self, directory: Path) -> None:
        """Write every file under ``directory`` with the same modes on any machine."""
        for file in self.files:
            path = directory / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
            path.chmod(0o755 if file.executable else 0o644)


def read_bundle(*folders: tuple[str, Path]) -> Bundle:
    """Read folders into one bundle.

    Args:
        folders: Pairs of a place in the bundle (``""`` for its root) and a folder to read.
    """
    found: dict[str, BundleFile] = {}
    unreadable: list[str] = []
    misnamed: list[str] = []
    room = BUNDLE_BYTES
    entries = [(place, folder, *entry) for place, folder in folders for entry in islice(_walk(folder), MOST_FILES + 1)]
    if len(entries) > MOST_FILES:
        return Bundle(files=(), too_many=True)
    for place, folder, name, path in entries:
        target = f"{place}/{name}" if place else name
        if (not target.isascii() and not _is_text(target)) or not target.isprintable():
            misnamed.append(target.encode("unicode_escape", "surrogatepass").decode())
        elif (file := _read(target, path, folder, room)) is None:
            unreadable.append(target)
        else:
            found[target] = file
            room = max(0, room - len(file.data))
    return Bundle(
        files=tuple(sorted(found.values(), key=_order)),
        unreadable=tuple(sorted(unreadable)),
        misnamed=tuple(sorted(misnamed)),
    )


def _read(name: str, path: Path, folder: Path, room: int) -> BundleFile | None:
    """Return a file, of a large one its beginning; None when it is none of the folder's own, or may not be read."""
    try:
        if not _is_own_file(path, folder):
            return None
        size = path.stat().st_size
        with path.open("rb") as stream:
            data = stream.read(min(size, room) if size <= FILE_BYTES else min(_BEGINNING, room))
        return BundleFile(name=name, data=data, executable=os.access(path, os.X_OK), unread=size - len(data))
    except OSError:
        return None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that are not UTF-8, which Python keeps as surrogates
        return False
    return True


def default_folders() -> Sequence[tuple[str, Path]]:
    """Return what a HyperPod node of this project downloads: its own scripts, and the step library they share."""
    root = scripts_folder()
    return (("", root / "hyperpod"), ("lib", root / "lib"))


@cache
def own_bundle() -> Bundle:
    """Return the project's own scripts."""
    return read_bundle(*default_folders())


def _order(file: BundleFile) -> bytes:
    return file.name.encode()


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        yield ".", folder
        return
    for path in paths:
        if any(fnmatchcase(path.name, pattern) for pattern in _IGNORED):
            continue
        if is_there(path.is_dir) and not path.is_symlink():
            yield from ((path.name if inner == path else f"{path.name}/{name}", inner) for name, inner in _walk(path))
        else:
            yield path.name, path


def is_there(asked: Callable[[], bool]) -> bool:
    """Return what ``Path.is_dir`` or ``Path.is_file`` says; of what nobody may ask about, or no disk can hold, no."""
    try:
        return asked()
    except OSError:
        return False


def content_of(path: Path) -> bytes | None:
    """Return what a file holds; None when there is none, or it may not be read."""
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def _is_own_file(path: Path, folder: Path) -> bool:
    # a link out of the folder would upload a file that no reviewer of the folder has seen
    return path.is_file() and path.resolve().is_relative_to(folder.resolve())
