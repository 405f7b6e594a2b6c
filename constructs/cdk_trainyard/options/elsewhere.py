"""Where a file has a key that a section does not: what stands in the wrong section is named where it belongs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from cdk_trainyard.options.fields import Chosen, Field, Items, Object, Part, Scalar, Shape, keys_of, required_keys
from cdk_trainyard.problems import At, dotted, either

Whole = tuple[type, Mapping[str, Any]]
"""What a file is, and what it says, by which a part's specification may be chosen."""
_ITEM: Final = "[…]"
_NAMED: Final = "<name>"
"""What stands for an item in a path."""
_MOST: Final = 3
"""Places that are named; a key that more sections have says too little."""
_DIRECTLY: Final = 2
"""Keys between a section and what one of its own sections has: that section's and the very key."""
_OF_EVERYTHING: Final = "name"
"""The one key at the top of a file that other things have as well, and mean their own."""
_ITS_OWN: Final = frozenset({"backups", "capacity_gib", "maintenance", "removal_policy", "version"})
"""What every thing has of its own: that of another thing is no remedy, and obeyed it changes that other thing."""


def elsewhere(key: str, at: At, *, whole: Whole) -> str:
    """Return where a key is, as the end of a sentence; nothing where it is nowhere, or everywhere.

    It is looked for in the sections around, in those below, in those of another choice, in those that are lacking
    beside, and last in all others that the file has or needs, where things of one kind alone have it; a section itself
    is named wherever it is one.

    Args:
        key: The key.
        at: Where the section stands that does not have it.
        whole: What the file is.
    """
    every: dict[At, Field] = dict(_places(*whole))
    places = {place: field for place, field in every.items() if place[-1] == key}
    around = [place for place in places if len(place) <= len(at) and _leads(place[:-1], at) and key not in _ITS_OWN]
    if nearest := max((place for place in around if place != (_OF_EVERYTHING,)), key=len, default=None):
        return _named([nearest], at) if len(nearest) > 1 else f"; {key!r} stands at the top of the file"
    telling = {place for place, field in places.items() if "_" in key or not isinstance(field.shape, Scalar | Object)}
    below = {place for place in places if len(place) > len(at) + 1 and _leads(at, place)}
    directly = {place for place in below if sum(map(_is_key, place[len(at) :])) == _DIRECTLY}
    if found := _named((below & telling) | directly, at) or of_another(key, at, whole):
        return found
    others = telling - below - {*around}
    lacking = {place for place in places if place[:-2] == at[:-1] and _is_lacking(place[:-1], every, whole[1])}
    if beside := _named(lacking, at[:-1]):
        return beside
    if key in _of_each(whole[0]):
        return ""
    needed = required_keys(whole[0])
    others = {each for each in others if each[0] in needed or _is_section(places[each]) or _has(each, whole[1])}
    return _named(others) if len(others) == 1 else ""


def chosen(spec: type, data: Mapping[str, Any]) -> list[str]:
    """Return what a file has chosen its parts by.

    Args:
        spec: What the file is.
        data: What it says.
    """
    keys = [field.shape.key for field in keys_of(spec).values() if isinstance(field.shape, Chosen)]
    return [choice for key in keys if isinstance(choice := data.get(key), str)]


@cache
def _of_each(spec: type) -> frozenset[str]:
    """Return the keys that things of several kinds have, each its own, whichever of its choices a file takes."""
    found = Counter(
        key for section in _sections(spec) for key, field in keys_of(section).items() if not _is_section(field)
    )
    return _ITS_OWN | {key for key, sections in found.items() if sections > 1}


def _sections(spec: type) -> frozenset[type]:
    """Return the specifications of all sections that a file may have, itself among them."""
    found, new = {spec}, [spec]
    while new:
        shapes = (field.shape for field in keys_of(new.pop()).values())
        below = {part for shape in shapes for part in _any_part(shape) if part not in found}
        found |= below
        new += below
    return frozenset(found)


