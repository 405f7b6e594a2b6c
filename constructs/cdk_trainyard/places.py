"""Where the library keeps what it makes for later."""

import os
from pathlib import Path


def home() -> Path:
    """Return the home of who runs this; where the system knows none, a folder that nobody can make."""
    try:
        return Path.home()
    except RuntimeError:  # neither HOME nor an entry of the user, as in a container that runs as any number
        return Path(os.devnull, "home")


def cache_folder() -> Path:
    """Return the folder for what is made once: ``cdk-trainyard`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or home() / ".cache").absolute() / "cdk-trainyard"
