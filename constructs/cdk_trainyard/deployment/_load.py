"""From a path to the text of the file, with a clear error for everything a path can be instead."""

import os
import stat
from pathlib import Path
from typing import Final

from cdk_trainyard.deployment._marks import position
from cdk_trainyard.errors import ConfigurationError, did_you_mean

_MAX_BYTES: Final = 256 * 1024
_SUFFIXES: Final = (".yaml", ".yml")


def read_text(path: Path) -> str:
    """Read a deployment file.

    Args:
        path: The file, relative to the working directory or absolute.

    Raises:
        ConfigurationError: It is missing (with the names of files near it), a directory, unreadable, too large or not
            UTF-8.
    """
    file = str(path)
    try:
        with open(path, "rb", opener=_at_once) as stream:
            is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            content = stream.read(_MAX_BYTES + 1) if is_file else b""
    except FileNotFoundError:
        raise ConfigurationError(file, [_missing(path)]) from None
    except IsADirectoryError:
        raise ConfigurationError(file, [f"this is a directory, not a file{_inside(path)}"]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(file, [f"the file cannot be read: {reason}"]) from None
    if not is_file:
        raise ConfigurationError(file, ["this is a pipe, a socket or a device, not a file"])
    if len(content) > _MAX_BYTES:
        raise ConfigurationError(file, [f"the file is larger than {_MAX_BYTES // 1024} KiB; is it a deployment file?"])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:  # of what follows a byte order mark
        line, column = position(error.object[: error.start].decode())
        problem = f"{file}:{line}:{column}: byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise ConfigurationError(file, [problem]) from None


def _at_once(path: str, flags: int) -> int:
    """Open without waiting: a pipe that nobody writes to would be waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _missing(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"the file does not exist; neither does its directory '{folder}'"
    names = _files(folder)
    others = f"; '{folder}' has {', '.join(names)}" if names else f"; '{folder}' has no {' or '.join(_SUFFIXES)} file"
    return f"the file does not exist{did_you_mean(path.name, names) or others}"


def _inside(path: Path) -> str:
    names = _files(path)
    return f"; name a file in it: {', '.join(names)}" if names else ""


def _files(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.glob("[!.]*") if path.suffix in _SUFFIXES)[:8]
    except OSError:
        return []
