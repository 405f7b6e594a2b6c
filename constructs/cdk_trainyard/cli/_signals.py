"""Ctrl-C, SIGTERM and SIGHUP: when they take effect, what is ended by them, and how a question hears them."""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import subprocess

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE: Final = 5


@contextmanager
def later() -> Iterator[None]:
    """Let signals that come during a block take effect when it has ended."""
    if threading.current_thread() is not threading.main_thread():  # where no signal is heard
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = [number for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)]
    for number in ours:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, handlers[number])
        for each in came:
            signal.raise_signal(each)


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
