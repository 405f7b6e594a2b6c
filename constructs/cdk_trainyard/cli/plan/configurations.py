"""What a change that ParallelCluster allows does to nodes and data: its update policies say only whether it is allowed.

Sources: AWS ParallelCluster User Guide, "Amazon EBS", "Amazon Elastic File System" and "Amazon FSx for Lustre" of
"Working with shared storage" (managed storage that is removed or renamed is deleted, unless its DeletionPolicy keeps
it), "Scheduling section", QueueUpdateStrategy (DRAIN and TERMINATE), and "LoginNodes section", GracetimePeriod;
aws-parallelcluster 3.16.1, ``pcluster/config/update_policy.py``. Read 2026-11-28.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.report.nested import at
from cdk_trainyard.report.updates import Effect
from cdk_trainyard.report.updates.meaning import Meaning
from cdk_trainyard.report.words import counted

Change = Mapping[str, Any]
Strategy = str
"""``QueueUpdateStrategy`` of the configuration after the change."""

_EXTERNAL: Final = ("VolumeId", "FileSystemId", "FileCacheId")
_DELETED: Final = (
    "it is deleted with all that is in it: copy first what is to stay, or deploy it with 'removal_policy: RETAIN' first"
)
_BECOMES: Final = {
    "Delete": (Effect.LOST, _DELETED),
    "Retain": (Effect.FREE, "stays in the account, and in no stack"),
    "Snapshot": (Effect.FREE, "it is deleted, and a last snapshot stays"),
}
_FROM_NOW_ON: Final = {
    "Delete": "from now on it is deleted when it leaves the configuration, or the cluster is deleted",
    "Retain": "from now on it stays in the account when it leaves the configuration, or the cluster is deleted",
    "Snapshot": "from now on a last snapshot stays when it leaves the configuration, or the cluster is deleted",
}
_BY_STRATEGY: Final = {
    "DRAIN": "nodes that run take no new jobs, and are replaced when theirs have ended",
    "TERMINATE": "nodes that run end at once, and their jobs are cut off: let these end first",
}
_CUT_OFF: Final = "nodes that go end at once, and jobs on them are cut off: let these end first"
_MAYBE_MOUNTED: Final = (
    "ParallelCluster allows it with this update_strategy; what nodes that run do is not certain: stop the compute "
    "fleet first"
)
_OTHER_RECORDS: Final = "accounting begins anew in this schema: the records and accounts of the former stay there"
_REPLACES_NODES: Final = {"MANAGED_FSX", "MANAGED_PLACEMENT_GROUP", "QUEUE_UPDATE_STRATEGY"}


def is_none(value: Any) -> bool:
    """Return whether ParallelCluster means that there is nothing.

    Args:
        value: A value of a change.
    """
    return value in (None, "-")


def meanings(change: Change, strategy: Strategy) -> Iterator[Meaning]:
    """Yield what an allowed change does.

    Args:
        change: The change, as ParallelCluster names it.
        strategy: How queues are updated after it.
    """
    found = (rule(change, strategy) for rule in _RULES)
    yield from (each for each in found if each)


def _managed(change: Change) -> Mapping[str, Any] | None:
    """Return the settings of shared storage that ParallelCluster makes and that is added or removed as a whole."""
    storage = change["new"] if is_none(change["old"]) else change["old"]
    if change["key"] != "SharedStorage" or not isinstance(storage, Mapping):
        return None
    settings = storage.get(f"{storage.get('StorageType')}Settings") or {}
    return None if any(key in settings for key in _EXTERNAL) else settings


def _storage_removed(change: Change, _: Strategy) -> Meaning | None:
    settings = _managed(change)
    if settings is None or not is_none(change["new"]):
        return None
    return _BECOMES.get(str(settings.get("DeletionPolicy", "Delete")))


def _storage_with_strategy(change: Change, strategy: Strategy) -> Meaning | None:
    is_passed = strategy in _BY_STRATEGY and change["check"] == "SUCCEEDED"
    return (Effect.UNCERTAIN, _MAYBE_MOUNTED) if is_passed and _managed(change) is not None else None


def _deletion_policy(change: Change, _: Strategy) -> Meaning | None:
    if change["key"] != "DeletionPolicy" or not _is_in(change, "SharedStorage["):
        return None
    policy = "Delete" if is_none(change["new"]) else str(change["new"])
    return (Effect.FREE, _FROM_NOW_ON[policy]) if policy in _FROM_NOW_ON else None


def _nodes_replaced(change: Change, strategy: Strategy) -> Meaning | None:
    if change["policy"] not in _REPLACES_NODES or change["check"] != "SUCCEEDED":
        return None
    return Effect.DRAIN, _BY_STRATEGY.get(strategy, "")


def _nodes_removed(change: Change, strategy: Strategy) -> Meaning | None:
    is_allowed = strategy == "TERMINATE" and change["check"] == "SUCCEEDED"
    is_removed = change["key"] in {"SlurmQueues", "ComputeResources"} and is_none(change["new"])
    is_fewer = change["key"] == "MaxCount" and _less(change) > 0
    return (Effect.DRAIN, _CUT_OFF) if is_allowed and (is_removed or is_fewer) else None


def _fewer_login_nodes(change: Change, _: Strategy) -> Meaning | None:
    less = _less(change) if change["key"] == "Count" and _is_in(change, "LoginNodes") else 0
    if less <= 0:
        return None
    ends = f"{counted(less, 'login node')} {'ends' if less == 1 else 'end'}"
    return Effect.DRAIN, f"{ends} after the grace time, with the sessions there; which, nobody can say"


def _accounting(change: Change, _: Strategy) -> Meaning | None:
    is_schema = change["key"] == "DatabaseName" and change["path"][-1:] == ["Database"]
    return (Effect.FREE, _OTHER_RECORDS) if is_schema else None


def _logs(change: Change, _: Strategy) -> Meaning | None:
    if change["key"] != "RetentionInDays" or _less(change) <= 0:
        return None
    return Effect.FREE, f"events that are older than {counted(int(change['new']), 'day')} are deleted"


_RULES: Final[tuple[Callable[[Change, Strategy], Meaning | None], ...]] = (
    _storage_removed,
    _storage_with_strategy,
    _deletion_policy,
    _nodes_replaced,
    _nodes_removed,
    _fewer_login_nodes,
    _accounting,
    _logs,
)


def strategy_of(config: Mapping[str, Any]) -> Strategy:
    """Return how queues are updated.

    Args:
        config: A configuration of ParallelCluster.
    """
    return str(at(config, "Scheduling", "SlurmSettings", "QueueUpdateStrategy"))


def _less(change: Change) -> int:
    """Return by how much a number is lower; 0 where one of both is none."""
    old, new = (str(change[side]) for side in ("old", "new"))
    return int(old) - int(new) if old.isdecimal() and new.isdecimal() else 0


def _is_in(change: Change, place: str) -> bool:
    return any(str(each).startswith(place) for each in change["path"])
