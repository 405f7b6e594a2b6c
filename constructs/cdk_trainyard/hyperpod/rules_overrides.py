"""What is written over rendered properties: names that CloudFormation has, and no option says. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from functools import reduce
from typing import Any

from cdk_trainyard.data_files import load
from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.property_shapes import Shape, lacking, shape_problems
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.hyperpod.spec import HyperPodSpec
from cdk_trainyard.hyperpod.spec_groups import InstanceGroup
from cdk_trainyard.problems import Problem, option, shown, within
from cdk_trainyard.tokens import unresolved

_GROUPS = "InstanceGroups"
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SAID_OF_GROUPS = {
    "InstanceCount": "count",
    "InstanceGroupName": "name",
    "InstanceRequirements": "instance_types",
    "MinInstanceCount": "min_count",
    "InstanceStorageConfigs": "volumes",
    "LifeCycleConfig": "lifecycle",
    "CapacityRequirements": "capacity",
    "OnStartDeepHealthChecks": "deep_health_checks",
    "ScheduledUpdateConfig": "scheduled_update",
    "AutoPatchConfig": "auto_patch",
    "SlurmConfig": "role",
}
"""Properties of a group that an option of another name says as a whole; what lies below them, no option may say."""
_SAID_OF_CLUSTERS = {
    "NodeProvisioningMode": "provisioning",
    "Orchestrator": "slurm_config_strategy",
}
"""The same of the cluster."""


def override_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that an override of a group never writes what an option says, or the service."""
    overrides = group.spec.raw_overrides
    if overrides is None or unresolved(overrides):
        return
    shape = load("hyperpod", "properties")["properties"][_GROUPS]["items"]
    own = {"OverrideVpcConfig"} if group.spec.network or group.spec.security_groups else set()
    yield from within(("raw_overrides",), _problems(overrides, InstanceGroup, _SAID_OF_GROUPS, shape, own))
    for path in overrides:
        if path.rpartition(".")[2] in limits.READ_ONLY:
            yield Problem(("raw_overrides", path), "must not be overridden; the service writes it")


def cluster_override_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that overrides of the cluster leave the groups to the groups' own."""
    overrides, at = cluster.spec.raw_overrides, ("raw_overrides",)
    if overrides is None or unresolved(overrides):
        return
    shape = {"properties": load("hyperpod", "properties")["properties"]}
    own = {"VpcConfig", _GROUPS}
    yield from within(at, _problems(overrides, HyperPodSpec, _SAID_OF_CLUSTERS, shape, own))
    for path in overrides:
        if str(path).partition(".")[0] == _GROUPS:
            yield Problem(
                (*at, path), f"must not be overridden here; give it to the group, under its {option('raw_overrides')}"
            )


def _problems(
    overrides: Mapping[str, Any], spec: type, said: Mapping[str, str], shape: Shape, rendered: Collection[str]
) -> Iterator[Problem]:
    """Check that overrides are paths of properties, as ``SlurmConfig.PartitionNames``, which no option says.

    Args:
        overrides: Values by path.
        spec: What has the options.
        said: Properties that an option of another name says.
        shape: What CloudFormation takes.
        rendered: Properties that are rendered without an option of their own.
    """
    whole: dict[str, Any] = {}
    for path, value in overrides.items():
        if said_by := _option(str(path), said, spec):
            yield Problem((path,), f"must not be overridden: {shown(said_by)} says it", of_key=True)
        if not limits.PROPERTY_PATH.fullmatch(str(path)):
            example = "names of properties with a dot between two, as AutoPatchConfig.DrainPolicy"
            yield Problem((path,), f"must be {example}, got {shown(path)} as a name")
            continue
        names = str(path).split(".")
        nested = reduce(lambda below, name: {name: below}, reversed(names), value)
        found = list(shape_problems(nested, shape))
        for problem in found:
            at = problem.at
            name = f"{shown(at[-1])} " if problem.of_key and len(at) == len(names) > 1 else ""
            yield replace(problem, at=(path, *at[len(names) :]), text=f"{name}{problem.text}")
        misspelt = any(problem.of_key for problem in found)
        if not misspelt and names[0] not in rendered and _option(names[0], said, spec) is None:
            _merge(whole, nested)
    for name, value in whole.items():
        path = next(path for path in overrides if str(path).partition(".")[0] == name)
        for at in lacking(value, shape["properties"].get(name, {}), (name,)):
            yield Problem((path,), f"must be given with {shown('.'.join(map(str, at)))}, which CloudFormation requires")


def _option(path: str, said: Mapping[str, str], spec: type) -> str | None:
    """Return the option that says a property: that of its name, or of another."""
    own = _CAPITAL.sub("_", path).lower()
    return said.get(path, own if own in {each.name for each in fields(spec)} else None)


def _merge(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add what one override says to what those before it said, as CloudFormation's template will have them."""
    for name, value in part.items():
        if not isinstance(value, Mapping):
            whole[name] = value
            continue
        if not isinstance(whole.get(name), dict):
            whole[name] = {}
        _merge(whole[name], value)
