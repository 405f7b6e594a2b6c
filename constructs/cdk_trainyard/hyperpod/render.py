"""Properties of ``AWS::SageMaker::Cluster`` from a resolved cluster. Nothing is decided here."""

from collections.abc import Callable, Sequence

from aws_cdk import aws_iam as iam
from aws_cdk.aws_sagemaker import CfnCluster

from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.mounts import storage_config
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.hyperpod.spec import SlurmConfigStrategy
from cdk_trainyard.hyperpod.spec_groups import (
    AutoPatch,
    BatchSize,
    EbsVolume,
    Lifecycle,
    RollingUpdate,
    ScheduledUpdate,
)
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.monitoring import MetricsSource
from cdk_trainyard.monitoring.series import SERIES, series_metadata
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.storage import AccountingDatabaseBase, Mount

_NODE_TYPES = {GroupRole.CONTROLLER: "Controller", GroupRole.LOGIN: "Login", GroupRole.COMPUTE: "Compute"}

SourceOf = Callable[[Lifecycle], str]
"""Tells for a lifecycle where its bundle is."""


def instance_group(
    group: ResolvedGroup,
    *,
    legacy: bool,
    role: iam.IRole,
    source_of: SourceOf,
    mounts: Sequence[Mount],
    vpc: CfnCluster.VpcConfigProperty | None,
) -> CfnCluster.ClusterInstanceGroupProperty:
    """Return one entry of ``InstanceGroups``.

    Args:
        group: The group.
        legacy: Whether the topology is a file, so that neither topology nor file systems are written here.
        role: Role that its nodes run as.
        source_of: Where its scripts are.
        mounts: Its file systems.
        vpc: Subnets and security groups of this group alone, or None.
    """
    given = group.spec
    several = bool(given.instance_types)
    names = [known.sagemaker_name for known in group.types]
    return CfnCluster.ClusterInstanceGroupProperty(
        instance_group_name=group.name,
        execution_role=role.role_arn,
        instance_count=given.count,
        min_instance_count=given.min_count,
        instance_type=None if several else names[0] if names else str(given.instance_type),
        instance_requirements=CfnCluster.InstanceRequirementsProperty(instance_types=names) if several else None,
        life_cycle_config=_life_cycle(group.lifecycle, source_of),
        threads_per_core=given.threads_per_core,
        instance_storage_configs=_storage(given.volumes, () if legacy else mounts) or None,
        on_start_deep_health_checks=[check.value for check in given.deep_health_checks] or None,
        training_plan_arn=given.training_plan_arn,
        capacity_requirements=_capacity(given.capacity),
        override_vpc_config=vpc,
        network_interface=CfnCluster.ClusterNetworkInterfaceProperty(interface_type=given.interface_type.value)
        if given.interface_type
        else None,
        image_id=None if given.image_id == limits.IMAGE_BY_DEFAULT else given.image_id,
        scheduled_update_config=_scheduled_update(given.scheduled_update),
        auto_patch_config=_auto_patch(given.auto_patch),
        slurm_config=None if legacy else _slurm(group),
    )


def orchestrator(
    cluster: ResolvedCluster, accounting: AccountingDatabaseBase | None, *, schema_name: str
) -> CfnCluster.OrchestratorProperty | None:
    """Return ``Orchestrator``; the legacy topology has none.

    Args:
        cluster: The cluster.
        accounting: The accounting database.
        schema_name: Schema of the accounting database where the database names none.
    """
    if cluster.legacy:
        return None
    strategy = None if cluster.continuous else cluster.spec.slurm_config_strategy or SlurmConfigStrategy.MERGE
    return CfnCluster.OrchestratorProperty(
        slurm=CfnCluster.ClusterOrchestratorSlurmConfigProperty(
            slurm_config_strategy=strategy and strategy.value,
            accounting_database=_database(accounting, schema_name) if accounting and cluster.continuous else None,
        )
    )


def _database(database: AccountingDatabaseBase, schema_name: str) -> CfnCluster.ClusterAccountingDatabaseProperty:
    return CfnCluster.ClusterAccountingDatabaseProperty(
        endpoint=database.endpoint,
        port=database.port,
        secret_arn=database.secret.secret_arn,
        name=database.schema_name or schema_name,
    )


def _life_cycle(lifecycle: Lifecycle, source_of: SourceOf) -> CfnCluster.ClusterLifeCycleConfigProperty | None:
    if lifecycle.script is None:
        return None
    return CfnCluster.ClusterLifeCycleConfigProperty(
        source_s3_uri=source_of(lifecycle),
        on_create=lifecycle.on_create,
        on_init_complete=lifecycle.on_init_complete,
    )


