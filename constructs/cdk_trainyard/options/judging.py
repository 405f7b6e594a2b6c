"""What a constructor was given, held against its specification: types and kinds, as a file's sections are when read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, Final, TypeVar, cast

from cdk_trainyard.options.fields import Items, Json, Named, Object, Part, Scalar, Shape, fields_of
from cdk_trainyard.options.kinds import Environment, Kind
from cdk_trainyard.options.stand_ins import StandIn
from cdk_trainyard.problems import At, Problem, either, shown
from cdk_trainyard.tokens import Unknown, unresolved

_Spec = TypeVar("_Spec")
_WORDS: Final = {int: "a whole number", float: "a number", bool: "True or False", str: "text"}


def given(spec: Callable[..., _Spec], keywords: Mapping[str, Any]) -> _Spec:
    """Return what a constructor was given as its specification.

    Args:
        spec: The specification.
        keywords: The constructor's ``locals()``; what the specification does not have is left alone.
    """
    return spec(**{name: keywords[name] for name in fields_of(cast("type", spec)) if name in keywords})


def form_problems(value: Any, environment: Environment) -> list[Problem]:
    """Return every option whose value is of a wrong type or kind.

    Args:
        value: A specification.
        environment: Where it is deployed.
    """
    return list(_of_spec(value, environment, ()))


def _of_spec(value: Any, environment: Environment, at: At) -> Iterator[Problem]:
    spec: type = type(value)
    for name, option in fields_of(spec).items():
        inner = getattr(value, name)
        if not (inner is None and option.optional):
            yield from _of_value(option.shape, inner, environment, (*at, name))


def _of_value(shape: Shape, value: Any, environment: Environment, at: At) -> Iterator[Problem]:
    if isinstance(value, Unknown) or unresolved(value):
        return
    match shape:
        case Scalar():
            yield from _of_scalar(shape.type, shape.kinds, value, environment, at)
        case Object():
            yield from _of_object(shape.type, value, environment, at)
        case Part():
            specs = (shape.spec, shape.existing) if shape.existing else (shape.spec,)
            if is_dataclass(value) and isinstance(value, specs):
                yield from _of_spec(value, environment, at)
            else:
                yield _wrong(at, either(f"{spec.__name__}(…)" for spec in specs), value)
        case Items():
            yield from _of_items(shape, value, environment, at)
        case Named() | Json():
            yield from _of_mapping(shape, value, environment, at)


def _of_items(shape: Items, value: Any, environment: Environment, at: At) -> Iterator[Problem]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        yield _wrong(at, "a list", value)
        return
    for index, item in enumerate(value):
        name = getattr(item, shape.by_name, index) if shape.by_name else index
        yield from _of_value(shape.item, item, environment, (*at, name))


def _of_mapping(shape: Named | Json, value: Any, environment: Environment, at: At) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield _wrong(at, "a mapping", value)
    elif isinstance(shape, Named):
        for name, item in value.items():
            yield from (Problem((*at, name), f"{text} as a name") for text in _said(shape.names, name, environment))
            yield from _of_value(shape.item, item, environment, (*at, name))


def _of_scalar(wanted: type, kinds: Sequence[Kind], value: Any, environment: Environment, at: At) -> Iterator[Problem]:
    if issubclass(wanted, Enum):
        if not isinstance(value, wanted):
            yield _wrong(at, either(f"{wanted.__name__}.{member.name}" for member in wanted), value)
        return
    fits = isinstance(value, (int, float) if wanted is float else wanted)
    if not fits or (isinstance(value, bool) and wanted is not bool):
        yield _wrong(at, _WORDS[wanted], value)
    else:
        yield from (Problem(at, text) for text in _said(kinds, value, environment))


def _of_object(wanted: type[StandIn], value: Any, environment: Environment, at: At) -> Iterator[Problem]:
    if isinstance(value, StandIn):
        yield from (Problem(at, text) for text in _said((wanted.kind,), value.value, environment))
    elif not hasattr(type(value), wanted.member):  # of the class: the value itself would be a question to Node
        yield _wrong(at, wanted.what, value)


def _said(kinds: Sequence[Kind], value: Any, environment: Environment) -> Iterator[str]:
    yield from (text for kind in kinds if (text := kind.problem(value, environment)))


def _wrong(at: At, wanted: str, value: Any) -> Problem:
    kind = type(value).__name__
    got = f"{shown(value)} ({kind})" if isinstance(value, str | int | float | None) else f"a {kind}"
    return Problem(at, f"must be {wanted}, got {got}")