def _any_part(shape: Shape) -> Iterator[type]:
    """Yield the specifications that a part may be of, whatever else the file says."""
    match shape:
        case Chosen():
            yield from (spec for choice in shape.choices() if (spec := shape.spec(choice)))
        case Items():
            yield from _any_part(shape.item)
        case _:
            yield from (spec for spec, _ in parts(shape, {}))


def _is_section(field: Field) -> bool:
    return isinstance(field.shape, Part | Chosen)


def _is_lacking(section: At, places: Mapping[At, Field], data: object) -> bool:
    """Say whether a file must have a section, and has not."""
    return section in places and places[section].required and not _has((*section, ""), data)


def _has(place: At, data: object) -> bool:
    """Say whether a file has the section of a key; it has one of items where it has these."""
    for step in place[:-1]:
        if not _is_key(step):
            return True
        data = data.get(step) if isinstance(data, Mapping) else None
    return isinstance(data, Mapping)


def _is_key(step: str | int) -> bool:
    return step not in {_ITEM, _NAMED}


def _named(places: Iterable[At], at: At = ()) -> str:
    """Name places around or below a section, with the names and numbers of the items that the section is in."""
    found = sorted(places, key=lambda place: (len(place), place))
    steps = [(min(len(at), len(place) - 1), place) for place in found]
    names = [repr(dotted((*at[:shared], *place[shared:])).replace(".[", "[")) for shared, place in steps]
    return f"; there is {' or '.join(names)}" if 0 < len(names) <= _MOST else ""


def _leads(section: At, place: At) -> bool:
    """Say whether a section is around a place, or is it; what stands for an item stands for each."""
    return len(section) <= len(place) and all(
        one == other or {one, other} & {_ITEM, _NAMED} for one, other in zip(section, place, strict=False)
    )


def of_another(key: str, at: At, whole: Whole) -> str:
    """Return of which other choice a part has a key that stands in it, or beside it, as the end of a sentence.

    Args:
        key: The key.
        at: Where the section stands that does not have it.
        whole: What the file is.
    """
    spec, data = whole
    for name, field in keys_of(spec).items():
        if isinstance(field.shape, Chosen) and at in {(), (name,)}:
            specs = {choice: field.shape.spec(choice) for choice in field.shape.choices()}
            found = [choice for choice, section in specs.items() if section and key in keys_of(section)]
            said = data.get(field.shape.key)
            if said in found:
                return f"; there is {f'{name}.{key}'!r}" if not at and key not in _ITS_OWN else ""
            if found and isinstance(said, str | None):
                what = "that" if at else repr(f"{name}.{key}")
                return f"; {what} is for {either(found)}; {field.shape.key!r} is {said or 'missing'}"
    return ""


def _places(spec: type, data: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Field]]:
    """Yield every key below a section with its path."""
    for name, field in keys_of(spec).items():
        yield (name,), field
        inside = data.get(name)
        said = field.shape.by_name if isinstance(field.shape, Items) else None  # the name of an item is its key
        for part, step in parts(field.shape, data):
            below = _places(part, inside if isinstance(inside, Mapping) else {})
            yield from (((name, *step, *place), found) for place, found in below if place != (said,))


def has(shape: Shape, key: str, data: Mapping[str, Any]) -> bool:
    """Say whether a section has a key itself, none of its items.

    Args:
        shape: What the section is.
        key: The key.
        data: What is said beside the section, by which its specification may be chosen.
    """
    return any(not step and key in keys_of(part) for part, step in parts(shape, data))


def parts(shape: Shape, data: Mapping[str, Any]) -> Iterator[tuple[type, tuple[str, ...]]]:
    """Yield the specifications that a part, or an item of a list, may be of, each with what stands for an item."""
    match shape:
        case Part():
            yield from ((spec, ()) for spec in (shape.spec, shape.existing) if spec)
        case Chosen():
            yield from ((spec, ()) for spec in [shape.spec(data.get(shape.key))] if spec)
        case Items():
            step = (_ITEM,) if shape.by_name is None else (_NAMED,)
            yield from ((spec, step) for spec, _ in parts(shape.item, data))
        case Object(section=Part() as section):
            yield section.spec, ()
