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
    remedy = "; XDG_CACHE_HOME names another place than ~/.cache" if folder == cache_folder() else ""
    _make(folder, f"nothing can be kept in {folder}", remedy)


def make_output(folder: Path, option: str = "--output") -> None:
    """Make the folder that an option or an argument names, and see whether it takes files.

    Args:
        folder: The folder.
        option: The option, or the argument.

    Raises:
        Wrong: It does not.
    """
    _make(folder, f"nothing can be written to {folder}", f"; {option} names another place")


def _make(folder: Path, wrong: str, remedy: str) -> None:
    from tempfile import TemporaryFile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except FileExistsError:
        raise Wrong(f"{wrong}: it is a file{remedy}") from None
    except OSError as error:
        raise Wrong(f"{wrong}: {error.strerror}{remedy}") from None


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
