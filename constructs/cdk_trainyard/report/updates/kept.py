"""What is deleted because it is to be kept for a shorter time, or is out of reach while a change is made.

Sources: Amazon S3 User Guide, "Setting an S3 Lifecycle configuration on a bucket" (a rule is of objects that are there,
too); Amazon RDS User Guide, "Backup retention period" and "Settings for DB instances" (another class: downtime); Amazon
CloudWatch Logs User Guide, "Change log data retention in CloudWatch Logs"; Amazon Managed Service for Prometheus User
Guide, "Configure your workspace" (retention); FSx for Lustre User Guide, "Managing storage capacity" and "Modifying
throughput capacity" (the file system may be unavailable, and clients retry). Read 2026-11-28.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, Final

from cdk_trainyard.report.associations import backup_days, is_linked
from cdk_trainyard.report.nested import at, properties_of
from cdk_trainyard.report.updates.effects import Effect
from cdk_trainyard.report.updates.meaning import Meaning, ResourceChange, Rule, together
from cdk_trainyard.report.words import counted

_PORT: Final = "the database restarts, and its stack is updated before those of its clusters, which look for it at the "
_STOPPED: Final = f"{_PORT}former port: stop the compute fleet first, or ParallelCluster refuses its own update then"
_UNREACHED: Final = f"{_PORT}former port until then"
_CLASS: Final = "nobody reaches the database while RDS moves it to the other class, which takes minutes"
_GROWS: Final = (
    "the file system is unavailable for a few minutes, and clients wait; it grows again after six hours at the earliest"
)
_THROUGHPUT: Final = "the file system is unavailable for a while, and clients wait"
_FIRST_LINK: Final = (
    "no page says whether CloudFormation turns backups off where their retention is said no more, and FSx backs up no "
    "file system with a link: say 'backups: {retention_days: 0}' first, and add the link in the next deployment"
)
_EXPIRED: Final = {
    "ExpirationInDays": "objects {}that are older than {}",
    "NoncurrentDays": "former versions {}that are older than {}",
}
_KEEP: Final = "copy first what is to stay"


def _port(change: ResourceChange) -> Meaning | None:
    one, other = change.both("Port")
    if one == other:
        return None
    return (Effect.STOP, _STOPPED) if change.has_parallelcluster else (Effect.FREE, _UNREACHED)


def _class(change: ResourceChange) -> Meaning | None:
    one, other = change.both("DBInstanceClass")
    return (Effect.INTERRUPTED, _CLASS) if one != other else None


def _lustre(change: ResourceChange) -> Meaning | None:
    if change.both("FileSystemType")[0] != "LUSTRE":
        return None
    before, after = change.both("StorageCapacity")
    if before != after:
        return Effect.INTERRUPTED, _GROWS
    throughput = (change.both("LustreConfiguration", key) for key in ("PerUnitStorageThroughput", "ThroughputCapacity"))
    return (Effect.INTERRUPTED, _THROUGHPUT) if any(one != other for one, other in throughput) else None


def _first_link(change: ResourceChange) -> Meaning | None:
    before, after = change.before[change.name], change.after[change.name]
    _, days = change.both("LustreConfiguration", "AutomaticBackupRetentionDays")
    is_left_out = days is None and bool(backup_days(before)) and properties_of(after).get("FileSystemType") == "LUSTRE"
    return (Effect.UNCERTAIN, _FIRST_LINK) if is_left_out and is_linked(change.name, change.after) else None


def _shorter(what: str, effect: Effect, default: float, *path: str) -> Rule:
    """Return the rule of a number of days for which a service keeps something.

    Args:
        what: What it keeps.
        effect: What it is that this is deleted.
        default: The days where nothing is said.
        path: The property.
    """

    def rule(change: ResourceChange) -> Meaning | None:
        said = change.both(*path)
        one, other = (default if value is None else _number(value) for value in said)
        if one is None or other is None or other >= one:
            return None
        older = f" that are older than {counted(int(other), 'day')}" if other else ""
        return effect, f"{what}{older} are deleted; {_KEEP}"

    return rule


def _expiring(change: ResourceChange) -> Meaning | None:
    """Objects that a rule of the bucket lets go earlier than all that covered them before."""
    before, after = (_expiries(side[change.name]) for side in (change.before, change.after))
    said = [
        _EXPIRED[kind].format(
            f"{f'under {prefix} ' if prefix else ''}{f'with {tags} ' if tags else ''}", counted(days, "day")
        )
        for (kind, prefix, tags), days in after.items()
        if days < min((each for key, each in before.items() if _covers(key, (kind, prefix, tags))), default=inf)
    ]
    return (Effect.LOST, f"{' and '.join(said)} are deleted; {_KEEP}") if said else None


_Scope = tuple[str, str, str]
"""What a lifecycle rule deletes: of objects or former versions, under which prefix, with which tags."""


def _covers(one: _Scope, other: _Scope) -> bool:
    return one[0] == other[0] and other[1].startswith(one[1]) and one[2] in {"", other[2]}


def _expiries(bucket: Mapping[str, Any]) -> dict[_Scope, int]:
    return dict(sorted(_said(bucket), key=lambda each: -each[1]))  # of the same scope, the earliest counts


def _said(bucket: Mapping[str, Any]) -> Iterator[tuple[_Scope, int]]:
    rules = at(properties_of(bucket), "LifecycleConfiguration", "Rules")
    for rule in rules if isinstance(rules, list) else ():
        if at(rule, "Status") != "Enabled":
            continue
        tags = rule.get("TagFilters") or ()
        scope = str(rule.get("Prefix") or ""), ", ".join(f"tag {at(tag, 'Key')}={at(tag, 'Value')}" for tag in tags)
        days = rule.get("ExpirationInDays"), at(rule, "NoncurrentVersionExpiration", "NoncurrentDays")
        for kind, value in zip(_EXPIRED, days, strict=True):
            if (number := _number(value)) is not None:
                yield (kind, *scope), number


def _number(value: Any) -> int | None:
    return int(value) if str(value).isdecimal() else None


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "AWS::APS::Workspace": (_shorter("metrics", Effect.LOST, 150, "WorkspaceConfiguration", "RetentionPeriodInDays"),),
    "AWS::FSx::FileSystem": (_lustre, _first_link),
    "AWS::Logs::LogGroup": (_shorter("events", Effect.FREE, inf, "RetentionInDays"),),
    "AWS::RDS::DBInstance": (
        _port,
        _class,
        _shorter("automatic backups", Effect.LOST, 1, "BackupRetentionPeriod"),
    ),
    "AWS::S3::Bucket": (_expiring,),
}
"""The rules of types that hold data and stay."""


def kept(kind: str, change: ResourceChange) -> Meaning | None:
    """Return what a change in place means to what a resource holds; None where it means nothing.

    Args:
        kind: The type of the resource.
        change: The change.
    """
    return together(rule(change) for rule in RULES.get(kind, ())) if change.stays else None
