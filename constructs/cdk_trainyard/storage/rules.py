"""What a file system may look like: pure functions, one problem a sentence, silent about Tokens."""

import re
from collections.abc import Sequence

from aws_cdk import RemovalPolicy

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.storage.lustre_deployment import LustreDeployment
from cdk_trainyard.storage.lustre_facts import (
    FACTS_DATE,
    LUSTRE_FACTS,
    MAX_BACKUP_DAYS,
    METADATA_VERSION,
    PERSISTENT_2_BASIC_REGIONS,
    PERSISTENT_2_REGIONS,
    TIERING_CACHE_GIB,
    TIERING_MAX_MB_S,
    TIERING_SERVER_MB_S,
    LustreStorage,
    LustreType,
)
from cdk_trainyard.storage.lustre_values import LustreBackups, MaintenanceTime, RootSquash
from cdk_trainyard.tokens import unresolved

_NID = re.compile(r"(?=.{11,43}$)([0-9\[\]\-]+\.){3}[0-9\[\]\-]+@tcp")  # LustreNoSquashNid of botocore 1.44.5
_MAX_NIDS = 64
_MAX_ID = 4294967294  # of a user or group that root is squashed to
_MOUNT_NAME = re.compile(r"[A-Za-z0-9_-]{1,8}")
_FILE_SYSTEM_ID = re.compile(r"fs-[0-9a-f]{8,}")
_DNS_NAME = re.compile(r"fsi?-[0-9a-f]{8,}\..{4,253}")
_KEY_ARN = re.compile(r"arn:[^:]+:kms:(?P<region>[^:]+):")


def deployment_problems(deployment: LustreDeployment) -> list[str]:
    """Check that FSx has such a kind of file system, and its throughput and caches."""
    facts = deployment.facts
    if facts is None:
        kinds = ", ".join(sorted(_kind(*key) for key in LUSTRE_FACTS))
        return [
            (
                f"'deployment' must be one of {kinds}, got {_kind(deployment.type, deployment.storage)}; "
                f"make it with a class method of LustreDeployment"
            )
        ]
    problems = _tiering_problems(deployment) if deployment.tiering else _throughput_problems(deployment)
    if not deployment.tiering and (deployment.throughput_mb_s is not None or deployment.read_cache is not None):
        problems.append(
            f"'throughput_mb_s' and 'read_cache' are for Intelligent-Tiering, got {deployment.label}; "
            f"use LustreDeployment.intelligent_tiering"
        )
    if deployment.hdd_read_cache and deployment.storage is not LustreStorage.HDD:
        problems.append(f"'hdd_read_cache' is for HDD storage, got {deployment.label}; remove it")
    return problems


def _kind(deployment_type: LustreType, storage: LustreStorage) -> str:
    return f"{deployment_type} on {storage}"


def _throughput_problems(deployment: LustreDeployment) -> list[str]:
    got, facts = deployment.throughput_mb_s_per_tib, deployment.facts
    if facts is None or unresolved(got):
        return []
    if not facts.throughput_chosen:
        return (
            [] if got is None else [f"'throughput_mb_s_per_tib' is fixed for {deployment.label}, got {got}; remove it"]
        )
    if got in facts.server_gib:
        return []
    allowed = ", ".join(str(value) for value in facts.server_gib)
    nearest = min(facts.server_gib, key=lambda value: abs(value - (got or 0)))
    return [f"'throughput_mb_s_per_tib' must be one of {allowed} for {deployment.label}, got {got}; use {nearest}"]


def _tiering_problems(deployment: LustreDeployment) -> list[str]:
    throughput, cache = deployment.throughput_mb_s, deployment.read_cache
    problems: list[str] = []
    if deployment.throughput_mb_s_per_tib is not None:
        problems.append(
            f"'throughput_mb_s_per_tib' is for SSD and HDD storage, got {deployment.throughput_mb_s_per_tib} "
            f"with {deployment.label}; use 'throughput_mb_s'"
        )
    if cache is None:
        problems.append(f"'read_cache' is required for {deployment.label}; use LustreReadCache.proportional()")
    if unresolved(throughput):
        return problems
    servers, rest = divmod(throughput or 0, TIERING_SERVER_MB_S)
    if rest or not 0 < (throughput or 0) <= TIERING_MAX_MB_S:
        nearest = min(max(servers, 1) * TIERING_SERVER_MB_S, TIERING_MAX_MB_S)
        problems.append(
            f"'throughput_mb_s' must be a multiple of {TIERING_SERVER_MB_S} up to {TIERING_MAX_MB_S}, "
            f"got {throughput}; use {nearest}"
        )
    elif cache is not None and cache.size_gib is not None and not unresolved(cache.size_gib):
        least, most = (limit * servers for limit in TIERING_CACHE_GIB)
        if not least <= cache.size_gib <= most:
            problems.append(
                f"'read_cache' must be {least} to {most} GiB for {throughput} MB/s, got {cache.size_gib}; "
                f"use LustreReadCache.gib({min(max(cache.size_gib, least), most)})"
            )
    return problems


