"""What a file system may look like: pure functions of a resolved file system, silent about Tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from math import ceil
from typing import cast

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.network.rules import zone_problems
from cdk_trainyard.network.subnet_layout import LARGEST_SUBNET, usable_addresses
from cdk_trainyard.options.stand_ins import Retention
from cdk_trainyard.partitions import partition_of
from cdk_trainyard.problems import Problem, Warned, either, option, shown, warned, within
from cdk_trainyard.storage.lustre_deployment import (
    USER_PROVISIONED,
    LustreDeployment,
    LustreReadCache,
    automatic_metadata_iops,
)
from cdk_trainyard.storage.lustre_facts import (
    FACTS_DATE,
    LUSTRE_FACTS,
    METADATA_VERSION,
    PERSISTENT_2_BASIC_REGIONS,
    PERSISTENT_2_REGIONS,
    TIERING_CACHE_GIB,
    TIERING_MAX_MB_S,
    TIERING_SERVER_MB_S,
    WITHOUT_SCRATCH,
    LustreFacts,
    LustreStorage,
    LustreType,
)
from cdk_trainyard.storage.resolve import file_servers, is_persistent
from cdk_trainyard.storage.rules_data import repositories_problems
from cdk_trainyard.storage.rules_squash import root_squash_problems, squash_warnings
from cdk_trainyard.storage.spec import (
    ExistingLustreSpec,
    LustreBackups,
    LustreLogLevel,
    LustreSpec,
)
from cdk_trainyard.tokens import Unknown, unresolved

_USUAL_RETENTION = next(each.default for each in fields(LustreSpec) if each.name == "log_retention")
_TYPE = ("deployment", "type")
_CACHE = ("deployment", "read_cache")


def lustre_problems(spec: LustreSpec) -> list[Problem]:
    """Return everything that FSx would refuse of a file system.

    Args:
        spec: The resolved file system.
    """
    if of_version := [*version_problems(spec)]:
        spec = replace(spec, lustre_version=cast("str", Unknown()))  # nothing follows from what is none
    return [
        *deployment_problems(spec.deployment),
        *capacity_problems(spec),
        *of_version,
        *metadata_problems(spec),
        *efa_problems(spec),
        *backup_problems(spec),
        *root_squash_problems(spec),
        *log_problems(spec),
        *key_problems(spec),
        *removal_problems(spec),
        *repositories_problems(spec),
    ]


def existing_lustre_problems(spec: ExistingLustreSpec, region: str | None) -> list[Problem]:
    """Return everything that is wrong with what is said of a file system that exists.

    Args:
        spec: The file system.
        region: The stack's Region. None: not known.
    """
    named = spec.dns_name.partition(".")[0] if not unresolved(spec.dns_name) else spec.file_system_id
    text = f"must be that of {option('file_system_id')} {spec.file_system_id}, got {shown(spec.dns_name)}"
    other = [] if unresolved(spec.file_system_id) or named == spec.file_system_id else [Problem(("dns_name",), text)]
    return other if unresolved(spec.zone) else [*other, *zone_problems(("zone",), spec.zone, region)]


# ---------------------------------------------------------------- kind
def deployment_problems(deployment: LustreDeployment) -> Iterator[Problem]:
    """Check that FSx has such a kind of file system, and its throughput and caches."""
    if unresolved(deployment, deployment.type, deployment.storage):
        return
    if deployment.facts is None:
        yield _no_such_kind(deployment.type, deployment.storage)
        return
    yield from _tiering_problems(deployment) if deployment.tiering else _throughput_problems(deployment)
    if deployment.hdd_read_cache is True and deployment.storage is not LustreStorage.HDD:
        yield Problem(("deployment", "hdd_read_cache"), f"is for HDD storage, got {deployment.label}; remove it")


def _no_such_kind(deployment_type: LustreType, storage: LustreStorage) -> Problem:
    """Return what storage a type has, and what else goes with the storage, of each type that has it."""
    storages = [str(has) for kind, has in LUSTRE_FACTS if kind == deployment_type]
    must = f"must be {either(storages)} with {option('type')} {deployment_type}, got {storage}"
    ways = (f"{option('type')} {kind}{_steps(facts)}" for (kind, has), facts in LUSTRE_FACTS.items() if has == storage)
    return Problem(("deployment", "storage"), f"{must}; {storage} goes with {' or '.join(ways)}")


def _steps(facts: LustreFacts) -> str:
    steps = (
        f"{speed} ({option('capacity_gib', up=2)} {size} or a multiple)" for speed, size in facts.server_gib.items()
    )
    return f" and {option('throughput_mb_s_per_tib')} {' or '.join(steps)}" if facts.throughput_chosen else ""


def _throughput_problems(deployment: LustreDeployment) -> Iterator[Problem]:
    at, got, facts = ("deployment", "throughput_mb_s_per_tib"), deployment.throughput_mb_s_per_tib, deployment.facts
    for name in ("throughput_mb_s", "read_cache"):
        if getattr(deployment, name) is not None:
            yield Problem(("deployment", name), f"is for INTELLIGENT_TIERING, got {deployment.label}; remove it")
    if facts is None or unresolved(got):
        return
    if facts.throughput_chosen and got not in facts.server_gib:
        allowed = ", ".join(str(value) for value in facts.server_gib)
        nearest = min(facts.server_gib, key=lambda value: abs(value - (got or 0)))
        yield Problem(at, f"must be one of {allowed} for {deployment.label}, got {shown(got)}; use {nearest}")
    elif not facts.throughput_chosen and got is not None:
        yield Problem(at, f"is fixed for {deployment.label}, got {got}; remove it")


def _tiering_problems(deployment: LustreDeployment) -> Iterator[Problem]:
    throughput, cache = deployment.throughput_mb_s, deployment.read_cache
    per_tib = deployment.throughput_mb_s_per_tib
    if per_tib is not None:
        text = f"is for SSD and HDD storage, got {per_tib} with {deployment.label}; use {option('throughput_mb_s')}"
        yield Problem(("deployment", "throughput_mb_s_per_tib"), text)
    yield from within(_CACHE, _cache_problems(cache))
    if throughput is None or unresolved(throughput):
        return
    servers, rest = divmod(throughput, TIERING_SERVER_MB_S)
    if rest or not 0 < throughput <= TIERING_MAX_MB_S:
        nearest = min(max(servers, 1) * TIERING_SERVER_MB_S, TIERING_MAX_MB_S)
        text = f"must be a multiple of {TIERING_SERVER_MB_S} up to {TIERING_MAX_MB_S}, got {throughput}; use {nearest}"
        yield Problem(("deployment", "throughput_mb_s"), text)
    elif cache is not None and cache.sized and cache.size_gib is not None and not unresolved(cache.size_gib):
        least, most = (limit * servers for limit in TIERING_CACHE_GIB)
        if not least <= cache.size_gib <= most:
            nearest = min(max(cache.size_gib, least), most)
            text = f"must be {least} to {most} GiB for {throughput} MB/s, got {cache.size_gib}; use {nearest}"
            yield Problem((*_CACHE, "size_gib"), text)


def _cache_problems(cache: LustreReadCache | None) -> Iterator[Problem]:
    """Check that a size is given where, and only where, it is asked for (botocore 1.44.5, fsx: ``SizeGiB``)."""
    if cache is None or unresolved(cache, cache.mode, cache.size_gib):
        return
    if cache.sized and cache.size_gib is None:
        yield Problem(("size_gib",), f"must be given with {option('mode')} {cache.mode}, got nothing")
    elif not cache.sized and cache.size_gib is not None:
        remedy = f"remove it, or use {option('mode')} {USER_PROVISIONED}"
        yield Problem(("size_gib",), f"is for {USER_PROVISIONED}, got {cache.size_gib} with {cache.mode}; {remedy}")


# ---------------------------------------------------------------- size
def capacity_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check the capacity against what is sold of this kind."""
    deployment, capacity, at = spec.deployment, spec.capacity_gib, ("capacity_gib",)
    facts = deployment.facts
    if facts is None or capacity is None or unresolved(deployment, capacity, spec.efa_enabled):
        return
    if deployment.tiering:
        yield Problem(at, f"must be left out for {deployment.label}, got {capacity}; storage is elastic")
        return
    efa = spec.efa_enabled and bool(facts.efa_server_gib)
    step = deployment.step_gib(efa_enabled=efa)
    partial = () if efa else facts.partial_gib
    if step is None or unresolved(step):
        return
    if too_many := [*servers_problems(spec)]:
        yield from too_many
        return
    if capacity in partial or capacity % step == 0:
        return
    multiple = f"a multiple of {step}"
    allowed = f"{', '.join(map(str, partial))} or {multiple}" if partial else multiple
    use = _neighbors(capacity, step, partial)
    yield Problem(at, f"must be {allowed} for {_sized(deployment, efa=efa)}, got {capacity}; use {use}")


