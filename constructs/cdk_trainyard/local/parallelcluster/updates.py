"""What ParallelCluster refuses to change while a cluster runs: its update policies, by key. Pure.

CloudFormation can stop neither the fleet nor login nodes, so a change that needs them stopped is refused just as one
that is never possible. The policies of the keys are in ParallelCluster's schema; what each of them means is here, and
the tests compare both with ParallelCluster's own engine.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cdk_trainyard.local.parallelcluster.schema import schema

Config = Mapping[str, Any]

_EXISTING = ("FileSystemId", "VolumeId", "FileCacheId")
_LIVE = ("Efs", "FsxLustre", "FsxOntap", "FsxOpenZfs", "FileCache")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One difference between two configurations.

    Attributes:
        path: The sections that lead to it; entries of lists by name.
        key: The key.
        old: Its value before, or None.
        new: Its value after, or None.
        policy: ParallelCluster's update policy of the key.
        entry: Whether a whole entry of a list came or went.
    """

    path: tuple[str, ...]
    key: str
    old: Any
    new: Any
    policy: str
    entry: bool = False

    @property
    def where(self) -> str:
        """The path in one word."""
        return ".".join((*self.path, self.key))

    @property
    def in_queues(self) -> bool:
        """Whether it is inside a queue."""
        return any(part.startswith("SlurmQueues[") for part in self.path)


def update_problems(old: Config, new: Config) -> list[str]:
    """Return what of an update ParallelCluster would refuse while everything runs.

    Args:
        old: The configuration of the cluster.
        new: The configuration that it is to have.
    """
    found = list(changes(old, new, schema()))
    update = _Update(old=old, new=new, changes=found)
    return [
        f"'{change.where}' cannot be changed {_HOW.get(change.policy, _NEVER)}, got {_short(change.new)} instead of "
        f"{_short(change.old)}"
        for change in found
        if not _ALLOWED.get(change.policy, _never)(change, update)
    ]


