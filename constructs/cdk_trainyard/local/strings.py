"""The strings in what callers send: the parameters of a call, a file."""

from collections.abc import Iterator, Mapping
from typing import Any


def strings(value: Any) -> Iterator[str]:
    """Yield every string that stands as a value in ``value``, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from strings(inner)
