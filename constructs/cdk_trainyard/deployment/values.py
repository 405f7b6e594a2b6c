"""Sections as the values that constructs take. Nothing is defined here; the rules are asked with the same values."""

from collections.abc import Callable
from typing import Any, Protocol, cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_kms as kms

from cdk_trainyard.deployment.hyperpod import (
    AutoPatchSection,
    BatchSection,
    GroupSection,
    HyperPodSection,
    LifecycleSection,
    RollingSection,
    ScheduledUpdateSection,
)
from cdk_trainyard.deployment.storage import LustreSection
from cdk_trainyard.hyperpod import (
    ApiTopology,
    AutoPatch,
    BatchSize,
    Capacity,
    CapacityKind,
    EbsVolume,
    InstanceGroup,
    LegacyTopology,
    Lifecycle,
    LifecycleTrigger,
    RollingUpdate,
    ScheduledUpdate,
)
from cdk_trainyard.lifecycle import LifecycleScripts, SlurmTopology
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


class Imports(Protocol):
    """What exists already, by its ARN."""

    def key(self, arn: str) -> kms.IKey:
        """Return a key."""

    def alarm(self, arn: str) -> cloudwatch.IAlarm:
        """Return an alarm."""


class Presence:
    """Stands in for :class:`Imports` where a rule asks only whether something was given."""

    def key(self, arn: str) -> kms.IKey:
        """Return what is not None."""
        return cast("kms.IKey", arn)

    def alarm(self, arn: str) -> cloudwatch.IAlarm:
        """Return what is not None."""
        return cast("cloudwatch.IAlarm", arn)


FindScripts = Callable[[LifecycleSection], LifecycleScripts | None]
"""Finds the bundle of a lifecycle's own folder; None when it has none, or when it is too early to ask."""


# ---------------------------------------------------------------- storage
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


def removal_policy(section: LustreSection) -> RemovalPolicy | None:
    """Return what becomes of the file system."""
    return None if section.removal_policy is None else RemovalPolicy[section.removal_policy]


# ---------------------------------------------------------------- HyperPod
def topology(section: HyperPodSection) -> ApiTopology | LegacyTopology:
    """Return where the Slurm topology is written."""
    if section.topology is SlurmTopology.LEGACY:
        return LegacyTopology()
    return ApiTopology(strategy=section.slurm_config_strategy)


def lifecycle(section: LifecycleSection, find_scripts: FindScripts) -> Lifecycle:
    """Return what runs when a node starts."""
    if section.on_create is not None:
        return Lifecycle.on_create(find_scripts(section), file=section.on_create)
    if section.on_init_complete is not None:
        return Lifecycle.on_init_complete(find_scripts(section), file=section.on_init_complete)
    return Lifecycle(trigger=LifecycleTrigger.IMAGE)


def instance_group(name: str, section: GroupSection, *, imports: Imports, find_scripts: FindScripts) -> InstanceGroup:
    """Return one instance group.

    Args:
        name: Its key.
        section: What stands below it.
        imports: Keys and alarms.
        find_scripts: Bundles of lifecycles of its own.
    """
    return InstanceGroup(
        name=name,
        role=section.role,
        count=section.count,
        instance_type=section.instance_type,
        instance_types=section.instance_types,
        min_count=section.min_count,
        partition=section.partition,
        lifecycle=None if section.lifecycle is None else lifecycle(section.lifecycle, find_scripts),
        volumes=tuple(
            EbsVolume(
                size_gb=volume.size_gb,
                key=imports.key(volume.key_arn) if volume.key_arn else None,
                root=volume.root,
            )
            for volume in section.volumes
        ),
        threads_per_core=section.threads_per_core,
        capacity=_capacity(section),
        deep_health_checks=section.deep_health_checks,
        interface_type=section.interface_type,
        image_id=section.image_id,
        scheduled_update=_scheduled_update(section.scheduled_update, imports),
        auto_patch=_auto_patch(section.auto_patch, imports),
        raw_overrides=plain(section.raw_overrides) or None,
    )


def _capacity(section: GroupSection) -> Capacity | None:
    if section.training_plan_arn is None and section.capacity is None:
        return None
    kind = CapacityKind.TRAINING_PLAN if section.capacity is None else CapacityKind(section.capacity)
    return Capacity(kind=kind, training_plan_arn=section.training_plan_arn)


def _scheduled_update(section: ScheduledUpdateSection | None, imports: Imports) -> ScheduledUpdate | None:
    if section is None:
        return None
    return ScheduledUpdate(schedule=section.schedule, rolling=_rolling(section.rolling, imports))


def _auto_patch(section: AutoPatchSection | None, imports: Imports) -> AutoPatch | None:
    return AutoPatch(strategy=section.strategy, rolling=_rolling(section.rolling, imports)) if section else None


def _rolling(section: RollingSection | None, imports: Imports) -> RollingUpdate | None:
    if section is None:
        return None
    return RollingUpdate(
        batch=_batch(section.batch),
        rollback_batch=_batch(section.rollback_batch) if section.rollback_batch else None,
        wait=None if section.wait_seconds is None else Duration.seconds(section.wait_seconds),
        rollback_alarms=tuple(imports.alarm(arn) for arn in section.rollback_alarm_arns),
    )


def _batch(section: BatchSection) -> BatchSize:
    return BatchSize(unit=section.unit, value=section.value)


def plain(value: Any) -> Any:
    """Return raw overrides as JSON values: what was read as a tuple is a list."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value
