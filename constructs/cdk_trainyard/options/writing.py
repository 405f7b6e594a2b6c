"""A specification as plain data, which a file with the same content reads to: the way back of `reading`."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from cdk_trainyard.options.fields import Chosen, Field, Items, Named, Object, Part, Shape, fields_of
from cdk_trainyard.options.members import spelling
from cdk_trainyard.options.stand_ins import StandIn


def written(spec: Any, *, without: str = "") -> dict[str, Any]:
    """Return a specification as a file would say it, every default written out.

    Args:
        spec: The specification, of values that a file can have.
        without: An option that is the section's own key. Default - there is none.
    """
    kind: type = type(spec)
    found: dict[str, Any] = {}
    for name, option in fields_of(kind).items():
        value = getattr(spec, name)
        if option.inline:
            found |= written(value) if value is not None else {}
        elif option.key is not None and name != without and _is_said(option, value):
            found[option.key] = _value(option.shape, value)
    return found


def _is_said(option: Field, value: Any) -> bool:
    return value is not None or (isinstance(option.shape, Object) and option.shape.nothing is not None)


def _value(shape: Shape, value: Any) -> Any:  # noqa: PLR0911  one for each shape
    match shape:
        case Object(section=Part()):
            return written(value)
        case Object(unit=unit, nothing=nothing):
            plain = nothing if value is None else value.value
            return plain // unit.seconds if unit else plain
        case Part() | Chosen():
            return written(value)
        case Items(by_name=str(name)):
            return {getattr(item, name): written(item, without=name) for item in value}
        case Items(item=item):
            return [_value(item, each) for each in value]
        case Named(item=item):
            return {name: _value(item, each) for name, each in value.items()}
    if isinstance(value, Enum):
        return spelling(value)
    return dict(value) if isinstance(value, Mapping) and not isinstance(value, StandIn) else value
