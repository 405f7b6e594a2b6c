"""Stands for ``torch._dynamo``, which torch imports with the first optimizer and takes as long as torch itself.

Python runs this file at its start (untraced.pth). Training as it is here traces nothing: what torch asks of it then is
to leave a function as it is, and otherwise to do nothing.

What torch imports are a million objects that stay: they are not searched for garbage again and again.
"""

import gc
import sys
from types import ModuleType
from typing import Any


class Untraced(ModuleType):
    """A module whose every name is another one; called, it returns None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Untraced(f"{self.__name__}.{name}")

    def __call__(self, *_words: object, **_options: object) -> None:
        return None

    @staticmethod
    def disable(function: Any, *_words: object, **_options: object) -> Any:
        """Return a function as it is."""
        return function


sys.modules["torch._dynamo"] = Untraced("torch._dynamo")
gc.set_threshold(100_000)