def capacity_problems(
    deployment: LustreDeployment, capacity_gib: int | None, *, efa_enabled: bool = False
) -> list[str]:
    """Check the capacity against what is sold of this kind."""
    facts = deployment.facts
    if facts is None or unresolved(capacity_gib):
        return []
    if deployment.tiering:
        return (
            []
            if capacity_gib is None
            else [f"'capacity_gib' must not be given for {deployment.label}, got {capacity_gib}; storage is elastic"]
        )
    efa = efa_enabled and bool(facts.efa_server_gib)
    step = deployment.step_gib(efa_enabled=efa)
    partial = () if efa else facts.partial_gib
    if step is None or capacity_gib is None or capacity_gib in partial:
        return []
    if capacity_gib > 0 and capacity_gib % step == 0:
        return []
    allowed = " or ".join(
        [", ".join(map(str, partial)), f"a multiple of {step}"] if partial else [f"a multiple of {step}"]
    )
    return [
        (
            f"'capacity_gib' must be {allowed} for {_sized(deployment, efa=efa)}, "
            f"got {capacity_gib}; use {_neighbors(capacity_gib, step, partial)}"
        )
    ]


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


def metadata_problems(deployment: LustreDeployment, metadata_iops: int | None, lustre_version: str) -> list[str]:
    """Check the provisioned metadata IOPS."""
    facts = deployment.facts
    if facts is None or metadata_iops is None or unresolved(metadata_iops):
        return []
    if not facts.metadata_iops:
        return [
            (
                f"'metadata_iops' is for PERSISTENT_2 file systems, got {metadata_iops} with {deployment.label}; "
                f"remove it or use LustreDeployment.persistent_2"
            )
        ]
    problems: list[str] = []
    if not unresolved(lustre_version) and lustre_version != METADATA_VERSION:
        problems.append(
            f"'metadata_iops' needs Lustre {METADATA_VERSION}, got 'lustre_version' {lustre_version}; "
            f"remove one of the two"
        )
    if metadata_iops not in facts.metadata_iops:
        nearest = min(facts.metadata_iops, key=lambda iops: abs(iops - metadata_iops))
        allowed = "6000 or 12000" if deployment.tiering else "1500, 3000, 6000 or a multiple of 12000 up to 192000"
        problems.append(f"'metadata_iops' must be {allowed}, got {metadata_iops}; use {nearest}")
    return problems


def version_problems(deployment: LustreDeployment, lustre_version: str) -> list[str]:
    """Check the Lustre version."""
    facts = deployment.facts
    if facts is None or unresolved(lustre_version) or lustre_version in facts.versions:
        return []
    return [
        (
            f"'lustre_version' must be one of {', '.join(facts.versions)} for {deployment.label}, "
            f"got {lustre_version!r}{did_you_mean(lustre_version, facts.versions)}"
        )
    ]


def efa_problems(deployment: LustreDeployment, lustre_version: str, *, efa_enabled: bool) -> list[str]:
    """Check the conditions of EFA: the kind, and the version that has a metadata configuration."""
    if not efa_enabled:
        return []
    problems: list[str] = []
    if deployment.facts is not None and deployment.type is not LustreType.PERSISTENT_2:
        problems.append(
            f"'efa_enabled' needs a PERSISTENT_2 file system, got {deployment.label}; "
            f"use LustreDeployment.persistent_2 or .intelligent_tiering"
        )
    if not unresolved(lustre_version) and lustre_version != METADATA_VERSION:
        problems.append(
            f"'efa_enabled' needs a metadata configuration and so Lustre {METADATA_VERSION}, "
            f"got 'lustre_version' {lustre_version}; remove 'lustre_version'"
        )
    return problems


def backup_problems(deployment: LustreDeployment, backups: LustreBackups | None, *, linked: bool) -> list[str]:
    """Check the automatic backups: only of persistent file systems that are not linked to S3."""
    if backups is None:
        return []
    problems: list[str] = []
    days = backups.retention_days
    if not unresolved(days):
        if not 0 <= days <= MAX_BACKUP_DAYS:
            problems.append(f"'backups' must be kept 0 to {MAX_BACKUP_DAYS} days, got {days}; use {MAX_BACKUP_DAYS}")
        if days and deployment.facts is not None and not deployment.facts.persistent:
            problems.append(
                f"'backups' are for persistent file systems, got {days} days with {deployment.label}; "
                f"remove them or use LustreDeployment.persistent_2"
            )
        if days and linked:
            problems.append(
                f"'backups' cannot be taken of a file system with 'data_repositories', got {days} days; "
                f"remove one of the two: S3 holds the data"
            )
    return problems + _clock_problems("backups", backups.hour or 0, backups.minute)


def maintenance_problems(maintenance: MaintenanceTime | None) -> list[str]:
    """Check the weekly maintenance time."""
    return [] if maintenance is None else _clock_problems("maintenance", maintenance.hour, maintenance.minute)


