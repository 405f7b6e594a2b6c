"""Where commands keep what they make for later."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder: ``cdk-trainyard`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cdk-trainyard")
