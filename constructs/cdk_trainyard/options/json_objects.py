"""JSON values of a file, which are handed on as they are. Pure."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.tokens import Unknown


def json_object(value: Any) -> Any:
    """Return a JSON value whose lists, which are read as tuples, are lists."""
    if isinstance(value, Mapping):
        return {key: json_object(inner) for key, inner in value.items() if not is_unknown(inner)}
    if isinstance(value, tuple):
        return [json_object(inner) for inner in value if not is_unknown(inner)]
    return value


def is_unknown(value: Any) -> bool:
    """Say whether nothing of a JSON value is known: that it is empty is."""
    inner = [*value.values()] if isinstance(value, Mapping) else value if isinstance(value, tuple) else ()
    return isinstance(value, Unknown) or (len(inner) > 0 and all(map(is_unknown, inner)))