def _clock_problems(keyword: str, hour: int, minute: int) -> list[str]:
    if unresolved(hour, minute) or (0 <= hour <= 23 and 0 <= minute <= 59):  # noqa: PLR2004  a clock
        return []
    return [f"'{keyword}' must start at hour 0 to 23, minute 0 to 59 (UTC), got {hour}:{minute:02}"]


def root_squash_problems(root_squash: RootSquash | None) -> list[str]:
    """Check the ids that root becomes, and the clients that are exempt."""
    if root_squash is None:
        return []
    problems: list[str] = []
    ids = (root_squash.uid, root_squash.gid)
    if not unresolved(*ids) and ids != (0, 0) and not all(1 <= number <= _MAX_ID for number in ids):
        problems.append(
            f"'root_squash' must have a uid and a gid of 1 to {_MAX_ID}, got {root_squash.text}; "
            f"use RootSquash.disabled() to switch it off"
        )
    if len(root_squash.no_squash_nids) > _MAX_NIDS:
        problems.append(
            f"'root_squash' exempts at most {_MAX_NIDS} clients, got {len(root_squash.no_squash_nids)}; "
            f"use ranges, as '10.1.[2-10].[1-255]@tcp'"
        )
    problems += [
        f"'root_squash' exempts clients by Lustre network id, got {nid!r}; write '10.1.0.6@tcp' or '10.1.0.[1-20]@tcp'"
        for nid in root_squash.no_squash_nids
        if not unresolved(nid) and not _NID.fullmatch(nid)
    ]
    return problems


def place_problems(*, network_given: bool, subnet_given: bool, efa_group: bool) -> list[str]:
    """Check that the file system has a subnet to stand in, and a group whose members all reach each other."""
    problems: list[str] = []
    if not network_given and not subnet_given:
        problems.append("'network' or 'subnet' is required: a file system stands in one subnet, that of the nodes")
    if not efa_group:
        problems.append(
            "'security_group' must be an EfaSecurityGroup: FSx refuses a group without the rules to itself; "
            "wrap yours with EfaSecurityGroup.from_security_group"
        )
    return problems


def key_problems(key_arn: str | None, region: str) -> list[str]:
    """Check that a key, where its ARN is known, lives in the region of what it encrypts."""
    if key_arn is None or unresolved(key_arn, region):
        return []
    found = _KEY_ARN.match(key_arn)
    if found is None or unresolved(found["region"]) or found["region"] == region:
        return []
    return [f"'key' must be in {region}, got {key_arn} in {found['region']}; use a key or a replica in {region}"]


def file_system_key_problems(deployment: LustreDeployment, *, key_given: bool) -> list[str]:
    """Check that the kind takes a key at all."""
    if not key_given or deployment.facts is None or deployment.facts.persistent:
        return []
    return [f"'key' is for persistent file systems, got one with {deployment.label}: FSx encrypts it itself; remove it"]


def removal_problems(removal_policy: RemovalPolicy | None) -> list[str]:
    """Check that CloudFormation can do with a file system what the policy says."""
    if removal_policy is not RemovalPolicy.SNAPSHOT:
        return []
    return ["'removal_policy' must be RETAIN, RETAIN_ON_UPDATE_OR_DELETE or DESTROY, got SNAPSHOT; use RETAIN"]


def attribute_problems(*, file_system_id: str, dns_name: str, mount_name: str) -> list[str]:
    """Check what somebody wrote down about a file system that exists."""
    checks = (
        ("file_system_id", file_system_id, _FILE_SYSTEM_ID, "fs-0123456789abcdef0"),
        ("dns_name", dns_name, _DNS_NAME, "fs-0123456789abcdef0.fsx.<region>.<suffix>"),
        ("mount_name", mount_name, _MOUNT_NAME, "1 to 8 letters, digits, '_' or '-'"),
    )
    return [
        f"'{keyword}' must look like {example}, got {value!r}; copy it from the FSx console"
        for keyword, value, pattern, example in checks
        if not unresolved(value) and not pattern.fullmatch(value)
    ]


def region_warnings(deployment: LustreDeployment, region: str, *, efa_enabled: bool) -> list[str]:
    """Say when a known region did not have the kind on the date of the facts. Regions gain kinds, so it only warns."""
    if deployment.type is not LustreType.PERSISTENT_2 or unresolved(region) or region in PERSISTENT_2_REGIONS:
        return []
    basic = deployment.throughput_mb_s_per_tib in (125, 250) and not efa_enabled
    if region in PERSISTENT_2_BASIC_REGIONS and basic:
        return []
    what = deployment.label + (" with EFA" if efa_enabled else "")
    throughput = deployment.throughput_mb_s_per_tib
    at = f" at {throughput} MB/s per TiB" if throughput else ""
    return [f"{what}{at} was not offered in {region} on {FACTS_DATE}; check the region before deploying"]
