"""Raw keys of the user laid over what is rendered: they add, and never change what an option says. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cdk_trainyard.problems import At


def merged(rendered: Mapping[str, Any], raw: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return both together: sections are merged, lists joined, and what was rendered stays.

    Args:
        rendered: What the options say.
        raw: Raw keys, or None.
    """
    result = dict(rendered)
    for key, value in (raw or {}).items():
        known = result.get(key)
        if known is None:
            result[key] = value
        elif isinstance(known, Mapping) and isinstance(value, Mapping):
            result[key] = merged(known, value)
        elif is_list(known) and is_list(value):
            result[key] = [*known, *value]
    return result


def conflicts(rendered: Mapping[str, Any], raw: Mapping[str, Any] | None, path: At = ()) -> Iterator[At]:
    """Yield the paths of raw keys that an option has rendered already.

    Args:
        rendered: What the options say.
        raw: Raw keys, or None.
        path: Where both stand.
    """
    for key, value in (raw or {}).items():
        place = (*path, key)
        known = rendered.get(key)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            yield from conflicts(known, value, place)
        elif known is not None and not (is_list(known) and is_list(value)):
            yield place


def is_list(value: Any) -> bool:
    """Return whether a value is a list in a configuration."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def value_at(raw: Any, path: str) -> Any:
    """Return what stands at a path of keys; None: nothing.

    Args:
        raw: The keys.
        path: The path, with dots.
    """
    for part in path.split("."):
        raw = raw.get(part) if isinstance(raw, Mapping) else None
    return raw
