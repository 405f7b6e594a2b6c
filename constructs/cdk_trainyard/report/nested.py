"""What stands in nested mappings, of which templates are made."""

from collections.abc import Callable, Iterator, Mapping
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


def properties_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of a template's resource; none where they are no mapping.

    Args:
        body: The resource.
    """
    found = body.get("Properties")
    return found if isinstance(found, Mapping) else {}


def imports(value: Any) -> Iterator[str]:
    """Yield the names of the exports that a value takes.

    Args:
        value: The value.
    """
    yield from _named(value, _import)


def references(value: Any) -> Iterator[str]:
    """Yield the names in the same template that a value refers to.

    Args:
        value: The value.
    """
    yield from _named(value, _reference)


def _import(value: Any) -> str | None:
    match value:
        case {"Fn::ImportValue": str(name)}:
            return name
    return None


def _reference(value: Any) -> str | None:
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            return name
    return None


def _named(value: Any, name_of: Callable[[Any], str | None]) -> Iterator[str]:
    """Yield the names in a value, of which nothing inside is looked at."""
    name = name_of(value)
    if name is not None:
        yield name
        return
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _named(each, name_of)
