"""Values of CloudFormation properties, as an override writes them, against the type's provider schema. Pure.

What CloudFormation takes in either form passes: a number as text, ``"true"`` for a boolean; and functions of templates.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.options.kinds import NOWHERE, Kind, resource_id
from cdk_trainyard.problems import At, Problem, either, shown
from cdk_trainyard.tokens import unresolved

Shape: TypeAlias = "Mapping[str, Any]"
"""A property: ``type``, ``enum``, bounds, ``items``, ``properties`` of JSON Schema; what is left out, anything fits."""
_SCALARS: Final = {
    "integer": (r"-?[0-9]+", "a whole number"),
    "number": (r"-?[0-9]+(\.[0-9]+)?", "a number"),
    "boolean": (r"(?i:true|false)", "true or false"),
}
_IDS: Final[Mapping[str, Kind]] = {
    "SecurityGroupIds": resource_id("sg", "a security group"),
    "Subnets": resource_id("subnet", "a subnet"),
}
"""Lists of ids of EC2, of which CloudFormation's schema says letters, digits and hyphens."""
_FORMS: Final = {
    "ExecutionRole": "the ARN of an IAM role",
    "TrainingPlanArn": "the ARN of a training plan",
    "InstanceGroupName": "letters, digits and inner hyphens",
    "VolumeKmsKeyId": "the ARN or the id of a KMS key",
    "DnsName": "a DNS name of FSx, which begins with fs-",
    "MountName": "1 to 8 letters, digits, '_' and '-'",
    "MountPath": "an absolute path without a slash at its end",
}
"""Properties with a pattern in CloudFormation's schema that an override may write, in words."""

_NOTHING: Final = {"Ref": "AWS::NoValue"}
"""What CloudFormation takes for a property that is not there."""


def shape_problems(value: Any, shape: Shape, at: At = ()) -> Iterator[Problem]:
    """Yield what is wrong with a value, where in it.

    Args:
        value: The value; a mapping whose names are numbers stands for items of a list.
        shape: What CloudFormation takes there.
        at: Where it stands.
    """
    if unresolved(value) or _is_function(value):
        return
    if "items" in shape:
        yield from _list_problems(value, shape, at)
    elif "properties" in shape:
        yield from _mapping_problems(value, shape, at)
    elif text := _id_problem(value, name := _name(at)) or _scalar_problem(value, shape, name):
        yield Problem(at, text)


def lacking(value: Any, shape: Shape, at: At = ()) -> Iterator[At]:
    """Yield the paths of properties that CloudFormation requires beside what is there.

    Args:
        value: All that is said.
        shape: What CloudFormation takes there.
        at: Where it stands.
    """
    if unresolved(value) or _is_function(value):
        return
    if "items" in shape:
        for index, item in _items(value):
            yield from lacking(item, shape["items"], (*at, index))
    elif isinstance(value, Mapping):
        yield from ((*at, name) for name in shape.get("required", ()) if value.get(name, _NOTHING) == _NOTHING)
        for name, below in value.items():
            yield from lacking(below, shape.get("properties", {}).get(name, {}), (*at, name))


def _name(at: At) -> str:
    """Return the property that a path leads to, also from an item of it."""
    return next((str(part) for part in reversed(at) if not str(part).isdecimal()), "")


def _is_function(value: Any) -> bool:
    """Return whether a value is a function, or a dynamic reference, of CloudFormation's templates."""
    if isinstance(value, str):
        return value.startswith("{{resolve:")
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    name = str(next(iter(value)))
    return name == "Ref" or name.startswith("Fn::")


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return iter(value.items())
    return enumerate(value if isinstance(value, list | tuple) else ())


def _list_problems(value: Any, shape: Shape, at: At) -> Iterator[Problem]:
    by_index = isinstance(value, Mapping) and all(str(name).isdecimal() for name in value)
    if not by_index and not isinstance(value, list | tuple):
        yield Problem(at, f"must be a list, got {_said(value)}")
        return
    least, most = shape.get("minItems", 0), shape.get("maxItems", len(value))
    if not by_index and not least <= len(value) <= most:
        yield Problem(at, f"must have {least} to {most} items, got {len(value)}")
    for index, item in _items(value):
        yield from shape_problems(item, shape["items"], (*at, index))


def _mapping_problems(value: Any, shape: Shape, at: At) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield Problem(at, f"must be a mapping, got {_said(value)}")
        return
    known = shape["properties"]
    for name, below in value.items():
        if name in known:
            yield from shape_problems(below, known[name], (*at, name))
        else:
            text = f"is no property of CloudFormation there{did_you_mean(str(name), known)}"
            yield Problem((*at, name), text, of_key=True)


def _scalar_problem(value: Any, shape: Shape, name: str) -> str | None:
    kind, text = shape.get("type"), str(value)
    if kind in {None, "object", "array"}:
        return None
    if isinstance(value, Mapping | list | tuple) or value is None:
        return f"must be one value, got {_said(value)}"
    form, words = _SCALARS.get(kind, (shape.get("pattern", ""), _FORMS.get(name, "of CloudFormation's form")))
    if "enum" in shape and text not in shape["enum"]:
        return f"must be {either(shape['enum'])}, got {shown(value)}{did_you_mean(text, shape['enum'])}"
    if not (re.fullmatch if kind in _SCALARS else re.search)(form, text):
        return f"must be {words}, got {shown(value)}"
    if kind == "string":
        return _bounds_problem(len(text), shape, "Length", f"{len(text)} characters")
    return None if kind == "boolean" else _bounds_problem(float(text), shape, "imum", shown(value))


def _id_problem(value: Any, name: str) -> str | None:
    known = name in _IDS and isinstance(value, str | int | float)
    wrong = _IDS[name].problem(str(value), NOWHERE) if known else None
    return str(wrong) if wrong else None


def _bounds_problem(size: float, shape: Shape, bound: str, got: str) -> str | None:
    if size < shape.get(f"min{bound}", size):
        return f"must be {shape[f'min{bound}']} or more, got {got}"
    return f"must be at most {shape[f'max{bound}']}, got {got}" if size > shape.get(f"max{bound}", size) else None


def _said(value: Any) -> str:
    return "a mapping" if isinstance(value, Mapping) else "a list" if isinstance(value, list | tuple) else shown(value)