def _slurm(group: ResolvedGroup) -> CfnCluster.ClusterSlurmConfigProperty:
    return CfnCluster.ClusterSlurmConfigProperty(
        node_type=_NODE_TYPES[group.role], partition_names=None if group.partition is None else [group.partition]
    )


def _storage(
    volumes: Sequence[EbsVolume], mounts: Sequence[Mount]
) -> list[CfnCluster.ClusterInstanceStorageConfigProperty]:
    return [*map(_volume, volumes), *map(storage_config, mounts)]


def _volume(volume: EbsVolume) -> CfnCluster.ClusterInstanceStorageConfigProperty:
    return CfnCluster.ClusterInstanceStorageConfigProperty(
        ebs_volume_config=CfnCluster.ClusterEbsVolumeConfigProperty(
            root_volume=volume.root or None,
            volume_size_in_gb=volume.size_gb,
            volume_kms_key_id=volume.key.key_arn if volume.key else None,
        )
    )


def _capacity(capacity: UsageClass | None) -> CfnCluster.ClusterCapacityRequirementsProperty | None:
    # an empty object is the whole content of either kind
    match capacity:
        case UsageClass.SPOT:
            return CfnCluster.ClusterCapacityRequirementsProperty(spot={})
        case UsageClass.ON_DEMAND:
            return CfnCluster.ClusterCapacityRequirementsProperty(on_demand={})
        case _:
            return None


def _scheduled_update(scheduled: ScheduledUpdate | None) -> CfnCluster.ScheduledUpdateConfigProperty | None:
    if scheduled is None:
        return None
    return CfnCluster.ScheduledUpdateConfigProperty(
        schedule_expression=scheduled.schedule, deployment_config=_rolling(scheduled.rolling)
    )


def _auto_patch(patch: AutoPatch | None) -> CfnCluster.AutoPatchConfigProperty | None:
    if patch is None:
        return None
    return CfnCluster.AutoPatchConfigProperty(
        patching_strategy=patch.strategy.value, deployment_config=_rolling(patch.rolling)
    )


def _rolling(rolling: RollingUpdate | None) -> CfnCluster.DeploymentConfigProperty | None:
    if rolling is None:
        return None
    return CfnCluster.DeploymentConfigProperty(
        rolling_update_policy=CfnCluster.RollingUpdatePolicyProperty(
            maximum_batch_size=_batch(rolling.batch),
            rollback_maximum_batch_size=_batch(rolling.rollback_batch) if rolling.rollback_batch else None,
        ),
        wait_interval_in_seconds=rolling.wait.to_seconds() if rolling.wait else None,
        auto_rollback_configuration=[
            CfnCluster.AlarmDetailsProperty(alarm_name=alarm.alarm_name) for alarm in rolling.rollback_alarms
        ]
        or None,
    )


def _batch(batch: BatchSize) -> CfnCluster.CapacitySizeConfigProperty:
    return CfnCluster.CapacitySizeConfigProperty(type=batch.unit.value, value=batch.value)


def vpc(network: Network, security_groups: Sequence[EfaSecurityGroup]) -> CfnCluster.VpcConfigProperty:
    """Return where nodes stand.

    Args:
        network: The network, whose accelerator subnet they are in.
        security_groups: Their security groups.
    """
    return CfnCluster.VpcConfigProperty(
        subnets=[network.accelerator_subnet.subnet_id],
        security_group_ids=[group.security_group_id for group in security_groups],
    )


def override(resource: CfnCluster, cluster: ResolvedCluster) -> None:
    """Write raw overrides over what was rendered.

    Args:
        resource: The L1 cluster.
        cluster: The cluster.
    """
    for path, value in (cluster.spec.raw_overrides or {}).items():
        resource.add_property_override(path, value)
    for index, group in enumerate(cluster.groups):
        for path, value in (group.spec.raw_overrides or {}).items():
            resource.add_property_override(f"InstanceGroups.{index}.{path}", value)


def series(resource: CfnCluster, cluster: ResolvedCluster, sources: Sequence[MetricsSource]) -> None:
    """Let a cluster say how many series of metrics it gives, when they go anywhere.

    Args:
        resource: The L1 cluster.
        cluster: The cluster.
        sources: Whose metrics there are.
    """
    seconds = cluster.facts.scrape_seconds
    if sources and seconds is not None:
        groups = [(group.name, group.types) for group in cluster.groups]
        resource.add_metadata(SERIES, series_metadata(groups, sources, scrape_seconds=seconds))
