"""Lists that name something twice, by itself or in all that is there."""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from cdk_trainyard.options.fields import Items, Object, Scalar
from cdk_trainyard.options.kinds import NOWHERE, Email, Environment
from cdk_trainyard.options.repositories import RepositoryName, all_around
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved


def repeated_problems(
    shape: Items, values: Sequence[Any], at: At, environment: Environment = NOWHERE
) -> Iterator[Problem]:
    """Say which values of a list stand before in it, each once; parts have names, and rules of their own.

    Args:
        shape: The list; one that is marked `Repeats` may repeat.
        values: Its values.
        at: Where it stands.
        environment: Where the deployment goes, which makes one thing of a name and its ARN.
    """
    if shape.repeats or not isinstance(shape.item, Scalar | Object):
        return
    item = shape.item
    said = [_said(item, value) for value in values]
    known = [_known_by(item, value, environment) for value in said]
    for index, value in enumerate(known):
        if not unresolved(value) and known[:index].count(value) == 1:
            count = known.count(value)
            again = "again" if count == 2 else f"{count} times"  # noqa: PLR2004  the first and this one
            yield Problem((*at, index), f"must be another than those before it, got {shown(said[index])} {again}")
        if _is_repository(item) and isinstance(value, str) and (every := all_around(value, known)):
            of_all = said[known.index(every)]
            text = f"must be left out beside {shown('*' if unresolved(of_all) else of_all)}, which is all"
            yield Problem((*at, index), f"{text}; for some alone, leave that out")


def _said(shape: Scalar | Object, value: Any) -> Any:
    """Return what an object of CDK is known by, and how a file spells a member; anything else as it is."""
    if isinstance(value, Enum):
        return value.value
    return getattr(value, shape.type.member, value) if isinstance(shape, Object) else value


def _known_by(shape: Scalar | Object, value: Any, environment: Environment) -> Any:
    """Return what a value is, however it is said."""
    if not isinstance(value, str) or unresolved(value):
        return value
    if isinstance(shape, Scalar) and any(isinstance(kind, Email) for kind in shape.kinds):
        local, at, domain = value.rpartition("@")
        return f"{local}{at}{domain.lower()}"  # RFC 1035, section 2.3.3: the case of a domain says nothing
    return RepositoryName().known_by(value, environment) if _is_repository(shape) else value


def _is_repository(shape: Scalar | Object) -> bool:
    return isinstance(shape, Object) and isinstance(shape.type.kind, RepositoryName)
