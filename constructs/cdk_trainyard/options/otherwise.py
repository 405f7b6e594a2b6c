"""Items that a file has as a list where their names should be keys, or the other way round. Pure."""

from collections.abc import Mapping
from typing import Any, TypeVar

from cdk_trainyard.options.fields import Items, Part, keys_of
from cdk_trainyard.options.unknown_keys import in_snake_case
from cdk_trainyard.problems import At

_Known = TypeVar("_Known")
Found = list[tuple[str | int, At, Any]]
"""Items: the step to each as it should be, the steps to it as they are, and what it says."""


def otherwise(shape: Items, data: object) -> Found:
    """Return items that stand in another form than they must; none where nobody knows what they are.

    Args:
        shape: What they should be.
        data: What the file has.
    """
    if not isinstance(shape.item, Part):
        return []
    if shape.by_name is None:
        return _in_order(data, shape.item.spec) if isinstance(data, Mapping) else []
    if not isinstance(data, tuple) or not all(isinstance(item, Mapping) for item in data):
        return []
    found = [(_name_key(item, shape.item.spec, shape.by_name), item) for item in data]
    names = [item.get(key) for key, item in found]
    if len(set(names)) < len(names):  # each of them is meant, and a mapping has one of each name
        return [(index, (index,), _without(key, item)) for index, (key, item) in enumerate(found)]
    steps = (index if name is None else name for index, name in enumerate(names))
    return [(step, (index,), _without(*found[index])) for index, step in enumerate(steps)]


def _name_key(item: Mapping[str, Any], spec: type, name: str) -> str:
    """Return the key of an item that has its name: that of a part, or one that ends with it, as InstanceGroupName."""
    ends = [key for key in item if key not in keys_of(spec) and in_snake_case(key).endswith(f"_{name}")]
    return next((key for key in (name, *ends) if isinstance(item.get(key), str)), "")


def _without(key: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {each: value for each, value in item.items() if each != key}


def _in_order(data: Mapping[str, Any], spec: type) -> Found:
    """Return the one item that a mapping is, or its values, each with its key for a name."""
    options = keys_of(spec)
    if data.keys() & options.keys():
        return [(0, (), data)]
    if not all(isinstance(item, Mapping) for item in data.values()):
        return []
    named = {key: {"name": key, **item} if "name" in options else item for key, item in data.items()}
    return [(index, (key,), item) for index, (key, item) in enumerate(named.items())]


def also_at(new: At, old: At, known: Mapping[At, _Known]) -> dict[At, _Known]:
    """Return what is known of what a file has at a path, for the path at which it should stand."""
    return {(*new, *path[len(old) :]): each for path, each in known.items() if path[: len(old)] == old}