def changes(old: Any, new: Any, section: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[Change]:
    """Yield the differences between two sections, as ParallelCluster finds them.

    Args:
        old: The section before.
        new: The section after.
        section: Its schema.
        path: The sections that lead to it.
    """
    before, after = (value if isinstance(value, Mapping) else {} for value in (old, new))
    for key, node in section["properties"].items():
        was, is_now, policy = before.get(key), after.get(key), node["x-update"]
        if "x-update-key" in node:
            yield from _entries(was or [], is_now or [], key, node, path)
        elif "properties" in node and ((was and is_now) or ((was or is_now) and policy == "IGNORED")):
            yield from changes(was, is_now, node, (*path, key))
        elif was != is_now:
            yield Change(path=path, key=key, old=was, new=is_now, policy=policy)


def _entries(old: Any, new: Any, key: str, node: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Change]:
    name = node["x-update-key"]
    before, after = ({entry.get(name): entry for entry in entries} for entries in (old, new))
    for identity, entry in after.items():
        if identity in before:
            yield from changes(before[identity], entry, node["items"], (*path, f"{key}[{identity}]"))
        else:
            yield Change(path=path, key=key, old=None, new=entry, policy=node["x-update"], entry=True)
    for identity in before.keys() - after.keys():
        yield Change(path=path, key=key, old=before[identity], new=None, policy=node["x-update"], entry=True)


# ---------------------------------------------------------------- policies
@dataclass(frozen=True, kw_only=True, slots=True)
class _Update:
    old: Config
    new: Config
    changes: Sequence[Change]

    @property
    def strategy(self) -> str:
        settings = self.new.get("Scheduling", {}).get("SlurmSettings", {})
        return str(settings.get("QueueUpdateStrategy", "COMPUTE_FLEET_STOP"))

    @property
    def login_pools(self) -> set[str]:
        """Pools with login nodes, before."""
        pools = (self.old.get("LoginNodes") or {}).get("Pools", ())
        return {pool["Name"] for pool in pools if int(pool["Count"]) > 0}


def _always(_: Change, __: _Update) -> bool:
    return True


def _never(_: Change, __: _Update) -> bool:
    return False


def _by_strategy(change: Change, update: _Update) -> bool:
    return change.in_queues and update.strategy != "COMPUTE_FLEET_STOP"


def _resize(change: Change, update: _Update) -> bool:
    if (change.in_queues or change.key == "SlurmQueues") and (update.strategy == "TERMINATE" or _came(change)):
        return True
    most = schema()["x-max-count"]
    if change.key == "MaxCount":
        return _number(change.new, most) >= _number(change.old, most)
    if change.key == "MinCount":
        grown = _number(change.new, 0) - _number(change.old, 0)
        room = [one for one in update.changes if one.path == change.path and one.key == "MaxCount"]
        return any(_number(one.new, most) - _number(one.old, most) >= grown for one in room)
    return False


def _placement_group(change: Change, update: _Update) -> bool:
    made = [_managed_group(config, change.path) for config in (update.old, update.new)]
    return made != [True, False] and _by_strategy(change, update)


def _subnets(change: Change, update: _Update) -> bool:
    if _made_lustre(update.old) & _made_lustre(update.new):
        return False
    grown = isinstance(change.old, list) and set(change.old) <= set(change.new or ())
    return _by_strategy(change, update) or (change.in_queues and grown)


def _storage(change: Change, update: _Update) -> bool:
    entry = change.new or change.old
    if not isinstance(entry, Mapping):
        return False
    settings = entry.get(f"{entry.get('StorageType')}Settings", {})
    live = entry.get("StorageType") in _LIVE and any(key in settings for key in _EXISTING)
    if str(entry.get("MountDir", "")).strip("/") == "home":
        return False
    return live or (update.strategy != "COMPUTE_FLEET_STOP" and not update.login_pools)


def _came(change: Change) -> bool:
    return change.entry and change.old is None


def _instance_types(change: Change, _: _Update) -> bool:
    return _came(change)


def _login_nodes(_: Change, update: _Update) -> bool:
    return not update.login_pools


def _login_pools(change: Change, update: _Update) -> bool:
    return _came(change) or not update.login_pools


def _login_pool(change: Change, update: _Update) -> bool:
    return not any(part == f"Pools[{name}]" for part in change.path for name in update.login_pools)


_ALLOWED: Mapping[str, Callable[[Change, _Update], bool]] = {
    "IGNORED": _always,
    "SUPPORTED": _always,
    "SUPPORTED_UNLESS_ADC": _always,
    "QUEUE_UPDATE_STRATEGY": _by_strategy,
    "RESIZE_UPDATE_STRATEGY_ON_REMOVE": _resize,
    "MANAGED_PLACEMENT_GROUP": _placement_group,
    "MANAGED_FSX": _subnets,
    "COMPUTE_FLEET_STOP_ON_REMOVE": _instance_types,
    "SHARED_STORAGE_UPDATE_POLICY": _storage,
    "LOGIN_NODES_POOLS_UPDATE_POLICY": _login_pools,
    "LOGIN_NODES_POOL_STOP": _login_pool,
    "LOGIN_NODES_STOP": _login_nodes,
}
_NEVER = "while the cluster exists; define a second cluster beside it"
_HOW = {
    "COMPUTE_FLEET_STOP": "while compute nodes run",
    "COMPUTE_FLEET_STOP_ON_REMOVE": "while compute nodes run",
    "COMPUTE_AND_LOGIN_NODES_STOP": "while compute or login nodes run",
    "LOGIN_NODES_POOL_STOP": "while login nodes of the pool run",
    "LOGIN_NODES_POOLS_UPDATE_POLICY": "while login nodes run",
    "LOGIN_NODES_STOP": "while login nodes run",
    "MANAGED_PLACEMENT_GROUP": "while compute nodes run",
    "QUEUE_UPDATE_STRATEGY": "while compute nodes run, unless QueueUpdateStrategy is DRAIN or TERMINATE",
    "RESIZE_UPDATE_STRATEGY_ON_REMOVE": "while compute nodes run, unless QueueUpdateStrategy is TERMINATE",
}


def _managed_group(config: Config, path: Sequence[str]) -> bool:
    """Whether ParallelCluster makes the placement group of the place that a path leads to."""
    queue = _named(config.get("Scheduling", {}).get("SlurmQueues"), path, "SlurmQueues")
    compute = _named(queue.get("ComputeResources"), path, "ComputeResources")
    group = compute.get("Networking", {}).get("PlacementGroup") or queue.get("Networking", {}).get("PlacementGroup")
    return bool(group and group.get("Enabled") and not group.get("Name") and not group.get("Id"))


def _named(entries: Any, path: Sequence[str], key: str) -> Config:
    names = [part[len(key) + 1 : -1] for part in path if part.startswith(f"{key}[")]
    return next((entry for entry in entries or () if names and entry.get("Name") == names[0]), {})


def _made_lustre(config: Config) -> set[Any]:
    return {
        entry.get("Name")
        for entry in config.get("SharedStorage") or ()
        if entry.get("StorageType") == "FsxLustre" and "FileSystemId" not in entry.get("FsxLustreSettings", {})
    }


def _number(value: Any, otherwise: int) -> int:
    return otherwise if value is None else int(value)


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004  what fits into a sentence
