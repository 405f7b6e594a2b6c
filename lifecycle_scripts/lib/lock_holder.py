#!/usr/bin/env python3
"""Say who holds a lock of the package manager: the files on the command line are looked at in order.

Nothing is locked by looking. Prints the holder and exits with 1; exits with 0 when every lock is free. Written for the
Python of the nodes (3.8 and newer), without any dependency.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from pathlib import Path

_FLOCK = "hhqqi"  # struct flock of 64-bit Linux: type, whence, start, length, process


def holder(path: Path) -> int:
    """Return the process that locks a file; 0 when none does, or there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return 0
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, process = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    finally:
        os.close(descriptor)
    return 0 if kind == fcntl.F_UNLCK else process


def name(process: int) -> str:
    """Return what runs as a process; it may have ended meanwhile."""
    try:
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return "a process that has ended"


def main(paths: list[str]) -> int:
    """Name the first holder."""
    for path in map(Path, paths):
        process = holder(path)
        if process:
            sys.stdout.write(f"{name(process)} (process {process}) holds {path}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
