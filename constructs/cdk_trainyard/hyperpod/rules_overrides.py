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
from cdk_trainyard.hyperpod.spec_groups import PROPERTIES, InstanceGroup
from cdk_trainyard.options.unknown_keys import in_snake_case
from cdk_trainyard.problems import Problem, option, shown, within
from cdk_trainyard.tokens import unresolved

_GROUPS = "InstanceGroups"
_OF_EKS = "it is for clusters with Amazon EKS, and this one has Slurm"
_SAID_OF_GROUPS = {
    **{name: f"use {shown(ours)}" for name, ours in PROPERTIES.items()},
    "InstanceGroupName": "the group's name says it, which in a file is its key",
    "InstanceStorageConfigs": "use 'volumes'; file systems are mounted beside",
    "SlurmConfig.PartitionNames": "use 'partition'",
    "ExecutionRole": "it is the role that the cluster is given, or makes",
    **dict.fromkeys(("ImageReleaseVersion", "KubernetesConfig"), _OF_EKS),
}
"""Properties of a group that are not to be overridden, with all that is below them: why, or what to use instead. Of
``ImageReleaseVersion`` CloudFormation's schema says so (``CfnCluster`` of aws-cdk-lib 2.275.0)."""
_SAID_OF_CLUSTERS = {
    "NodeProvisioningMode": "use 'provisioning'",
    "Orchestrator": "use 'slurm_config_strategy'",
    "Orchestrator.Slurm.AccountingDatabase": "use 'accounting'",
    "ClusterArn": "the service writes it",
    "Tags": "tags of the whole deployment stand there",
    **dict.fromkeys(("AutoScaling", "ClusterRole", "Orchestrator.Eks"), _OF_EKS),
}
"""The same of the cluster. Karpenter scales, with ``ClusterRole``, nodes of Kubernetes (botocore 1.44.5,
``CreateClusterRequest``)."""
_TIERS = "TieredStorageConfig"
"""Checkpoints in tiers, whose ``Mode`` may be off; on, they need a cluster with Amazon EKS (SageMaker developer guide,
"Set up managed tiered checkpointing", read 2026-11)."""
_EXAMPLES = {InstanceGroup: "OverrideVpcConfig.Subnets", HyperPodSpec: "VpcConfig.SecurityGroupIds"}
_OF_THE_NETWORK = {"VpcConfig": "'network' says its subnets", "VpcConfig.SecurityGroupIds": None}
"""Where the cluster has a network; a security group more does no harm."""


def group_shape() -> Mapping[str, Any]:
    """Return what an instance group may have in CloudFormation: names of properties, and what is in them."""
    shape: Mapping[str, Any] = load("hyperpod", "properties")["properties"][_GROUPS]["items"]
    return shape


def override_problems(group: ResolvedGroup) -> Iterator[Problem]:
    """Check that an override of a group never writes what an option says, or the service."""
    overrides, at = group.spec.raw_overrides, ("raw_overrides",)
    if overrides is None or unresolved(overrides):
        return
    shape = group_shape()
    own = {"OverrideVpcConfig"} if group.spec.network or group.spec.security_groups else set()
    yield from within(at, _problems(overrides, InstanceGroup, _SAID_OF_GROUPS, shape, own))


def cluster_override_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that overrides of the cluster leave the groups to the groups' own."""
    overrides, at = cluster.spec.raw_overrides, ("raw_overrides",)
    if overrides is None or unresolved(overrides):
        return
    shape = {"properties": load("hyperpod", "properties")["properties"]}
    said: dict[str, str | None] = {**_SAID_OF_CLUSTERS, **(_OF_THE_NETWORK if cluster.facts.subnet else {})}
    of_groups = {path: text for path in overrides if (text := _of_groups(str(path), shape["properties"]))}
    yield from within(at, (Problem((path,), text, of_key=True) for path, text in of_groups.items()))
    overrides = {path: value for path, value in overrides.items() if path not in of_groups}
    yield from within(at, _problems(overrides, HyperPodSpec, said, shape, {"VpcConfig"}))
    for path, value in overrides.items():
        if (path, value) == (f"{_TIERS}.Mode", "Enable") or (path == _TIERS and _mode(value) == "Enable"):
            yield Problem((*at, path), f"must not be enabled: {_OF_EKS}")


