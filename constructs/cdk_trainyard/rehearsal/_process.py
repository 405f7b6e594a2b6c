"""Starting other programs: the only place of the rehearsal that does, and that looks for them.

Every program is named by a list of words, never by a line for a shell.
"""

import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn, TypeVar

from cdk_trainyard.rehearsal.errors import RehearsalError

_Value = TypeVar("_Value")
_ROOTS_PROGRAMS = "/usr/local/sbin:/usr/sbin:/sbin"
_LAST_LINES = 40


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


def own_environment(**more: str) -> dict[str, str]:
    """Return this process's environment with more variables, and with the programs of root on its path.

    Who started this process may have no ``sbin`` there.
    """
    path = os.environ.get("PATH") or os.defpath  # an empty word on a path is the present directory
    return {**os.environ, "PATH": f"{path}:{_ROOTS_PROGRAMS}", **more}


def find(program: str) -> str | None:
    """Return where a program is that would be started by this name, or None."""
    return shutil.which(program, path=own_environment()["PATH"])


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
        environment: Its whole environment. Default - ``own_environment``.
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
            env=own_environment() if environment is None else environment,
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
        env=own_environment() if environment is None else environment,
    )


def watch(
    words: Sequence[str],
    tell: Callable[[str], None],
    *,
    named: str,
    text: str = "",
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a program that takes long to its end, and follow what it says.

    Args:
        words: The program and its arguments.
        tell: Told of every line that it writes, as it does.
        named: How messages name it.
        text: What it reads from standard input. Default - nothing.
        environment: Its whole environment. Default - ``own_environment``.

    Raises:
        FileNotFoundError: There is no such program.
        RehearsalError: It failed; with its last lines.
    """
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(  # noqa: S603  words are built by this package
        list(words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=own_environment() if environment is None else environment,
    ) as program:
        if program.stdin and program.stdout:  # they are pipes
            with suppress(BrokenPipeError), program.stdin as stdin:  # it may end before it has read
                stdin.write(text)
            for line in program.stdout:
                last.append(line.rstrip())
                tell(line)
    if program.returncode:
        raise RehearsalError("\n".join([f"{named} ended with code {program.returncode}", *last]))


def become(words: Sequence[str]) -> NoReturn:
    """Go on as another program, in the place of this process."""
    os.execvpe(words[0], list(words), own_environment())  # noqa: S606  no shell is wanted


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
