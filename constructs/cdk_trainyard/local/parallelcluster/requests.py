"""What the provider's function answers: clusters created, updated and deleted, or refused as ParallelCluster does.

Order, words and the treatment of physical ids are those of the function's code in
``cloudformation/custom_resource/cluster.yaml`` of ParallelCluster.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from cdk_trainyard.local.custom_resources.request import REFUSED, Answer, Kind, Request
from cdk_trainyard.local.errors import ResourceFailed
from cdk_trainyard.local.parallelcluster.cluster import Cluster
from cdk_trainyard.local.parallelcluster.places import place_problems
from cdk_trainyard.local.parallelcluster.provider import version_of
from cdk_trainyard.local.parallelcluster.schema import schema_problems
from cdk_trainyard.local.parallelcluster.updates import update_problems

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]{0,59}")
_POLICIES = ("Retain", "Delete")
_OWN = frozenset({"ServiceToken", "DeletionPolicy"})
_ARGUMENTS = ("ClusterName", "ClusterConfiguration", "Region", "SuppressValidators", "ValidationFailureLevel")
Config = Mapping[str, Any]


class _Refused(Exception):  # noqa: N818  an answer, not an error
    """ParallelCluster does not do it."""


def answer(request: Request) -> Answer:
    """Do what a request asks of the provider.

    Raises:
        ResourceFailed: ParallelCluster refuses.
    """
    try:
        return _ANSWERS[request.kind](request)
    except (_Refused, ResourceFailed) as refusal:
        # a creation that fails has an id of its own; the deletion that follows goes by the name of the cluster
        where = request.where
        made_up = f"{where.stack_name}_{where.logical_id}_{uuid4().hex[:8].upper()}"
        raise ResourceFailed(f"{REFUSED}{refusal}", request.physical_id or made_up) from refusal


def _create(request: Request) -> Answer:
    version, cluster, config = _asked(request)
    _check(request, config)
    if cluster.stack is not None:
        raise _refusal(f"Bad Request: Cluster {cluster.name} already exists.")
    cluster.create(config, version)
    return _described(cluster)


def _update(request: Request) -> Answer:
    if request.physical_id != request.properties.get("ClusterName"):
        raise _Refused("Cannot update the ClusterName in the properties.")
    version, cluster, config = _asked(request)
    made_by = cluster.version
    if made_by is None:
        raise _refusal(
            f"Cluster '{cluster.name}' does not exist or belongs to an incompatible ParallelCluster major version."
        )
    if made_by != version:
        raise _refusal(
            f"Bad Request: the update can be performed only with the same ParallelCluster version ({made_by}) used to "
            "create the cluster."
        )
    if config != cluster.config:  # "No changes found" is no failure
        _check(request, config)
        problems = update_problems(cluster.config, config)
        if problems:
            raise _refusal("Update failure", update_validation_errors=[{"message": text} for text in problems])
        cluster.update(config, version)
    return _described(cluster)


def _delete(request: Request) -> Answer:
    name = request.properties.get("ClusterName")
    if not name or _policy(request) == "Retain":
        return Answer(physical_id=name or "")
    cluster = Cluster(request, name)
    if cluster.version is not None:
        cluster.delete()
    return Answer(physical_id=name)


_ANSWERS: Mapping[Kind, Callable[[Request], Answer]] = {"Create": _create, "Update": _update, "Delete": _delete}


def _asked(request: Request) -> tuple[str, Cluster, Config]:
    """Return version, cluster and configuration of a creation or an update."""
    version, properties = version_of(request), request.properties
    _policy(request)
    if "ClusterName" not in properties:
        raise _Refused("Couldn't find a ClusterName in the properties.")
    operation = f"{request.kind.lower()}_cluster()"
    for name in sorted(set(properties) - _OWN - set(_ARGUMENTS)):
        argument = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        raise _Refused(f"{operation} got an unexpected keyword argument '{argument}'")
    config = properties.get("ClusterConfiguration")
    if not isinstance(config, Mapping):
        raise _refusal("Bad Request: configuration is required and cannot be empty")
    return version, Cluster(request, properties["ClusterName"]), _tagged(request, config)


def _policy(request: Request) -> str:
    found = request.properties.get("DeletionPolicy", "Delete")
    if found not in _POLICIES:
        raise _Refused('DeletionPolicy must be one of ["Retain", "Delete"].')
    return str(found)


def _check(request: Request, config: Config) -> None:
    problems = [("ConfigSchemaValidator", text) for text in schema_problems(config)]
    name = request.properties["ClusterName"]
    if not _NAME.fullmatch(name):
        text = f"The cluster name {name} must begin with a letter and have at most 60 letters, digits and hyphens."
        problems.append(("ClusterNameValidator", text))
    if not problems:  # what is no configuration cannot be looked into
        problems = [("ExistenceValidator", text) for text in place_problems(request, config)]
    if problems:
        errors = [{"level": "ERROR", "type": kind, "message": text} for kind, text in problems]
        raise _refusal("Invalid cluster configuration.", configuration_validation_errors=errors)


def _tagged(request: Request, config: Config) -> Config:
    """Return a configuration with the tags of the stack, where it has none of that key."""
    own = config.get("Tags") or []
    if not isinstance(own, list):
        return config
    keys = {tag.get("Key") for tag in own if isinstance(tag, Mapping)}
    stack = request.client("cloudformation").describe_stacks(StackName=request.where.stack_id)["Stacks"][0]
    inherited = [tag for tag in stack.get("Tags", ()) if tag["Key"] not in keys]
    return {**config, "Tags": [*inherited, *own]} if own or inherited else config


def _described(cluster: Cluster) -> Answer:
    return Answer(physical_id=cluster.name, data={"validationMessages": "[]", **cluster.describe()})


def _refusal(message: str, **details: Sequence[Mapping[str, str]]) -> _Refused:
    return _Refused(json.dumps({"message": message, **details}))
