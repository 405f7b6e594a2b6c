"""Values to the properties of ``AWS::SageMaker::Cluster``. Nothing is decided here."""

from collections.abc import Callable

from aws_cdk import aws_iam as iam
from aws_cdk.aws_sagemaker import CfnCluster

from cdk_trainyard.hyperpod.capacity import Capacity, CapacityKind
from cdk_trainyard.hyperpod.lifecycle_mode import Lifecycle, LifecycleTrigger
from cdk_trainyard.hyperpod.mounts import storage_config
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.hyperpod.topology import ApiTopology, SlurmConfigStrategy
from cdk_trainyard.hyperpod.updates import AutoPatch, BatchSize, RollingUpdate, ScheduledUpdate
from cdk_trainyard.hyperpod.volumes import EbsVolume
from cdk_trainyard.lifecycle import GroupRole
from cdk_trainyard.storage import AccountingDatabaseBase

_NODE_TYPES = {GroupRole.CONTROLLER: "Controller", GroupRole.LOGIN: "Login", GroupRole.COMPUTE: "Compute"}

ScriptOf = Callable[[Lifecycle], tuple[str, str]]
"""Tells for a lifecycle where its bundle is and which file runs."""


def instance_group(
    group: ResolvedGroup,
    *,
    legacy: bool,
    role: iam.IRole,
    script_of: ScriptOf,
    vpc: CfnCluster.VpcConfigProperty | None,
) -> CfnCluster.ClusterInstanceGroupProperty:
    """Return one entry of ``InstanceGroups``.

    Args:
        group: The group.
        legacy: Whether the topology is a file, so that neither topology nor file systems are written here.
        role: Role that its nodes run as.
        script_of: Where its scripts are.
        vpc: Subnets and security groups of this group alone, or None.
    """
    given = group.given
    several = bool(given.instance_types)
    names = [known.sagemaker_name for known in group.types]
    return CfnCluster.ClusterInstanceGroupProperty(
        instance_group_name=group.name,
        execution_role=role.role_arn,
        instance_count=given.count,
        min_instance_count=given.min_count,
        instance_type=None if several else names[0] if names else str(given.instance_type),
        instance_requirements=CfnCluster.InstanceRequirementsProperty(instance_types=names) if several else None,
        life_cycle_config=_life_cycle(group.lifecycle, script_of),
        threads_per_core=given.threads_per_core,
        instance_storage_configs=_storage(group, legacy=legacy) or None,
        on_start_deep_health_checks=[check.value for check in given.deep_health_checks] or None,
        training_plan_arn=given.capacity.training_plan_arn if given.capacity else None,
        capacity_requirements=_capacity(given.capacity),
        override_vpc_config=vpc,
        network_interface=CfnCluster.ClusterNetworkInterfaceProperty(interface_type=given.interface_type.value)
        if given.interface_type
        else None,
        image_id=given.image_id,
        scheduled_update_config=_scheduled_update(given.scheduled_update),
        auto_patch_config=_auto_patch(given.auto_patch),
        slurm_config=None if legacy else _slurm(group),
    )


def orchestrator(cluster: ResolvedCluster, *, schema_name: str) -> CfnCluster.OrchestratorProperty | None:
    """Return ``Orchestrator``; the legacy topology has none.

    Args:
        cluster: The cluster.
        schema_name: Schema of the accounting database where the database names none.
    """
    if not isinstance(cluster.topology, ApiTopology):
        return None
    strategy = None if cluster.continuous else cluster.topology.strategy or SlurmConfigStrategy.MERGE
    return CfnCluster.OrchestratorProperty(
        slurm=CfnCluster.ClusterOrchestratorSlurmConfigProperty(
            slurm_config_strategy=strategy and strategy.value,
            accounting_database=_database(cluster.accounting, schema_name)
            if cluster.accounting and cluster.continuous
            else None,
        )
    )


def _database(database: AccountingDatabaseBase, schema_name: str) -> CfnCluster.ClusterAccountingDatabaseProperty:
    return CfnCluster.ClusterAccountingDatabaseProperty(
        endpoint=database.endpoint,
        port=database.port,
        secret_arn=database.secret.secret_arn,
        name=database.schema_name or schema_name,
    )


def _life_cycle(lifecycle: Lifecycle, script_of: ScriptOf) -> CfnCluster.ClusterLifeCycleConfigProperty | None:
    if not lifecycle.runs_scripts:
        return None
    source, file = script_of(lifecycle)
    on_create = lifecycle.trigger is LifecycleTrigger.ON_CREATE
    return CfnCluster.ClusterLifeCycleConfigProperty(
        source_s3_uri=source, on_create=file if on_create else None, on_init_complete=None if on_create else file
    )


def _slurm(group: ResolvedGroup) -> CfnCluster.ClusterSlurmConfigProperty:
    return CfnCluster.ClusterSlurmConfigProperty(
        node_type=_NODE_TYPES[group.role], partition_names=None if group.partition is None else [group.partition]
    )


def _storage(group: ResolvedGroup, *, legacy: bool) -> list[CfnCluster.ClusterInstanceStorageConfigProperty]:
    volumes = [_volume(volume) for volume in group.given.volumes]
    return volumes if legacy else [*volumes, *(storage_config(mount) for mount in group.mounts)]


def _volume(volume: EbsVolume) -> CfnCluster.ClusterInstanceStorageConfigProperty:
    return CfnCluster.ClusterInstanceStorageConfigProperty(
        ebs_volume_config=CfnCluster.ClusterEbsVolumeConfigProperty(
            root_volume=volume.root or None,
            volume_size_in_gb=volume.size_gb,
            volume_kms_key_id=volume.key.key_arn if volume.key else None,
        )
    )


def _capacity(capacity: Capacity | None) -> CfnCluster.ClusterCapacityRequirementsProperty | None:
    # an empty object is the whole content of either kind
    match capacity:
        case Capacity(kind=CapacityKind.SPOT):
            return CfnCluster.ClusterCapacityRequirementsProperty(spot={})
        case Capacity(kind=CapacityKind.ON_DEMAND):
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
