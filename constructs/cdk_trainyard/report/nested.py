"""What stands in nested mappings, of which templates are made."""

from collections.abc import Iterator, Mapping
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


def imports(value: Any) -> Iterator[str]:
    """Yield the names of the exports that a value takes.

    Args:
        value: The value.
    """
    match value:
        case {"Fn::ImportValue": str(name)}:
            yield name
        case Mapping():
            for inner in value.values():
                yield from imports(inner)
        case list():
            for inner in value:
                yield from imports(inner)


def references(value: Any) -> Iterator[str]:
    """Yield the names in the same template that a value refers to.

    Args:
        value: The value.
    """
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case Mapping():
            for inner in value.values():
                yield from references(inner)
        case list():
            for inner in value:
                yield from references(inner)
