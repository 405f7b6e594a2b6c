"""What ParallelCluster does with a changed configuration, by its own update policies."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cdk_trainyard.cli.assemblies import Side
from cdk_trainyard.cli.contract.ask import ask
from cdk_trainyard.cli.contract.collect import Found
from cdk_trainyard.cli.plan.configurations import is_none, meanings, strategy_of
from cdk_trainyard.report.nested import at
from cdk_trainyard.report.replacement import resources
from cdk_trainyard.report.updates import Effect, PlanRow

Question = Callable[[dict[str, Any]], dict[str, Any]]

_BESIDE = "define a second ParallelCluster with another id and name, move the users, then remove the first"
_STOPPABLE = (
    "COMPUTE_FLEET_STOP",
    "COMPUTE_FLEET_STOP_ON_REMOVE",
    "COMPUTE_AND_LOGIN_NODES_STOP",
    "LOGIN_NODES_POOLS_UPDATE_POLICY",
    "LOGIN_NODES_POOL_STOP",
    "LOGIN_NODES_STOP",
    "MANAGED_PLACEMENT_GROUP",
    "QUEUE_UPDATE_STRATEGY",
    "RESIZE_UPDATE_STRATEGY_ON_REMOVE",
    "SHARED_STORAGE_UPDATE_POLICY",
)
_HOME = ("home", "/home")


def plan_clusters(old: Side, new: Side, question: Question = ask) -> Iterator[PlanRow]:
    """Yield what happens to every ParallelCluster.

    Args:
        old: The app before.
        new: The app after.
        question: Asks ParallelCluster's own environment.
    """
    before, after = _found(old), _found(new)
    asked = _reconfigured(before, after)
    requests = [{"name": before[key].name, "old": before[key].config, "new": after[key].config} for key in asked]
    answers = dict(zip(asked, question({"plans": requests})["plans"] if requests else [], strict=True))
    for key in (key for key in before if key in after):
        yield from _changed(before[key], after[key], answers.get(key, []))
    for key in before.keys() - after.keys() - _ids(new):
        yield _removed(before[key])
    for key in after.keys() - before.keys() - _ids(old):
        yield from plan_added(after[key], {one.name for one in old.clusters})


def uncompared(old: Side, new: Side, why: str) -> Iterator[PlanRow]:
    """Yield what can be said of every ParallelCluster without ParallelCluster's own environment.

    Args:
        old: The app before.
        new: The app after.
        why: Why it cannot be asked.
    """
    yield from plan_clusters(old, new, lambda requests: {"plans": [[] for _ in requests["plans"]]})
    for stack, name in _reconfigured(_found(old), _found(new)):
        what = "the configuration of the cluster changes, and was not compared"
        yield PlanRow(where=f"{stack}/{name}", what=what, effect=Effect.UNKNOWN, remedy=why)


def _found(side: Side) -> dict[tuple[str, str], Found]:
    return {(one.stack, one.logical_id): one for one in side.clusters}


def _ids(side: Side) -> set[tuple[str, str]]:
    """Return all resources: one that is of another type on the other side is told as a resource."""
    return {(stack, name) for stack, template in side.stacks.items() for name in resources(template)}


def _reconfigured(
    before: Mapping[tuple[str, str], Found], after: Mapping[tuple[str, str], Found]
) -> list[tuple[str, str]]:
    return [key for key, one in before.items() if key in after and one.config != after[key].config]


def _changed(before: Found, after: Found, changes: list[Mapping[str, Any]]) -> Iterator[PlanRow]:
    where = f"{before.stack}/{before.logical_id}"
    refused = (
        ("ClusterName", before.name, after.name, "the provider renames no cluster"),
        (
            "ParallelCluster",
            before.version,
            after.version,
            "CloudFormation changes no service token, and a version updates only its own",
        ),
    )
    for what, old, new, why in refused:
        if old != new:
            yield PlanRow(where=where, what=f"{what} {old} -> {new}", effect=Effect.REFUSED, remedy=f"{why}; {_BESIDE}")
    strategy = strategy_of(after.config)
    yield from (_row(where, change, strategy) for change in changes)


def _row(where: str, change: Mapping[str, Any], strategy: str) -> PlanRow:
    name = ".".join([*change["path"], change["key"]])
    effect, reason = _checked(change)
    found = [*meanings(change, strategy)] if effect is not Effect.REFUSED else []
    return PlanRow(
        where=where,
        what=f"{name} {_text(change['old'])} -> {_text(change['new'])}",
        effect=max([effect, *(each for each, _ in found)]),
        remedy="; ".join(text for text in (*(text for _, text in found), reason) if text),
    )


def _checked(change: Mapping[str, Any]) -> tuple[Effect, str]:
    """Return what ParallelCluster's policy says of a change while everything runs."""
    if change["check"] == "SUCCEEDED":
        return Effect.FREE, ""
    is_stoppable = change["check"] == "ACTION NEEDED" and change["policy"] in _STOPPABLE and not _is_home(change)
    reason = f"{_sentence(change['reason'])} {_sentence(change['action'])}".strip()
    return Effect.STOP if is_stoppable else Effect.REFUSED, reason


def _is_home(change: Mapping[str, Any]) -> bool:
    return any(at(change[side], "MountDir") in _HOME for side in ("old", "new"))


def _removed(one: Found) -> PlanRow:
    return PlanRow(
        where=f"{one.stack}/{one.logical_id}",
        what=f"cluster {one.name} is removed",
        effect=Effect.FREE if one.kept else Effect.LOST,
        remedy="stays in the account, and in no stack" if one.kept else "its nodes, disks and jobs go",
    )


def plan_added(one: Found, names: set[str]) -> Iterator[PlanRow]:
    """Yield what happens to a cluster that was not there.

    Args:
        one: The cluster.
        names: The names of those that were there.
    """
    where = f"{one.stack}/{one.logical_id}"
    if one.name in names:
        yield PlanRow(
            where=where,
            what=f"a second cluster {one.name} is added",
            effect=Effect.LOST,
            remedy="it cannot be made, and clearing up CloudFormation has the first deleted by that name; give another",
        )
    else:
        yield PlanRow(where=where, what=f"cluster {one.name} is added", effect=Effect.FREE)


def _text(value: Any) -> str:
    return "none" if is_none(value) else str(value)


def _sentence(text: Any) -> str:
    return "" if is_none(text) or not text else f"{str(text).rstrip('.')}."
