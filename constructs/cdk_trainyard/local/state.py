"""What the emulator remembers beside moto: one value per account and region, forgotten on reset."""

from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Store(Generic[_T]):
    """A value of its own for every account and region, made when it is first asked for.

    Args:
        make: Called with account and region to make a new value.
    """

    _all: "list[Store[object]]" = []
    _lock = RLock()

    def __init__(self, make: Callable[[str, str], _T]) -> None:
        self._make = make
        self._values: dict[tuple[str, str], _T] = {}
        Store._all.append(self)  # type: ignore[arg-type]  # the registry only resets

    def of(self, account: str, region: str) -> _T:
        """Return the value of ``account`` in ``region``."""
        with Store._lock:
            if (account, region) not in self._values:
                self._values[account, region] = self._make(account, region)
            return self._values[account, region]

    @classmethod
    def reset_all(cls) -> None:
        """Forget every value of every store."""
        with cls._lock:
            for store in cls._all:
                store._values.clear()
