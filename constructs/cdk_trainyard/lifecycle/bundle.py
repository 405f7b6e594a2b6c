"""The folder of scripts as a value: what is in it, without what editors and tools leave behind, and its hash.

No CDK objects here. Everything is read once; what is checked, hashed and uploaded is then the same bytes.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

from cdk_trainyard.node_scripts import scripts_folder

_IGNORED = (
    "__pycache__", "*.py[cod]", ".git", ".hg", ".svn", ".gitignore", ".gitattributes", ".gitkeep",
    ".DS_Store", "Thumbs.db", "desktop.ini", ".idea", ".vscode", ".editorconfig",
    "*~", "#*#", ".#*", ".*.sw[a-p]", ".mypy_cache", ".pytest_cache", ".ruff_cache",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class BundleFile:
    """One file of a bundle.

    Attributes:
        name: Path in the bundle with forward slashes, as ``lib/steps.sh``.
        data: Its bytes.
        executable: Whether its owner may execute it. S3 does not keep this: HyperPod executes the entry file only.
    """

    name: str
    data: bytes = field(repr=False)
    executable: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is text (holds no NUL byte in its first 8 KiB: git's rule)."""
        return b"\0" not in self.data[:8192]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """Files of one or more folders laid over one another, sorted by name, and what could not be read.

    Attributes:
        files: What nodes will download.
        unreadable: Names of what is neither a file nor a folder nor a link to a file of its own folder.
    """

    files: tuple[BundleFile, ...]
    unreadable: tuple[str, ...] = ()

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
    for place, folder in folders:
        for name, path in _walk(folder):
            target = f"{place}/{name}" if place else name
            if _is_own_file(path, folder):
                found[target] = BundleFile(name=target, data=path.read_bytes(), executable=os.access(path, os.X_OK))
            else:
                unreadable.append(target)
    return Bundle(files=tuple(sorted(found.values(), key=_order)), unreadable=tuple(sorted(unreadable)))


def default_folders() -> Sequence[tuple[str, Path]]:
    """Return what a HyperPod node of this project downloads: its own scripts, and the step library they share."""
    root = scripts_folder()
    return (("", root / "hyperpod"), ("lib", root / "lib"))


def _order(file: BundleFile) -> bytes:
    return file.name.encode()


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        if any(fnmatchcase(path.name, pattern) for pattern in _IGNORED):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from ((f"{path.name}/{name}", inner) for name, inner in _walk(path))
        else:
            yield path.name, path


def _is_own_file(path: Path, folder: Path) -> bool:
    # a link out of the folder would upload a file that no reviewer of the folder has seen
    return path.is_file() and path.resolve().is_relative_to(folder.resolve())
