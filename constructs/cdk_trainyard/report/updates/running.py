"""What changes mean to what runs, where CloudFormation itself makes them without a word.

Sources: botocore 1.44.5, ``rds/2014-10-31``, ModifyDBInstance (another DBPortNumber restarts the database at once),
``ec2/2016-11-15``, DeletePlacementGroup (its instances must be terminated before) and ``autoscaling/2011-01-01``, Tag
(PropagateAtLaunch is of new instances); Amazon EC2 Auto Scaling User Guide, "Tag Auto Scaling groups and instances";
AWS CloudFormation User Guide, "UpdatePolicy attribute" (which changes of a group replace its instances) and "Stack
status codes" (what a clean-up cannot delete, the update leaves). Read 2026-11-28.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from cdk_trainyard.report.nested import at, properties_of, references
from cdk_trainyard.report.replacement import perhaps_replacing, resources
from cdk_trainyard.report.updates.effects import PARALLELCLUSTER, Effect, PlanRow
from cdk_trainyard.report.words import counted, joined

Template = Mapping[str, Any]
_OWN_TAGS: Final = "trainyard:"
_PORT: Final = "the database restarts, and its stack is updated before those of its clusters, which look for it at the "
_STOPPED: Final = f"{_PORT}former port: stop the compute fleet first, or ParallelCluster refuses its own update then"
_UNREACHED: Final = f"{_PORT}former port until then"
_MEMBERS: Final = (
    "nodes that run keep their former tags, and new ones, which find the others by theirs, do not find them: let jobs "
    "end and scale the fleet to none before, and up again after"
)
_KEPT_TAGS: Final = "nodes that run keep their former tags"
_WHICH: Final = "with what runs there; which, nobody can say: let jobs end first"
_OF_NODES: Final = frozenset({"LaunchTemplate", "MixedInstancesPolicy", "PlacementGroup", "VPCZoneIdentifier"})
_ROLLING: Final = (
    "CloudFormation replaces every node: at most {} at a time, and at least {} stay in service; what runs on a node "
    "ends with it, and tasks start again on others"
)
_KEPT_TEMPLATE: Final = "nodes that run stay as they are; new ones are made by what is new"
_IN_THE_GROUP: Final = (
    "EC2 deletes no placement group that instances stand in, and the update leaves it in the account: let jobs end and "
    "scale to none before, or delete the group when its nodes are gone"
)


@dataclass(frozen=True, slots=True)
class _Change:
    """A resource that was there, among those of its stack, whether it stays, and what of it changes.

    Whether there are ParallelClusters is said, too.
    """

    name: str
    before: Mapping[str, Template]
    after: Mapping[str, Template]
    stays: bool
    properties: frozenset[str]
    has_parallelcluster: bool

    def both(self, key: str) -> tuple[Any, Any]:
        """Return a property before and after."""
        one, other = (properties_of(side[self.name]).get(key) for side in (self.before, self.after))
        return one, other


Meaning = tuple[Effect, str]
"""What a change does to what runs, and what to do about it."""


def with_running(
    rows: Iterable[PlanRow], old: Mapping[str, Template], new: Mapping[str, Template]
) -> Iterator[PlanRow]:
    """Yield rows, with what those of them mean to what runs that say nothing else.

    Args:
        rows: What happens to resources.
        old: Stack to its template, before.
        new: Stack to its template, after.
    """
    clusters = any(
        each["Type"] == PARALLELCLUSTER for template in new.values() for each in resources(template).values()
    )
    for row in rows:
        stack, name = row.key
        before, after = resources(old.get(stack, {})), resources(new.get(stack, {}))
        stays = name in after and row.effect is Effect.FREE
        change = _Change(name, before, after, stays, row.properties, clusters)
        found = _meaning(change) if name in before and not row.remedy else None
        yield replace(row, effect=max(row.effect, found[0]), remedy=found[1]) if found else row


def _meaning(change: _Change) -> Meaning | None:
    kind = change.before[change.name]["Type"]
    rule = _RULES.get(kind)
    return (rule(change) if rule else None) or (_perhaps(kind, change) if change.stays else None)


def _perhaps(kind: str, change: _Change) -> Meaning | None:
    before, after = (properties_of(side[change.name]) for side in (change.before, change.after))
    keys = perhaps_replacing(kind, before, after)
    return (Effect.UNCERTAIN, f"{joined(keys)} may replace it: AWS's page of the type says when") if keys else None


def _database(change: _Change) -> Meaning | None:
    one, other = change.both("Port") if change.stays else (None, None)
    if one == other:
        return None
    return (Effect.STOP, _STOPPED) if change.has_parallelcluster else (Effect.FREE, _UNREACHED)


def _auto_scaling_group(change: _Change) -> Meaning | None:
    """Its nodes: fewer, other ones, or with other tags; the worst is said first."""
    if not change.stays:
        return None
    found = [each for each in (_fewer(change), _rolled(change), _tags(change)) if each]
    return (max(effect for effect, _ in found), "; ".join(text for _, text in found)) if found else None


def _fewer(change: _Change) -> Meaning | None:
    wanted, most = (tuple(map(_number, change.both(key))) for key in ("DesiredCapacity", "MaxSize"))
    for (one, other), what in ((wanted, "{}"), (most, "up to {}")):
        if one is not None and other is not None:
            less = one - other
            ending = f"{what.format(counted(less, 'node'))} {'ends' if less == 1 else 'end'}"
            return (Effect.DRAIN, f"{ending}, {_WHICH}") if less > 0 else None
    return None


def _rolled(change: _Change) -> Meaning | None:
    """An update policy replaces nodes where their launch template, subnets or placement group change."""
    if not change.properties & _OF_NODES:
        return None
    rolling = at(change.after[change.name], "UpdatePolicy", "AutoScalingRollingUpdate")
    if rolling is None:
        return Effect.FREE, _KEPT_TEMPLATE
    some, least = (rolling.get(key, default) for key, default in (("MaxBatchSize", 1), ("MinInstancesInService", 0)))
    return Effect.DRAIN, _ROLLING.format(some, least)


def _tags(change: _Change) -> Meaning | None:
    one, other = map(_tags_of_nodes, change.both("Tags"))
    changed = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    if any(key.startswith(_OWN_TAGS) for key in changed):
        return Effect.DRAIN, _MEMBERS
    return (Effect.FREE, _KEPT_TAGS) if changed else None


def _placement_group(change: _Change) -> Meaning | None:
    """Nodes stand in it whose template or group stays."""
    is_used = any(change.name in references(body) for name, body in change.before.items() if name in change.after)
    return (Effect.DRAIN, _IN_THE_GROUP) if is_used and not change.stays else None


_RULES: Final[Mapping[str, Callable[[_Change], Meaning | None]]] = {
    "AWS::AutoScaling::AutoScalingGroup": _auto_scaling_group,
    "AWS::EC2::PlacementGroup": _placement_group,
    "AWS::RDS::DBInstance": _database,
}


def _number(value: Any) -> int | None:
    return int(value) if str(value).isdecimal() else None


def _tags_of_nodes(tags: Any) -> dict[str, Any]:
    return {str(tag["Key"]): tag.get("Value") for tag in tags or () if tag.get("PropagateAtLaunch") in (True, "true")}
