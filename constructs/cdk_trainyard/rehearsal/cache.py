"""A directory of things that take long to build: made once, found by what they were made from.

Two processes that need the same thing at once build it once: the second waits, and says so.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cdk_trainyard.places import cache_folder
from cdk_trainyard.rehearsal.errors import RehearsalError

VARIABLE = "CDK_TRAINYARD_CACHE"
"""Names the directory, in place of ``cdk-trainyard`` in the user's own cache directory."""

_KEY_LENGTH = 16  # 64 bits: there are a handful of entries


def cache_directory() -> Path:
    """Return the directory: ``$CDK_TRAINYARD_CACHE``, or ``cdk-trainyard`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    return cache_folder()


def key_of(parts: Iterable[str | bytes]) -> str:
    """Return the key of what is made from ``parts``, in this order."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()[:_KEY_LENGTH]


def built(kind: str, key: str, build: Callable[[Path], None], *, say: Callable[[str], None]) -> Path:
    """Return the directory of ``kind`` with this key, and build it when it is not there.

    Args:
        kind: What it is, as ``node-image``: the directory above.
        key: From ``key_of``.
        build: Fills an empty directory. When it fails, nothing is left of it.
        say: Told why this takes long.

    Raises:
        RehearsalError: The directory takes no files.
    """
    path = cache_directory() / kind / key
    if path.is_dir():
        return path
    lock = path.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    except OSError as error:
        problem = f"nothing can be kept in {path.parent}: {error.strerror}; {VARIABLE} names another place"
        raise RehearsalError(problem) from None
    with _lock(lock, kind, say):
        if path.is_dir():
            return path
        for left in path.parent.glob(f"{key}.partial-*"):  # by a builder that was killed
            shutil.rmtree(left, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{key}.partial-", dir=path.parent))
        try:
            build(partial)
            partial.chmod(0o755)
            partial.rename(path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return path


@contextmanager
def _lock(path: Path, kind: str, say: Callable[[str], None]) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process builds the {kind}: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            raise RehearsalError(f"{path} cannot be locked ({error}); set {VARIABLE} to a local directory") from error
        yield
