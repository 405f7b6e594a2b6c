"""Ctrl-C, SIGTERM and SIGHUP: when they take effect."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
