"""What is written over rendered properties: names that CloudFormation has, and no option says. Pure."""

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.problems import At, Problem, option, shown, within
from cdk_trainyard.tokens import unresolved

_GROUPS = "InstanceGroups"
_SAID_OF_GROUPS = {
    "InstanceCount": "count",
    "InstanceGroupName": "name",
    "InstanceType": "instance_type",
    "InstanceRequirements": "instance_types",
    "MinInstanceCount": "min_count",
    "InstanceStorageConfigs": "volumes",
    "LifeCycleConfig": "lifecycle",
    "ThreadsPerCore": "threads_per_core",
    "CapacityRequirements": "capacity",
    "TrainingPlanArn": "training_plan_arn",
    "OnStartDeepHealthChecks": "deep_health_checks",
    "ImageId": "image_id",
    "ScheduledUpdateConfig": "scheduled_update",
    "AutoPatchConfig": "auto_patch",
    "SlurmConfig": "role",
}
"""Properties of a group that an option says as a whole; what lies below them, no option may say."""
_SAID_OF_CLUSTERS = {
    "ClusterName": "cluster_name",
    "NodeRecovery": "node_recovery",
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
    yield from within(("raw_overrides",), _problems(overrides, _SAID_OF_GROUPS, properties))
    for path in overrides:
        if path.rpartition(".")[2] in limits.READ_ONLY:
            yield Problem(("raw_overrides", path), "must not be overridden; the service writes it")


def cluster_override_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that overrides of the cluster leave the groups to the groups' own."""
    overrides, at = cluster.spec.raw_overrides, ("raw_overrides",)
    if overrides is None or unresolved(overrides):
        return
    yield from within(at, _problems(overrides, _SAID_OF_CLUSTERS, load("hyperpod", "properties")["properties"]))
    for path in overrides:
        if str(path).partition(".")[0] == _GROUPS:
            yield Problem(
                (*at, path), f"must not be overridden here; give it to the group, under its {option('raw_overrides')}"
            )


def _problems(overrides: Mapping[str, Any], said: Mapping[str, str], properties: Any) -> Iterator[Problem]:
    """Check that overrides are paths of properties, as ``SlurmConfig.PartitionNames``, which no option says."""
    for path, value in overrides.items():
        if path in said:
            yield Problem((path,), f"must not be overridden: {shown(said[path])} says it", of_key=True)
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
