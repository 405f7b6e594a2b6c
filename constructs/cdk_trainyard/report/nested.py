"""What stands in nested mappings, of which templates are made."""

from collections.abc import Mapping
from typing import Any


def at(value: Any, *keys: str) -> Any:
    """Return what stands in nested mappings; None where there is nothing.

    Args:
        value: The outermost.
        keys: The keys, from the outermost.
    """
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
