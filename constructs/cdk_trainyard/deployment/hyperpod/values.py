"""The HyperPod section as the values that the construct takes; the rules are asked with the same values."""

from collections.abc import Callable
from typing import Protocol, cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_kms as kms

from cdk_trainyard.deployment import values
from cdk_trainyard.deployment.hyperpod.section import (
    AutoPatchSection,
    BatchSection,
    GroupSection,
    HyperPodSection,
    LifecycleSection,
    RollingSection,
    ScheduledUpdateSection,
)
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


class Imports(Protocol):
    """What exists already, by its ARN."""

    def key(self, arn: str | None) -> kms.IKey | None:
        """Return a key, if one is named."""

    def alarm(self, arn: str) -> cloudwatch.IAlarm:
        """Return an alarm."""


class Presence:
    """Stands in for :class:`Imports` where a rule asks only whether something was given."""

    def key(self, arn: str | None) -> kms.IKey | None:
        """Return what is not None where a key is named."""
        return cast("kms.IKey | None", arn)

    def alarm(self, arn: str) -> cloudwatch.IAlarm:
        """Return what is not None."""
        return cast("cloudwatch.IAlarm", arn)


FindScripts = Callable[[LifecycleSection], LifecycleScripts | None]
"""Finds the bundle of a lifecycle's own folder; None when it has none, or when it is too early to ask."""


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
                key=imports.key(volume.key_arn),
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
        raw_overrides=values.plain(section.raw_overrides) or None,
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
