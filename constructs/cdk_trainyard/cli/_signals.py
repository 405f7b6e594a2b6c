"""Ctrl-C, SIGTERM and SIGHUP: what is ended by them, and how a question hears them."""

import codecs
import io
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from cdk_trainyard.signals import later

if TYPE_CHECKING:
    import subprocess

_PATIENCE: Final = 5
_LOOK: Final = 0.5
"""Seconds after which somebody who waits looks whether a signal has come."""


@contextmanager
def running(words: Sequence[str], *, group: bool, **options: Any) -> "Iterator[subprocess.Popen[Any]]":
    """Run a program during a block, and leave nothing of it running where the block ends by a signal or an error.

    Args:
        words: The program and its arguments.
        group: Whether it is the first of a group of its own; a program that reads from this terminal must not be.
        options: What ``subprocess.Popen`` takes besides.
    """
    from subprocess import Popen

    process = None
    try:
        with later():  # or what has begun would have no name to end it by
            process = Popen(words, start_new_session=group, **options)
        yield process
    except BaseException:
        if process:
            ended_whole(process, group=group)
        raise
    finally:
        if process and process.stdout:
            process.stdout.close()


def ended_whole(process: "subprocess.Popen[Any]", *, group: bool) -> None:
    """End a program, with all that it has started where it is the first of its group.

    Args:
        process: The program.
        group: Whether it is; if not, it is on this terminal, and Ctrl-C has reached it and what it has started.
    """
    from subprocess import TimeoutExpired

    with later():  # a second Ctrl-C would leave it running
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL) if group else (None, signal.SIGTERM):
            with suppress(ProcessLookupError):
                if group:
                    os.killpg(process.pid, number or signal.SIGINT)
                elif number:
                    process.send_signal(number)
            with suppress(TimeoutExpired):
                process.wait(_PATIENCE)
                break
        if group:  # what the program has started and not ended itself
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def lines_of(process: "subprocess.Popen[str]") -> Iterator[str]:
    """Yield the lines that a program says, without their ends; no signal goes unheard while they are waited for.

    A handler runs between two steps of Python. Of a signal that comes after the last of them, a read that then begins
    knows nothing, and may never end.

    Args:
        process: The program, whose output is read here and nowhere else.
    """
    stream = process.stdout
    if stream is None:
        return
    if threading.current_thread() is not threading.main_thread():  # where no signal is heard
        yield from (line.rstrip("\n") for line in stream)
        return
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")(errors="replace"), translate=True)
    source, rest = stream.fileno(), ""
    with _woken() as bell:
        while True:
            if bell in select.select([source, bell], [], [])[0]:
                os.read(bell, 64)
                continue
            found = os.read(source, 65_536)
            *whole, rest = (rest + decoder.decode(found, final=not found)).split("\n")
            yield from whole
            if not found:
                break
    if rest:
        yield rest


def waited(process: "subprocess.Popen[Any]") -> int:
    """Wait for a program, and return its exit code; no signal goes unheard meanwhile.

    Args:
        process: The program.
    """
    from subprocess import TimeoutExpired

    while True:
        with suppress(TimeoutExpired):
            return process.wait(_LOOK)


def answered(prompt: str = "") -> str:
    """Return a line of standard input, as ``input`` does; unlike it, no signal goes unheard between prompt and answer.

    Args:
        prompt: What is shown before it.

    Raises:
        EOFError: There is no line.
    """
    if not sys.stdin.isatty():
        return input(prompt)
    sys.stdout.write(prompt)
    sys.stdout.flush()
    with _woken() as bell:
        # one that rang before this waits ends it at once, and its handler runs then
        while sys.stdin not in select.select([sys.stdin, bell], [], [])[0]:
            os.read(bell, 64)
        line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.removesuffix("\n")


@contextmanager
def _woken() -> Iterator[int]:
    """Yield what can be read as soon as a signal has come."""
    bell, ring = os.pipe()
    os.set_blocking(ring, False)
    before = signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    try:
        yield bell
    finally:
        signal.set_wakeup_fd(before)
        os.close(bell)
        os.close(ring)
