"""Items that a file has as a list where their names should be keys, or the other way round. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from cdk_trainyard.options.elsewhere import parts
from cdk_trainyard.options.fields import Field, Items, Named, Part, Shape, keys_of
from cdk_trainyard.options.remedies import INTRINSIC
from cdk_trainyard.options.signs import as_item
from cdk_trainyard.options.unknown_keys import in_snake_case, instead_of, meant
from cdk_trainyard.problems import At, dotted, shown
from cdk_trainyard.tokens import Unknown

_Known = TypeVar("_Known")
Found = list[tuple[str | None, At, Any]]
"""Items: the name of each where it is known, the steps to it as they are, and what it says."""


def otherwise(shape: Items, data: object, at: At, sources: Mapping[At, str]) -> Found:
    """Return items that stand in another form than they must; none where nobody knows what they are.

    Args:
        shape: What they should be.
        data: What the file has.
        at: Where it has it.
        sources: Every scalar as it is written in the file.
    """
    if not isinstance(shape.item, Part):
        return []
    if shape.by_name is None:
        return _in_order(data, shape.item.spec) if isinstance(data, Mapping) else []
    if not isinstance(data, tuple) or not all(isinstance(item, Mapping) and not _is_intrinsic(item) for item in data):
        return []
    found: Found = []
    for index, item in enumerate(data):
        key, value = next(iter(item.items())) if len(item) == 1 else ("", None)
        if isinstance(value, Mapping) and key not in keys_of(shape.item.spec):
            found.append((key, (index, key), value))
        elif name_alone := _name_alone(item, shape.item.spec):
            rest = {each: value for each, value in item.items() if each != name_alone}
            found.append((name_alone, (index,), rest))
        else:
            found.append(_named(item, _name_key(item, shape.item.spec, shape.by_name), (*at, index), sources))
    return found


def _name_alone(item: Mapping[str, Any], spec: type) -> str:
    """Return the name that an item begins with as a key without a value, with its own keys beside it."""
    known = keys_of(spec)
    key = next(iter(item), "")
    is_name = isinstance(item.get(key), Unknown) and key not in known and not meant(key, spec, known)
    return key if is_name and item.keys() & known.keys() else ""


def are_repeated(found: Found) -> bool:
    """Say whether two items have the same name, of which a mapping has one.

    Args:
        found: The items.
    """
    names = [name for name, _, _ in found if name is not None]
    return len(set(names)) < len(names)


def _is_intrinsic(item: Mapping[str, Any]) -> bool:
    return len(item) == 1 and INTRINSIC.fullmatch(next(iter(item))) is not None


def _named(
    item: Mapping[str, Any], key: str | None, at: At, sources: Mapping[At, str]
) -> tuple[str | None, At, Mapping[str, Any]]:
    """Return an item without its name, which may be a number."""
    rest = {each: value for each, value in item.items() if each != key}
    name = item[key] if key is not None else None
    if isinstance(name, int | float):
        name = sources.get((*at, str(key)), shown(name))
    return name if isinstance(name, str) else None, at[-1:], rest


def _name_key(item: Mapping[str, Any], spec: type, name: str) -> str | None:
    """Return the key of an item that has its name: that of a part, or what that is called elsewhere."""
    return name if name in item else next((key for key in item if _is_name(key, spec, name)), None)


def _is_name(key: str, spec: type, name: str) -> bool:
    """Say whether a key is called like a name of what the section is, as InstanceGroupName."""
    if key in keys_of(spec):
        return False
    if answer := instead_of(key, spec):
        return answer.endswith(" is its name")
    kinds = (f"_{in_snake_case(base.__name__)}" for base in spec.__mro__[:-1])
    written = in_snake_case(key)
    kind = written.removesuffix(f"_{name}")
    return written == name or (kind != written and any(each.endswith(f"_{kind}") for each in kinds))


def _in_order(data: Mapping[str, Any], spec: type) -> Found:
    """Return the one item that a mapping is, or its values, each with its key for a name."""
    if any(map(as_item, data)):  # answered, and nobody knows where an item ends
        return []
    options, values = keys_of(spec), data.values()
    if data.keys() & options.keys() and not all(_is_item(*each, options) for each in data.items()):
        return [(None, (), data)]
    if not all(isinstance(item, Mapping) for item in values):
        return []
    return [(key, (key,), {"name": key, **item} if "name" in options else item) for key, item in data.items()]


def _is_item(key: str, data: object, options: Mapping[str, Field]) -> bool:
    """Say whether what stands below a key is an item of this name, and not the option that is called so."""
    if not isinstance(data, Mapping):
        return False
    of_option = {
        name for spec, _ in (parts(options[key].shape, data) if key in options else ()) for name in keys_of(spec)
    }
    return bool((data.keys() & options.keys()) - of_option)


def too_deep(around: type, shape: Shape, data: Mapping[str, Any], at: At) -> dict[str, str]:
    """Return keys that stand in place of names of items, each with where it belongs.

    Args:
        around: The section that has the items.
        shape: What stands below their names.
        data: What the file has.
        at: Where it has it.
    """
    item = shape.item if isinstance(shape, Named) or (isinstance(shape, Items) and shape.by_name is not None) else None
    if not isinstance(item, Part):
        return {}
    name = shape.by_name if isinstance(shape, Items) else None
    outside, inside = keys_of(around), {key: option for key, option in keys_of(item.spec).items() if key != name}
    found: dict[str, str] = {}
    for key, value in data.items():
        options = [(each, place) for each, place in ((outside, at[:-1]), (inside, (*at, "<name>"))) if key in each]
        own = {part for each, _ in options for part, step in parts(each[key].shape, {}) if not step}
        of_option = {name for part in own for name in keys_of(part)}
        is_item = isinstance(value, Mapping) and (value.keys() & inside.keys()) - of_option
        if options and not is_item and not isinstance(value, Unknown):
            found[key] = " or ".join(repr(dotted(place)) for _, place in options)
            if options[0][0] is inside and inside[key].default == value:
                found[key] += f", where it is {shown(value)} unless you say otherwise; leave it out here"
    return found


def also_at(moved: Mapping[At, At], known: Mapping[At, _Known]) -> dict[At, _Known]:
    """Return what is known of what a file has at paths, for the paths at which it should stand.

    Args:
        moved: The path that something should have → the one that it has, once what is around it has been moved.
        known: What is known, by the path of what it is about.
    """
    new_of = {old: new for new, old in moved.items()}
    found: dict[At, _Known] = {}
    for known_at, each in known.items():
        path, begun = known_at, 0
        while old := next((path[:end] for end in range(begun, len(path) + 1) if path[:end] in new_of), None):
            path, begun = (*new_of[old], *path[len(old) :]), len(new_of[old]) + 1
            found[path] = each
    return found


def steps_in(data: object) -> Iterator[At]:
    """Yield the steps to everything that an item has, and to itself.

    Args:
        data: What the item says.
    """
    yield ()
    inside = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, tuple) else ()
    for step, each in inside:
        yield from ((step, *steps) for steps in steps_in(each))