def _of_groups(path: str, known: Mapping[str, Any]) -> str | None:
    """Return what is wrong with an override of the cluster that is one of its groups, or of a property of theirs."""
    names = _meant(path).split(".")
    if names[0] != _GROUPS and (names[0] in known or names[0] not in known[_GROUPS]["items"]["properties"]):
        return None
    below = names[2:] if names[0] == _GROUPS else names
    why = _forbidden(".".join(below), _SAID_OF_GROUPS, InstanceGroup)
    remedy = f"for a group, {why}" if why else f"give it to the group, under its {option('raw_overrides')}"
    return f"must not be overridden here; {remedy}"


def _mode(value: Any) -> Any:
    return value.get("Mode") if isinstance(value, Mapping) else None


def _problems(
    overrides: Mapping[str, Any], spec: type, said: Mapping[str, str | None], shape: Shape, rendered: Collection[str]
) -> Iterator[Problem]:
    """Check that overrides are paths of properties, which no option says.

    Args:
        overrides: Values by path.
        spec: What has the options.
        said: Properties that are not to be overridden, and why.
        shape: What CloudFormation takes.
        rendered: Properties that are rendered without an option of their own.
    """
    whole: dict[str, Any] = {}
    for path, value in overrides.items():
        if not limits.PROPERTY_PATH.fullmatch(str(path)):
            yield _form_problem(str(path), spec, said, shape)
            continue
        names = str(path).split(".")
        nested = reduce(lambda below, name: {name: below}, reversed(names), value)
        found = list(shape_problems(nested, shape))
        misspelt = any(problem.of_key for problem in found)
        if not misspelt and (why := _forbidden(path, said, spec)):
            yield Problem((path,), f"must not be overridden: {why}", of_key=True)
            continue
        for problem in found:
            at = problem.at
            name = f"has {shown(at[-1])}, which " if problem.of_key and len(at) < len(names) else ""
            yield replace(problem, at=(path, *at[len(names) :]), text=f"{name}{problem.text}")
        if not misspelt and names[0] not in rendered:
            _merge(whole, nested)
    for name, value in whole.items():
        path = next(path for path in overrides if str(path).partition(".")[0] == name)
        for at in lacking(value, shape["properties"].get(name, {}), (name,)):
            yield Problem((path,), f"must be given with {shown('.'.join(map(str, at)))}, which CloudFormation requires")


def _form_problem(path: str, spec: type, said: Mapping[str, str | None], shape: Shape) -> Problem:
    """Return what is wrong with a path that is none: CloudFormation's names begin with a capital, options' do not."""
    meant = _meant(path)
    if why := _forbidden(meant, said, spec):
        return Problem((path,), f"must not be overridden: {why}", of_key=True)
    names = f"names of properties with a dot between two, as {_EXAMPLES[spec]}, each of which begins with a capital"
    known = limits.PROPERTY_PATH.fullmatch(meant) and meant.partition(".")[0] in shape["properties"]
    hint = f"; did you mean {shown(meant)}?" if known else ""
    return Problem((path,), f"must be {names}, got {shown(path)} as a name{hint}", of_key=True)


def _meant(path: str) -> str:
    """Return a path of options as CloudFormation's names."""
    return re.sub(r"(?:^|_|(?<=\.))([a-z])", lambda found: found[1].upper(), path)


def _forbidden(path: str, said: Mapping[str, str | None], spec: type) -> str | None:
    """Return why a property is not to be overridden, or the option to use, which may say what is around it.

    Args:
        path: The property.
        said: Properties with such reasons.
        spec: What has the options; one may have the property's own name.
    """
    names = path.split(".")
    if names[-1] in limits.READ_ONLY:
        return "the service writes it"
    around = (".".join(names[:count]) for count in range(len(names), 0, -1))
    if (nearest := next((each for each in around if each in said), None)) is not None:
        return said[nearest]
    own = in_snake_case(names[0])
    return f"use {shown(own)}" if own in {each.name for each in fields(spec)} else None


def _merge(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add what one override says to what those before it said, as CloudFormation's template will have them."""
    for name, value in part.items():
        if not isinstance(value, Mapping):
            whole[name] = value
            continue
        if not isinstance(whole.get(name), dict):
            whole[name] = {}
        _merge(whole[name], value)
