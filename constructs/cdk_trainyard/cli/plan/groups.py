"""What an update does to the groups of a HyperPod cluster, by their names.

Sources: Amazon SageMaker AI Developer Guide, "Scaling down a SageMaker HyperPod cluster" (UpdateCluster ends nodes
until a group has its count, and deletes groups; what is on their own disks goes); SageMaker API reference,
BatchDeleteClusterNodes (no Slurm controller can be removed), both read 2026-11-28.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from cdk_trainyard.cli.plan.rows import Effect, PlanRow
from cdk_trainyard.report.words import counted

GROUPS = ("InstanceGroups", "RestrictedInstanceGroups")
"""The properties of ``AWS::SageMaker::Cluster`` that list groups."""

_DRAIN = "drain them in Slurm or Kubernetes first, and save what is on their own disks"
_CONTROLLER = "it is Slurm's controller, with the queue of jobs: leave the group its name and its node"
_TYPE = "what becomes of its nodes is not certain; a group of another name beside it is"

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
    if one is not None and other is not None and other < one:
        return _ending(where, what, old, one - other)
    is_other = {"InstanceType", "InstanceRequirements"} & {*keys} and one != 0
    return PlanRow(where=where, what=what, effect=Effect.FREE, remedy=_TYPE if is_other else "")


def _ending(where: str, what: str, old: Group, nodes: int | None) -> PlanRow:
    """Return the row of nodes that end: how many, or nothing where only the deployment says."""
    if nodes == 0:
        return PlanRow(where=where, what=what, effect=Effect.FREE)
    ends = "its nodes end, with their jobs" if nodes is None else f"{counted(nodes, 'node')} {_ends(nodes)}"
    slurm = old.get("SlurmConfig")
    is_controller = isinstance(slurm, Mapping) and slurm.get("NodeType") == "Controller"
    return PlanRow(
        where=where,
        what=what,
        effect=Effect.LOST if is_controller else Effect.DRAIN,
        remedy=f"{ends}; {_CONTROLLER if is_controller else _DRAIN}",
    )


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
