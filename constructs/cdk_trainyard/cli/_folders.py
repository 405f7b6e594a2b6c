"""Where commands keep what they make: for later, and for a moment."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cdk_trainyard.cli._signals import later


def cache_folder() -> Path:
    """Return the folder: ``cdk-trainyard`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cdk-trainyard")


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
