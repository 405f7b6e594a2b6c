"""Sections as the values that constructs take. Nothing is defined here; the rules are asked with the same values."""

from typing import Any, Final

from aws_cdk import RemovalPolicy

from cdk_trainyard.deployment._section import Section
from cdk_trainyard.deployment.storage import LustreSection
from cdk_trainyard.retention import KEPT
from cdk_trainyard.storage import (
    LustreBackups,
    LustreDeployment,
    LustreReadCache,
    LustreStorage,
    LustreType,
    MaintenanceTime,
    RootSquash,
    Weekday,
)
from cdk_trainyard.storage.lustre_settings import LustreSettings


def lustre_deployment(section: LustreSection) -> LustreDeployment | None:
    """Return the kind of file system, or None when nothing is said about it."""
    tiering = section.storage is LustreStorage.INTELLIGENT_TIERING
    usual = section.deployment is LustreType.PERSISTENT_2 and section.storage is LustreStorage.SSD
    said = (section.throughput_mb_s_per_tib, section.throughput_mb_s, section.read_cache_gib)
    if usual and not any(number is not None for number in said) and not section.hdd_read_cache:
        return None
    default_throughput = LustreDeployment.intelligent_tiering().throughput_mb_s if tiering else None
    return LustreDeployment(
        type=section.deployment,
        storage=section.storage,
        throughput_mb_s_per_tib=section.throughput_mb_s_per_tib,
        throughput_mb_s=default_throughput if section.throughput_mb_s is None else section.throughput_mb_s,
        read_cache=_read_cache(section.read_cache_gib, tiering=tiering),
        hdd_read_cache=section.hdd_read_cache,
    )


def _read_cache(size_gib: int | None, *, tiering: bool) -> LustreReadCache | None:
    if size_gib is None:
        return LustreReadCache.proportional() if tiering else None
    return LustreReadCache.gib(size_gib) if size_gib else LustreReadCache.none()


def lustre_settings(section: LustreSection) -> LustreSettings:
    """Return what the rules of a file system are asked with."""
    return LustreSettings.resolve(
        deployment=lustre_deployment(section),
        lustre_version=section.lustre_version,
        capacity_gib=section.capacity_gib,
        efa_enabled=section.efa_enabled,
        metadata_iops=section.metadata_iops,
        backups=backups(section),
        compression=section.compression,
        maintenance=maintenance(section),
        removal_policy=removal_policy(section),
        linked=bool(section.data_repositories),
    )


def backups(section: LustreSection) -> LustreBackups | None:
    """Return the automatic backups."""
    said = section.backups
    return LustreBackups(retention_days=said.retention_days, hour=said.hour, minute=said.minute) if said else None


def maintenance(section: LustreSection) -> MaintenanceTime | None:
    """Return the weekly maintenance."""
    said = section.maintenance
    return MaintenanceTime(day=Weekday[said.day], hour=said.hour, minute=said.minute) if said else None


def root_squash(section: LustreSection) -> RootSquash | None:
    """Return whom root is."""
    said = section.root_squash
    return RootSquash(uid=said.uid, gid=said.gid, no_squash_nids=said.no_squash_nids) if said else None


REMOVAL: Final = {"RETAIN": KEPT, "DESTROY": RemovalPolicy.DESTROY}
"""What a file says about removal."""


def removal_policy(section: LustreSection) -> RemovalPolicy | None:
    """Return what becomes of the file system."""
    return None if section.removal_policy is None else REMOVAL[section.removal_policy]


def fields(section: Section, *, without: str = "") -> dict[str, Any]:
    """Return the fields of a section whose value has the same, one to one."""
    return {name: getattr(section, name) for name in type(section).model_fields if name != without}


def plain(value: Any) -> Any:
    """Return raw overrides as JSON values: what was read as a tuple is a list."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value
