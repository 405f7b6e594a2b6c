"""What an update does to the groups of a HyperPod cluster, by their names.

Sources: Amazon SageMaker AI Developer Guide, "Scaling down a SageMaker HyperPod cluster" (UpdateCluster ends nodes
until a group has its count, and deletes groups; what is on their own disks goes); SageMaker API reference,
BatchDeleteClusterNodes (no Slurm controller can be removed); Developer Guide, "Updating SageMaker HyperPod cluster
configuration" (what of a group can change), "Customer managed AWS KMS key encryption for SageMaker HyperPod" ("you
can't change the KMS key specified in your configuration": a new group, and the old one deleted), "Updating a cluster
with new or updated lifecycle scripts" (UpdateCluster runs them on new nodes alone) and "Update the SageMaker HyperPod
platform software" (UpdateClusterSoftware makes root volumes anew and runs them on the whole group). All read
2026-11-28.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cdk_trainyard.report.nested import at
from cdk_trainyard.report.updates.effects import Effect, PlanRow
from cdk_trainyard.report.words import counted, joined

GROUPS = ("InstanceGroups", "RestrictedInstanceGroups")
"""The properties of ``AWS::SageMaker::Cluster`` that list groups."""

_DRAIN = "drain them in Slurm or Kubernetes first, and save what is on their own disks"
_CONTROLLER = "it is Slurm's controller, with the queue of jobs: leave the group its name and its node"
_SCRIPTS = (
    "nodes that run keep what they started with; 'trainyard update-image' ends their jobs and runs the scripts anew"
)
_ANEW = ", and makes the root volume of the controller anew, with Slurm's state: let the queue end, or save it, first"
_NO_OTHER_KEY = (
    "HyperPod changes no key of volumes: add a group of another name with the new key, drain this one, and remove it"
)
_SAID_TO_CHANGE = {
    "AutoPatchConfig", "InstanceCount", "KubernetesConfig", "LifeCycleConfig", "MinInstanceCount",
    "OnStartDeepHealthChecks", "ScheduledUpdateConfig",
}  # fmt: skip
_NOT_SAID = "no guide says what {} to nodes that run; "
_ASIDE = "a group of another name beside it is certain"
_LEAVE = "it is Slurm's controller: leave it as it is, or make a second cluster beside this one"

Group = Mapping[str, Any]


def plan_groups(where: str, before: Group, after: Group) -> Iterator[PlanRow]:
    """Yield what happens to every group that is added, removed or changed.

    Args:
        where: The cluster.
        before: Its properties before.
        after: Its properties after.
    """
    old, new = _groups(before), _groups(after)
    for name in sorted(old.keys() | new.keys()):
        if name not in old:
            yield PlanRow(where=where, what=f"group {name} is added", effect=Effect.FREE)
        elif name not in new:
            yield _ending(where, f"group {name} is removed", old[name], _count(old[name]))
        elif old[name] != new[name]:
            yield _changed(where, name, old[name], new[name])


def _changed(where: str, name: str, old: Group, new: Group) -> PlanRow:
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    one, other = _count(old), _count(new)
    known = one is not None and other is not None
    said = [f"{key} {one} -> {other}" if key == "InstanceCount" and known else key for key in keys]
    what = f"group {name}: {', '.join(said)}"
    if _keys(old) != _keys(new):
        return PlanRow(where=where, what=what, effect=Effect.REFUSED, remedy=_NO_OTHER_KEY)
    effect, stays = _staying(old, keys) if one != 0 else (Effect.FREE, "")
    if one is not None and other is not None and other < one:
        row = _ending(where, what, old, one - other)
        return replace(row, remedy="; ".join(filter(None, (row.remedy, stays)))) if other else row
    return PlanRow(where=where, what=what, effect=effect, remedy=stays)


def _staying(group: Group, keys: Sequence[str]) -> tuple[Effect, str]:
    """Return what other keys do to nodes that stay."""
    unsaid = [key for key in keys if key not in _SAID_TO_CHANGE]
    found = []
    if unsaid:
        does = f"another {joined(unsaid)} {'does' if len(unsaid) == 1 else 'do'}"
        found.append(f"{_NOT_SAID.format(does)}{_LEAVE if _is_controller(group) else _ASIDE}")
    if "LifeCycleConfig" in keys:
        found.append(f"{_SCRIPTS}{_ANEW}" if _is_controller(group) else _SCRIPTS)
    return Effect.UNCERTAIN if unsaid else Effect.FREE, "; ".join(found)


def _keys(group: Group) -> list[Any]:
    """Return the keys of a group's volumes."""
    volumes = group.get("InstanceStorageConfigs")
    each = [at(volume, "EbsVolumeConfig") for volume in volumes] if isinstance(volumes, list) else []
    return [(at(one, "RootVolume"), key) for one in each if (key := at(one, "VolumeKmsKeyId")) is not None]


def _ending(where: str, what: str, old: Group, nodes: int | None) -> PlanRow:
    """Return the row of nodes that end: how many, or nothing where only the deployment says."""
    if nodes == 0:
        return PlanRow(where=where, what=what, effect=Effect.FREE)
    ends = "its nodes end, with their jobs" if nodes is None else f"{counted(nodes, 'node')} {_ends(nodes)}"
    is_controller = _is_controller(old)
    return PlanRow(
        where=where,
        what=what,
        effect=Effect.LOST if is_controller else Effect.DRAIN,
        remedy=f"{ends}; {_CONTROLLER if is_controller else _DRAIN}",
    )


def _is_controller(group: Group) -> bool:
    return bool(at(group, "SlurmConfig", "NodeType") == "Controller")


def _ends(nodes: int) -> str:
    return "ends, with its jobs" if nodes == 1 else "end, with their jobs"


def _groups(properties: Group) -> dict[str, Group]:
    listed = [each for key in GROUPS if isinstance(properties.get(key), list) for each in properties[key]]
    return {
        group["InstanceGroupName"]: group
        for group in listed
        if isinstance(group, Mapping) and isinstance(group.get("InstanceGroupName"), str)
    }


def _count(group: Group) -> int | None:
    count = str(group.get("InstanceCount"))
    return int(count) if count.isdecimal() else None
