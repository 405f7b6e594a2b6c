"""What is ended when a ``with`` statement is left."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """What is closed when a ``with`` statement is left."""

    @abstractmethod
    def close(self) -> None:
        """End it; nothing of it is left."""

    def __enter__(self) -> Self:
        """Return this itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
