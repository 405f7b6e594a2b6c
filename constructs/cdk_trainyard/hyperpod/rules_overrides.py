"""What is written over rendered properties: names that CloudFormation has, and no option says. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import reduce
from typing import Any

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.hyperpod.spec import HyperPodSpec
from cdk_trainyard.hyperpod.spec_groups import InstanceGroup
from cdk_trainyard.problems import At, Problem, option, shown, within
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
    properties = load("hyperpod", "properties")["properties"][_GROUPS]
    yield from within(("raw_overrides",), _problems(overrides, InstanceGroup, _SAID_OF_GROUPS, properties))
    for path in overrides:
        if path.rpartition(".")[2] in limits.READ_ONLY:
            yield Problem(("raw_overrides", path), "must not be overridden; the service writes it")


def cluster_override_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that overrides of the cluster leave the groups to the groups' own."""
    overrides, at = cluster.spec.raw_overrides, ("raw_overrides",)
    if overrides is None or unresolved(overrides):
        return
    properties = load("hyperpod", "properties")["properties"]
    yield from within(at, _problems(overrides, HyperPodSpec, _SAID_OF_CLUSTERS, properties))
    for path in overrides:
        if str(path).partition(".")[0] == _GROUPS:
            yield Problem(
                (*at, path), f"must not be overridden here; give it to the group, under its {option('raw_overrides')}"
            )


def _problems(overrides: Mapping[str, Any], spec: type, said: Mapping[str, str], properties: Any) -> Iterator[Problem]:
    """Check that overrides are paths of properties, as ``SlurmConfig.PartitionNames``, which no option says."""
    for path, value in overrides.items():
        if said_by := _option(str(path), said, spec):
            yield Problem((path,), f"must not be overridden: {shown(said_by)} says it", of_key=True)
        if not limits.PROPERTY_PATH.fullmatch(str(path)):
            example = "names of properties with a dot between two, as AutoPatchConfig.DrainPolicy"
            yield Problem((path,), f"must be {example}, got {shown(path)} as a name")
            continue
        names = str(path).split(".")
        nested = reduce(lambda below, name: {name: below}, reversed(names), value)
        for at, known in _unknown(nested, properties):
            name = "" if at[-1] in {path, *at[len(names) :]} else f"{shown(at[-1])} "
            text = f"{name}is no property of CloudFormation there{did_you_mean(str(at[-1]), known)}"
            yield Problem((path, *at[len(names) :]), text, of_key=True)


def _option(path: str, said: Mapping[str, str], spec: type) -> str | None:
    """Return the option that says a property: that of its name, or of another."""
    own = _CAPITAL.sub("_", path).lower()
    return said.get(path, own if own in {each.name for each in fields(spec)} else None)


def _unknown(value: Any, properties: Any, at: At = ()) -> Iterator[tuple[At, Mapping[str, Any]]]:
    """Yield where names stand that the properties do not have, and those that there are; null is anything."""
    if properties is None or unresolved(value):
        return
    if isinstance(value, list | tuple):
        value = dict(enumerate(value))
    for name, below in value.items() if isinstance(value, Mapping) else ():
        if str(name).isdecimal():
            yield from _unknown(below, properties, (*at, name))
        elif name in properties:
            yield from _unknown(below, properties[name], (*at, name))
        elif name != "Ref" and not name.startswith("Fn::"):
            yield (*at, name), properties
