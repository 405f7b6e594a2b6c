"""The Python of fake nodes: one process that has imported what their scripts do, and runs each of them in a fork.

A line asks for a run, by the id of the process that stands in for python3. Its words, variables, folder and files are
in /proc; file 8 is its output, as a shell that writes the line has that in the place of its own, and 9 takes the code.
"""

import argparse  # noqa: F401
import fcntl  # noqa: F401
import gc
import ipaddress  # noqa: F401
import json  # noqa: F401
import os
import re
import runpy
import secrets  # noqa: F401
import shutil  # noqa: F401
import signal
import subprocess
import sys
import traceback
import typing  # noqa: F401
import urllib.request  # noqa: F401
from pathlib import Path


def become(process: Path) -> list[str]:
    """Take a process's files, folder and variables; return the words after the interpreter and the stand-in."""
    for given, number in ((0, 0), (8, 1), (2, 2)):
        flags = re.search(r"flags:\s+(\d+)", (process / "fdinfo" / str(given)).read_text())
        assert flags
        os.dup2(os.open(process / "fd" / str(given), int(flags[1], 8) & (os.O_ACCMODE | os.O_APPEND)), number)
    os.chdir(process / "cwd")
    os.environb.clear()
    os.environb.update(line.split(b"=", 1) for line in (process / "environ").read_bytes().split(b"\0") if b"=" in line)
    return (process / "cmdline").read_text().split("\0")[2:-1]


def run(words: list[str]) -> int:
    """Run a script as Python does; what is none, Python itself."""
    if words[0] != "-ISB":
        return subprocess.run([sys.executable, "-S", *words], check=False).returncode
    _, script, *_ = words
    sys.argv = words[1:]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:  # noqa: BLE001  as Python ends
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    gc.disable()
    with open(0, "rb", buffering=0) as asked:
        for line in asked:
            if os.fork():
                continue
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            process = Path("/proc", line.decode().strip())
            end = os.open(process / "fd" / "9", os.O_WRONLY)
            code = run(become(process))
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(end, b"%d\n" % code)
            os._exit(0)


main()