def servers_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check that one subnet has an address for each server; how much an account may have is its quota's matter."""
    capacity, servers, most = spec.capacity_gib, file_servers(spec), usable_addresses(LARGEST_SUBNET)
    step = spec.deployment.step_gib(efa_enabled=spec.efa_enabled)
    if capacity is None or step is None or servers is None or servers <= most:
        return
    storage = ceil(capacity / step)
    text = f"must be at most {(most - servers + storage) * step} for {spec.deployment.label}, got {capacity}"
    subnet = f"the largest subnet (a /{LARGEST_SUBNET}) has {most}"
    yield Problem(("capacity_gib",), f"{text}: it takes {servers} addresses, and {subnet}; use several file systems")


def _sized(deployment: LustreDeployment, *, efa: bool) -> str:
    by_throughput = efa or deployment.storage is LustreStorage.HDD
    label = f"{deployment.label} with EFA" if efa else deployment.label
    return f"{label} at {deployment.throughput_mb_s_per_tib} MB/s per TiB" if by_throughput else label


def _neighbors(capacity_gib: int, step: int, partial: Sequence[int]) -> str:
    whole = max(capacity_gib // step, 0) * step
    sizes = sorted({*partial, *(size for size in (whole, whole + step) if size > 0)})
    below = [size for size in sizes if size < capacity_gib][-1:]
    above = [size for size in sizes if size > capacity_gib][:1]
    return " or ".join(str(size) for size in below + above)


def metadata_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check the provisioned metadata IOPS."""
    deployment, iops, at = spec.deployment, spec.metadata_iops, ("metadata_iops",)
    facts = deployment.facts
    if facts is None or iops is None or unresolved(deployment, iops):
        return
    if not facts.iops:
        yield Problem(at, f"is for PERSISTENT_2 file systems, got {iops} with {deployment.label}; remove it")
        return
    version = spec.lustre_version
    if not unresolved(version) and version != METADATA_VERSION and version in facts.versions:
        got = f"got {option('lustre_version')} {version}"
        yield Problem(at, f"needs Lustre {METADATA_VERSION}, {got}; remove one of the two")
    if iops not in facts.iops:
        nearest = min(facts.iops, key=lambda each: abs(each - iops))
        allowed = "6000 or 12000" if deployment.tiering else "1500, 3000, 6000 or a multiple of 12000 up to 192000"
        yield Problem(at, f"must be {allowed}, got {iops}; use {nearest}")


def metadata_warnings(spec: LustreSpec) -> Iterator[str]:
    """Say when FSx would provision more metadata IOPS by itself, without which it grows no file system to that size.

    Source: hashicorp/terraform-provider-aws#44456 (2025-09-25); of a new file system, no page says that it is refused.
    """
    facts, iops, capacity = spec.deployment.facts, spec.metadata_iops, spec.capacity_gib
    if facts is None or iops is None or capacity is None or unresolved(facts, iops, capacity) or iops not in facts.iops:
        return
    least = automatic_metadata_iops(capacity)
    if iops < least:
        wish = f"{iops} metadata IOPS are fewer than the {least} that FSx provisions by itself for {capacity} GiB"
        yield f"{wish}, and FSx grows no file system to this size with fewer; leave 'metadata_iops' out, or use {least}"


def version_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check the Lustre version."""
    facts, version = spec.deployment.facts, spec.lustre_version
    if facts is not None and not unresolved(facts, version) and version not in facts.versions:
        hint = did_you_mean(version, facts.versions)
        allowed = f"{', '.join(facts.versions)} for {spec.deployment.label}"
        yield Problem(("lustre_version",), f"must be one of {allowed}, got {shown(version)}{hint}")


def efa_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check the conditions of EFA: the kind, and the version that has a metadata configuration."""
    deployment, at = spec.deployment, ("efa_enabled",)
    if spec.efa_enabled is not True or unresolved(deployment.type):
        return
    if deployment.facts is not None and deployment.type is not LustreType.PERSISTENT_2:
        yield Problem(at, f"needs a PERSISTENT_2 file system, got {deployment.label}")
    if not unresolved(spec.lustre_version) and spec.lustre_version != METADATA_VERSION:
        got = f"got {option('lustre_version')} {spec.lustre_version}; remove {option('lustre_version')}"
        yield Problem(at, f"needs a metadata configuration and so Lustre {METADATA_VERSION}, {got}")


# ---------------------------------------------------------------- the rest
def backup_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check the automatic backups: only of persistent file systems that are not linked to S3."""
    if spec.backups is None or unresolved(spec.backups, spec.backups.retention_days):
        return
    yield from within(("backups",), _start_problems(spec.backups))
    at, days = ("backups", "retention_days"), spec.backups.retention_days
    if days and not is_persistent(spec):
        yield Problem(
            at, f"must be 0 for a file system that is not persistent, got {days} with {spec.deployment.label}"
        )
    if days and spec.data_repositories:
        why = "no backup is taken of what is linked to S3, which holds the data"
        yield Problem(at, f"must be 0 with {option('data_repositories', up=2)}, got {days}; {why}")


def _start_problems(backups: LustreBackups) -> Iterator[Problem]:
    """Check that a start is whole, and of backups that are taken (botocore 1.44.5, fsx: ``DailyTime`` is HH:MM)."""
    days, hour, minute = backups.retention_days, backups.hour, backups.minute
    if unresolved(hour, minute):
        return
    if days == 0:
        for name, got in (("hour", hour), ("minute", minute or None)):
            if got is not None:
                text = f"must be left out with {option('retention_days')} 0, got {got}: no backup is taken"
                yield Problem((name,), text)
    elif hour is None and minute:
        yield Problem(("minute",), f"needs {option('hour')}, got {minute}; FSx chooses the start without it")


def lustre_warnings(spec: LustreSpec, region: str | None, cidr: str | None) -> Iterator[Warned]:
    """Yield what may go wrong with a new file system without being wrong.

    Args:
        spec: The file system, resolved.
        region: The Region. None: not known.
        cidr: The block of the nodes' subnet. None: not known.
    """
    yield from warned("storage", "deployment-region", region_warnings(spec, region))
    yield from warned("storage", "root-squash", squash_warnings(spec.root_squash, cidr))
    yield from warned("storage", "metadata-iops", metadata_warnings(spec))


def key_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check that the kind takes a key at all."""
    if spec.key is not None and not unresolved(spec.deployment.type) and not is_persistent(spec):
        got = f"got one with {spec.deployment.label}: FSx encrypts it itself; remove it"
        yield Problem(("key",), f"is for persistent file systems, {got}")


def log_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check that a file speaks of a log only where something can be in it: events of data repositories.

    Source: Amazon FSx API reference, "LustreLogConfiguration" (read 2026-11).
    """
    level, kept, facts = spec.log_level, spec.log_retention, spec.deployment.facts
    said = isinstance(kept, Retention) and kept != _USUAL_RETENTION
    if level is LustreLogLevel.DISABLED:
        if said:
            text = f"must be left out with {option('log_level')} {level}: there is no log"
            yield Problem(("log_retention",), text)
        return
    if facts is None or unresolved(facts) or facts.repositories:
        return
    why = f"{spec.deployment.label} has no data repositories, whose events are logged"
    if level in {LustreLogLevel.WARN_ONLY, LustreLogLevel.ERROR_ONLY}:
        yield Problem(("log_level",), f"must be left out, or {LustreLogLevel.DISABLED}, got {level}: {why}")
    if said:
        yield Problem(("log_retention",), f"must be left out: {why}")


def removal_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check that CloudFormation can do with a file system what the policy says."""
    if spec.removal_policy is not None and spec.removal_policy.name == "SNAPSHOT":
        allowed = "RETAIN, RETAIN_ON_UPDATE_OR_DELETE or DESTROY"
        yield Problem(("removal_policy",), f"must be {allowed}, got SNAPSHOT; use RETAIN")


def region_warnings(spec: LustreSpec, region: str | None) -> list[str]:
    """Say when a known region did not have the kind on the date of the facts. Regions gain kinds, so it only warns."""
    deployment = spec.deployment
    if region is None or _offered(spec, region):
        return []
    what = deployment.label + (" with EFA" if spec.efa_enabled else "")
    throughput = deployment.throughput_mb_s_per_tib
    at = f" at {throughput} MB/s per TiB" if throughput else ""
    return [f"{what}{at} was not offered in {region} on {FACTS_DATE}; check the region before deploying"]


def _offered(spec: LustreSpec, region: str) -> bool:
    deployment = spec.deployment
    if deployment.type is LustreType.PERSISTENT_2:
        basic = deployment.throughput_mb_s_per_tib in (125, 250) and not spec.efa_enabled
        return region in PERSISTENT_2_REGIONS or (basic and region in PERSISTENT_2_BASIC_REGIONS)
    return is_persistent(spec) or partition_of(region) not in WITHOUT_SCRATCH
