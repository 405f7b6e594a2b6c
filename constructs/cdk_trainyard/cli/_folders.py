"""Where commands keep what they make: for later, and for a moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.places import cache_folder
from cdk_trainyard.signals import later


def make_kept(folder: Path) -> None:
    """Make a folder in which something is kept, and see whether it takes files.

    Args:
        folder: The folder.

    Raises:
        Wrong: It does not.
    """
    from tempfile import TemporaryFile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        remedy = "; XDG_CACHE_HOME names another place than ~/.cache" if folder == cache_folder() else ""
        raise Wrong(f"nothing can be kept in {folder}: {error.strerror}{remedy}") from None


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder that is gone when the block has ended, whenever a signal comes."""
    from tempfile import TemporaryDirectory

    folder = None
    try:
        with later():
            folder = TemporaryDirectory(prefix="trainyard-", ignore_cleanup_errors=True)
        yield Path(folder.name)
    finally:
        if folder:
            with later():
                folder.cleanup()
