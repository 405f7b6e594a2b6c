"""What the emulator remembers beside moto: one value per account and region, forgotten on reset."""

from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

_T = TypeVar("_T")
_lock = RLock()
_forgetters: list[Callable[[], None]] = []


class Store(Generic[_T]):
    """A value of its own for every account and region, made when it is first asked for.

    Args:
        make: Called with account and region to make a new value.
    """

    def __init__(self, make: Callable[[str, str], _T]) -> None:
        self._make = make
        self._values: dict[tuple[str, str], _T] = {}
        _forgetters.append(self._values.clear)

    def of(self, account: str, region: str) -> _T:
        """Return the value of ``account`` in ``region``."""
        with _lock:
            if (account, region) not in self._values:
                self._values[account, region] = self._make(account, region)
            return self._values[account, region]

    def all(self) -> list[_T]:
        """Return every value that was made."""
        with _lock:
            return list(self._values.values())


def forget_everything() -> None:
    """Forget every value of every store."""
    with _lock:
        for forget in _forgetters:
            forget()
