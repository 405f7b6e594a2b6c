"""How a resource type is tried: what is deployed, what the service's own API must say of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jmespath

from cdk_trainyard.local import LocalAws
from tests.support import every

Look = Callable[[LocalAws, str], Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One type, tried through create, GetAtt, update and delete.

    Attributes:
        type: Its name.
        look: What the service says of the resource with a physical id; falsy or an error when there is none.
        properties: Of the resource, whose logical id is ``Thing``.
        needs: Other resources of the stack.
        made: What ``look`` must say after the creation. Default - anything.
        change: Properties that change in place.
        changed: What ``look`` must say after the change.
        attributes: Names for ``Fn::GetAtt``; each must have a value.
        ignored: What the event must say is not emulated. Default - nothing.
        stays: Deleting leaves nothing to look for, or leaves it there.
    """

    type: str
    look: Look
    properties: dict[str, Any] = field(default_factory=dict)
    needs: dict[str, Any] = field(default_factory=dict)
    made: Any = None
    change: dict[str, Any] = field(default_factory=dict)
    changed: Any = None
    attributes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    stays: bool = False


def look(service: str, operation: str, path: str, /, **parameters: Any) -> Look:
    """Call an API with ``parameters``, in which ``"{}"`` is the physical id, and return what is at ``path``."""

    def filled(value: Any, physical_id: str) -> Any:
        if isinstance(value, str):
            return value.replace("{}", physical_id)
        if isinstance(value, list):
            return [filled(item, physical_id) for item in value]
        if isinstance(value, dict):
            return {key: filled(item, physical_id) for key, item in value.items()}
        return value

    def run(aws: LocalAws, physical_id: str) -> Any:
        answer = every(aws.client(service), operation, **filled(parameters, physical_id))
        return jmespath.search(path.replace("{}", physical_id), answer)

    return run
