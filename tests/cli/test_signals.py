"""Waiting for a program hears signals that interrupt no system call of the thread that waits."""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cdk_trainyard.cli._signals import lines_of, waited


class Came(Exception):  # noqa: N818  what the handler says
    """The signal's handler has run."""


@pytest.fixture
def handled() -> Iterator[None]:
    def come(_number: int, _frame: object) -> None:
        raise Came

    before = signal.signal(signal.SIGUSR1, come)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.usefixtures("handled")
@pytest.mark.parametrize("wait", [lambda process: list(lines_of(process)), waited], ids=["lines", "end"])
def test_a_signal_that_interrupts_nothing_is_heard(wait: Callable[[Any], object]) -> None:
    """One that comes between the last look and the read, here by a thread that takes it."""
    ring = threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))

    def rung(process: Any) -> None:
        ring.start()
        wait(process)

    with subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE, text=True) as process:  # noqa: S607
        try:
            with pytest.raises(Came):
                rung(process)
        finally:
            process.kill()
            ring.join()


def test_lines_come_whole() -> None:
    """However they are written, in whatever parts, and the last without an end."""
    script = r"printf 'one\r\ntw'; sleep 0.2; printf 'o\n\n\303'; sleep 0.2; printf '\244 \377 end'"
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert list(lines_of(process)) == ["one", "two", "", "ä � end"]
        assert waited(process) == 0
