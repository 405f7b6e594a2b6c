"""From the operation of an API to the actions of IAM that it needs, and the types of resource that each is about."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from moto.core.utils import get_service_model

from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.errors import ApiError

_PREFIXES = {"monitoring": "cloudwatch", "tagging": "tag"}
"""IAM's prefix of services that sign with another name."""


@cache
def _data(name: str) -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return read


def prefix_of(service: str) -> str:
    """Return IAM's prefix of a service: ``elasticloadbalancing``."""
    signing_name = str(get_service_model(service).signing_name)
    return _PREFIXES.get(signing_name, signing_name)


def _model(call: Call) -> Any:
    return get_service_model(call.service).operation_model(call.operation)


def path_of(call: Call) -> str:
    """Return the path of a call of API Gateway, whose actions are methods of HTTP, and whose resources are paths.

    Source: API Gateway Developer Guide, "Control access to a REST API with IAM permissions"; Service Authorization
    Reference, Amazon API Gateway Management.
    """
    model = _model(call)
    path = str(model.http["requestUri"]).partition("?")[0].removeprefix("/v2")
    for name, member in model.input_shape.members.items() if model.input_shape else ():
        if member.serialization.get("location") == "uri":
            value = str(call.get(name))
            written = quote(value, safe="") if value.startswith("arn:") else value
            path = path.replace(f"{{{member.serialization['name']}}}", written)
    return path


def actions_of(call: Call) -> list[str]:
    """Return the actions that a call needs, each on resources of its types.

    Raises:
        ApiError: Neither the authorization reference nor the table of operations knows one.
    """
    prefix = prefix_of(call.service)
    named = f"{prefix}:{_model(call).http['method'] if prefix == 'apigateway' else call.operation}"
    table = _data("operations")
    actions = [str(action) for action in table["operations"].get(named, [named])]
    if call.get("VersionId"):
        actions = [str(table["with_version"].get(action, action)) for action in actions]
    for action in actions:
        types_of(action)
    return actions


def types_of(action: str) -> dict[str, bool]:
    """Return the types of resource that an action is about, and whether it needs one of each.

    Raises:
        ApiError: The authorization reference, as far as it is kept here, does not know the action.
    """
    service, _, name = action.partition(":")
    known = _data("actions")["services"].get(service, {"actions": {}})["actions"]
    if name not in known:
        raise ApiError("NotImplemented", f"local AWS: which permission {action} needs is not known to it")
    return {kind.removesuffix("*"): kind.endswith("*") for kind in known[name]}


def has_key(action: str, key: str) -> bool:
    """Return whether requests of an action have a condition key that not all of its service have."""
    return action in _data("actions")["conditions"][key]


def arn_of(service: str, kind: str) -> str:
    """Return the form of the ARN of a type of resource."""
    return str(_data("actions")["services"][service]["resources"][kind])
