"""From the names of options in Python to the keys of a deployment file."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from cdk_trainyard.options.fields import Items, Named, Object, Part, Shape, fields_of
from cdk_trainyard.problems import At


def in_file(of: Any, at: At) -> At:
    """Return where a file has the option that Python calls ``at``.

    Args:
        of: The specification's class, or a value of it: where a key decides between two specifications, it is the value
            that says which one.
        at: The path in Python; what it names beyond the specification stays as it is.
    """
    return found_in(of, at)[0]


def found_in(of: Any, at: At) -> tuple[At, Any]:
    """Return where a file has the option that Python calls ``at``, and the option's value.

    Args:
        of: The specification's class, or a value of it.
        at: The path in Python.
    """
    shape: Shape | None = Part(spec=of if isinstance(of, type) else type(of))
    value: Any = None if isinstance(of, type) else of
    path: list[str | int] = []
    for part in at:
        spec = type(value) if is_dataclass(value) else _spec(shape)
        if spec is not None:
            field = fields_of(spec).get(str(part))
            shape, value = (field.shape, getattr(value, field.name, None)) if field else (None, None)
            if field and field.inline:
                continue
            path.append((field and field.key) or part)
        else:
            shape, value = _item(shape, value, part)
            path.append(part)
    return tuple(path), value


def _spec(shape: Shape | None) -> type | None:
    """Return the specification that a value of a shape is of."""
    part = shape.section if isinstance(shape, Object) else shape
    return part.spec if isinstance(part, Part) else None


def _item(shape: Shape | None, value: Any, part: str | int) -> tuple[Shape | None, Any]:
    """Return shape and value of one of several, found by its name or by its index."""
    match shape, value:
        case Items(item=item, by_name=str(name)), Sequence():
            return item, next((each for each in value if getattr(each, name, None) == part), None)
        case (Items(item=item), Sequence()) if isinstance(part, int) and part < len(value):
            return item, value[part]
        case Named(item=item), Mapping():
            return item, value.get(part)
        case ((Items() | Named()), _):
            return shape.item, None
    return None, None
