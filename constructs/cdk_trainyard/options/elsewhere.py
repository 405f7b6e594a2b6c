"""Where a file has a key that a section does not: what stands in the wrong section is named where it belongs."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.options.fields import Chosen, Items, Object, Part, Shape, keys_of
from cdk_trainyard.problems import At, dotted

_MOST: Final = 3
"""Places that are named; a key that more sections have says too little."""


def elsewhere(key: str, spec: type, at: At, *, data: Mapping[str, Any]) -> str:
    """Return where a key is below a section, as the end of a sentence; nothing where it is nowhere, or everywhere.

    Args:
        key: The key.
        spec: The section's specification.
        at: Where the section stands.
        data: What the section says, by which a part's specification may be chosen.
    """
    found = sorted(set(_places(key, spec, data)), key=lambda place: (len(place), place))
    names = [repr(dotted((*at, *place)).replace(".[", "[")) for place in found]
    return f"; there is {' or '.join(names)}" if 0 < len(names) <= _MOST else ""


def _places(key: str, spec: type, data: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, field in keys_of(spec).items():
        inside = data.get(name)
        for part, step in _parts(field.shape, data):
            if key in keys_of(part):
                yield (name, *step, key)
            below = _places(key, part, inside if isinstance(inside, Mapping) else {})
            yield from ((name, *step, *place) for place in below)


def _parts(shape: Shape, data: Mapping[str, Any]) -> Iterator[tuple[type, tuple[str, ...]]]:
    """Yield the specifications that a part, or an item of a list, may be of, each with what stands for an item."""
    match shape:
        case Part():
            yield from ((spec, ()) for spec in (shape.spec, shape.existing) if spec)
        case Chosen():
            yield from ((spec, ()) for spec in [shape.spec(data.get(shape.key))] if spec)
        case Items():
            step = ("[…]",) if shape.by_name is None else ("<name>",)
            yield from ((spec, step) for spec, _ in _parts(shape.item, data))
        case Object(section=Part() as section):
            yield section.spec, ()
