"""``trainyard plan``: what a change that ParallelCluster allows does to nodes and data."""

from typing import Any

import pytest

from cdk_trainyard.cli.assemblies import Side
from cdk_trainyard.cli.contract.collect import Found
from cdk_trainyard.cli.plan.parallelclusters import plan_clusters
from cdk_trainyard.report.updates import Effect, PlanRow

QUEUES = ["Scheduling", "SlurmQueues[q]"]


def told(change: dict[str, Any], strategy: str) -> PlanRow:
    """Return the row of a change."""
    config = {"Scheduling": {"SlurmSettings": {"QueueUpdateStrategy": strategy}}} if strategy else {}
    answer = {"path": [], "old": "-", "new": "-", "check": "SUCCEEDED", "policy": "SUPPORTED", **change}
    (row,) = plan_clusters(side({"Before": 1}), side(config), lambda _: {"plans": [[answer]]})
    return row


def side(config: dict[str, Any]) -> Side:
    found = Found(stack="S", logical_id="C", name="c", version="3.16.1", kept=False, config=config)
    return Side(stacks={"S": {"Resources": {"C": {"Type": "Custom::PclusterCluster"}}}}, clusters=[found])


def storage(policy: str | None = None, at: str = "/s", **settings: Any) -> dict[str, Any]:
    given = {**settings, **({"DeletionPolicy": policy} if policy else {})}
    return {"Name": "s", "MountDir": at, "StorageType": "Efs", "EfsSettings": given}


STOP = {
    "check": "ACTION NEEDED",
    "policy": "SHARED_STORAGE_UPDATE_POLICY",
    "reason": "All login nodes must be stopped",
    "action": "Stop the login nodes",
}


@pytest.mark.parametrize(
    ("change", "strategy", "effect", "says"),
    [
        ({"key": "SharedStorage", "old": storage("Delete")}, "", Effect.LOST, "it is deleted with all that is in it"),
        ({"key": "SharedStorage", "old": storage()}, "", Effect.LOST, "it is deleted with all that is in it"),
        ({"key": "SharedStorage", "old": storage("Retain")}, "", Effect.FREE, "stays in the account, and in no stack"),
        ({"key": "SharedStorage", "old": storage("Snapshot")}, "", Effect.FREE, "it is deleted, and a last snapshot"),
        ({"key": "SharedStorage", "old": storage(FileSystemId="fs-1")}, "", Effect.FREE, ""),
        ({"key": "SharedStorage", "new": storage("Delete")}, "", Effect.FREE, ""),
        ({"key": "SharedStorage", "new": storage("Delete")}, "DRAIN", Effect.UNCERTAIN, "ParallelCluster allows it"),
        ({"key": "SharedStorage", "old": storage("Delete"), **STOP}, "", Effect.LOST, "it is deleted with all that is"),
        ({"key": "SharedStorage", "old": storage("Retain"), **STOP}, "", Effect.STOP, "stays in the account, and in"),
        ({"key": "SharedStorage", "new": storage(), **STOP}, "", Effect.STOP, "All login nodes must be stopped. Stop"),
        ({"key": "SharedStorage", "old": storage(at="/home"), **STOP}, "", Effect.REFUSED, "All login nodes must be"),
        (
            {"key": "DeletionPolicy", "path": ["SharedStorage[s]", "EfsSettings"], "old": "Retain", "new": "Delete"},
            "",
            Effect.FREE,
            "from now on it is deleted when it leaves the configuration",
        ),
        (
            {"key": "InstanceType", "path": QUEUES, "policy": "QUEUE_UPDATE_STRATEGY"},
            "DRAIN",
            Effect.DRAIN,
            "nodes that run take no new jobs, and are replaced when theirs have ended",
        ),
        (
            {"key": "InstanceType", "path": QUEUES, "policy": "QUEUE_UPDATE_STRATEGY"},
            "TERMINATE",
            Effect.DRAIN,
            "nodes that run end at once, and their jobs are cut off",
        ),
        ({"key": "SlurmQueues", "old": {"Name": "q"}}, "TERMINATE", Effect.DRAIN, "nodes that go end at once"),
        ({"key": "SlurmQueues", "new": {"Name": "q"}}, "TERMINATE", Effect.FREE, ""),
        ({"key": "MaxCount", "path": QUEUES, "old": 8, "new": 4}, "TERMINATE", Effect.DRAIN, "nodes that go end at"),
        ({"key": "MaxCount", "path": QUEUES, "old": 4, "new": 8}, "TERMINATE", Effect.FREE, ""),
        (
            {"key": "Count", "path": ["LoginNodes", "Pools[l]"], "old": 3, "new": 1},
            "",
            Effect.DRAIN,
            "2 login nodes end after the grace time, with the sessions there",
        ),
        (
            {"key": "DatabaseName", "path": ["Scheduling", "SlurmSettings", "Database"], "new": "jobs"},
            "",
            Effect.FREE,
            "accounting begins anew in this schema",
        ),
        ({"key": "RetentionInDays", "old": 180, "new": 30}, "", Effect.FREE, "events that are older than 30 days are"),
    ],
)
def test_what_an_allowed_change_does(change: dict[str, Any], strategy: str, effect: Effect, says: str) -> None:
    row = told(change, strategy)
    assert (row.effect, bool(row.remedy)) == (effect, bool(says))
    assert row.remedy.startswith(says)


def test_a_cluster_of_another_type_is_told_as_a_resource() -> None:
    """Neither that the one is lost, nor that the other is made."""
    other = {"Resources": {"C": {"Type": "AWS::SageMaker::Cluster"}}}
    ours, theirs = side({}), Side(stacks={"S": other}, clusters=[])
    assert [*plan_clusters(ours, theirs)] == [*plan_clusters(theirs, ours)] == []
