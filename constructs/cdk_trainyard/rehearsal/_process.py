"""Starting other programs: the only place of the rehearsal that does.

Every program is named by a list of words, never by a line for a shell.
"""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from cdk_trainyard.rehearsal.errors import RehearsalError

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """What a program left behind.

    Attributes:
        code: Exit code; negative is the signal that ended it.
        out: What it wrote to standard output.
        err: What it wrote to standard error.
    """

    code: int
    out: str
    err: str


def run(
    words: Sequence[str],
    *,
    text: str | None = None,
    check: bool = True,
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
    shown: str | None = None,
) -> Finished:
    """Run a program to its end.

    Args:
        words: The program and its arguments.
        text: What it reads from standard input. Default - nothing.
        check: Whether an exit code other than 0 is an error.
        timeout: Seconds after which it is ended. Default - none.
        environment: Its whole environment. Default - this process's own.
        shown: How messages name it. Default - by ``words``.

    Raises:
        RehearsalError: It failed and ``check`` is set, or it took longer than ``timeout``.
    """
    named = shown or " ".join(words)
    try:
        done = subprocess.run(  # noqa: S603  words are built by this package
            list(words),
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise RehearsalError(f"'{named}' did not end within {timeout} s") from error
    if check and done.returncode:
        said = (done.stderr or done.stdout).strip() or "it said nothing"
        raise RehearsalError(f"'{named}' ended with code {done.returncode}: {said}")
    return Finished(code=done.returncode, out=done.stdout, err=done.stderr)


def start(
    words: Sequence[str],
    *,
    stdin: int | None = subprocess.DEVNULL,
    output: IO[str] | int = subprocess.DEVNULL,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a program in a session of its own, so that the terminal's Ctrl-C reaches this process only."""
    return subprocess.Popen(  # noqa: S603  words are built by this package
        list(words),
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env=environment,
    )


def wait_for(what: str, question: Callable[[], _Value | None], *, seconds: float, every: float = 0.1) -> _Value:
    """Ask until the answer is neither None nor False, and return it.

    Raises:
        RehearsalError: There was none in time; names ``what`` was waited for.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer is not None and answer is not False:
            return answer
        if time.monotonic() >= deadline:
            raise RehearsalError(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(every)


def children(process: int) -> list[int]:
    """Return the ids of a process's children, oldest first."""
    numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return sorted(number for number in numbers if parent_of(number) == process)


def parent_of(process: int) -> int | None:
    """Return the id of a process's parent, or None when there is no such process."""
    try:
        # the name stands in parentheses and may hold any character
        return int(Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def name_of(process: int) -> str:
    """Return the name of a process's program, or an empty text when there is no such process."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def alive(process: int) -> bool:
    """Tell whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


def end(process: int, signal_number: int) -> None:
    """Send a signal; a process that is gone is fine."""
    try:
        os.kill(process, signal_number)
    except ProcessLookupError:
        return
