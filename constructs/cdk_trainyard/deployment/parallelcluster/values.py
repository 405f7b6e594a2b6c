"""Sections as the values that a ParallelCluster takes; the rules are asked with the same values. Nothing is defined."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.parallelcluster.section import (
    ActionSection,
    ComputeSection,
    DcvSection,
    HeadNodeSection,
    LoginPoolSection,
    ParallelClusterSection,
    PlacementName,
    QueueSection,
    RootVolumeSection,
    SubnetName,
)
from cdk_trainyard.deployment.parallelcluster.settings import (
    EbsSection,
    EfsSection,
    IamSection,
    MonitoringSection,
    SharedStorageSection,
    SlurmAccountingSection,
    SlurmSection,
    TimeoutsSection,
)
from cdk_trainyard.deployment.values import fields, plain
from cdk_trainyard.parallelcluster import (
    CapacityType,
    ClusterIam,
    ClusterMonitoring,
    ComputeResource,
    CustomAction,
    Dcv,
    HeadNode,
    LoginPool,
    Placement,
    Queue,
    QueueCapacity,
    Reservation,
    RootVolume,
    SharedEbs,
    SharedEfs,
    SharedLustre,
    SharedOntap,
    SharedOpenZfs,
    SlurmAccounting,
    SlurmSettings,
    Timeouts,
)
from cdk_trainyard.storage import AccountingDatabaseBase, Lustre

SharedStorage = SharedEbs | SharedEfs | SharedLustre | SharedOpenZfs | SharedOntap
_CAPACITY: Final = {
    "on-demand": CapacityType.ON_DEMAND,
    "spot": CapacityType.SPOT,
    "capacity-block": CapacityType.CAPACITY_BLOCK,
}


class Surroundings(Protocol):
    """What the sections refer to: things that exist, subnets of the network, and files of the scripts folder."""

    def key(self, arn: str | None) -> kms.IKey | None:
        """Return a key, if one is named."""

    def policy(self, arn: str) -> iam.IManagedPolicy:
        """Return a managed policy."""

    def role(self, arn: str) -> iam.IRole:
        """Return a role."""

    def secret(self, arn: str) -> secretsmanager.ISecret:
        """Return a secret."""

    def key_pair(self, name: str) -> ec2.IKeyPair:
        """Return a key pair."""

    def file_system(self, file_system_id: str, security_group_id: str) -> efs.IFileSystem:
        """Return an EFS file system."""

    def database(self, security_group_id: str, port: int) -> ec2.IConnectable:
        """Return a database as something that can be connected to."""

    def new_database(self, section: AccountingSection) -> AccountingDatabaseBase:
        """Return a database of the deployment's own."""

    def subnets(self, name: SubnetName) -> Sequence[ec2.ISubnet]:
        """Return the subnets of a kind."""

    def run(self, script: str, args: Sequence[str]) -> CustomAction:
        """Return the action that runs a file of the scripts folder."""


# ---------------------------------------------------------------- nodes
def head_node(section: HeadNodeSection, around: Surroundings) -> HeadNode:
    """Return the head node.

    Args:
        section: What the file says.
        around: What it refers to.
    """
    return HeadNode(
        instance_type=section.instance_type,
        public=section.public,
        elastic_ip=section.elastic_ip_id or section.elastic_ip,
        key_pair=None if section.key_pair is None else around.key_pair(section.key_pair),
        ssh_from=section.ssh_from,
        root_volume=_root_volume(section.root_volume),
        scratch_at=section.scratch_at,
        simultaneous_multithreading=section.simultaneous_multithreading,
        dcv=_dcv(section.dcv),
        on_start=_actions(section.on_start, around),
        on_configured=_actions(section.on_configured, around),
        on_updated=_actions(section.on_updated, around),
        image_id=section.image_id,
        policies=_policies(section.policy_arns, around),
        extra=plain(section.extra) or None,
    )


def login_pool(section: LoginPoolSection, around: Surroundings) -> LoginPool:
    """Return one pool of login nodes.

    Args:
        section: What the file says.
        around: What it refers to.
    """
    elsewhere = around.subnets(section.subnet) if section.subnet != "accelerator" else ()
    return LoginPool(
        name=section.name,
        instance_type=section.instance_type,
        count=section.count,
        subnet=elsewhere[0] if elsewhere else None,
        ssh_from=section.ssh_from,
        grace_period=_minutes(section.grace_minutes),
        dcv=_dcv(section.dcv),
        on_start=_actions(section.on_start, around),
        on_configured=_actions(section.on_configured, around),
        on_updated=_actions(section.on_updated, around),
        image_id=section.image_id,
        policies=_policies(section.policy_arns, around),
        extra=plain(section.extra) or None,
    )


def queue(section: QueueSection, around: Surroundings) -> Queue:
    """Return one queue.

    Args:
        section: What the file says.
        around: What it refers to.
    """
    return Queue(
        name=section.name,
        compute=[_compute(compute) for compute in section.compute],
        capacity=QueueCapacity(
            type=_CAPACITY[section.capacity], reservation=_reservation(section), allocation=section.allocation
        ),
        placement=_placement(section.placement),
        subnets=[subnet for name in section.subnets for subnet in around.subnets(name)],
        public_ip=section.public_ip,
        exclusive=section.exclusive,
        root_volume=_root_volume(section.root_volume),
        scratch_at=section.scratch_at,
        on_start=_actions(section.on_start, around),
        on_configured=_actions(section.on_configured, around),
        image_id=section.image_id,
        gpu_health_check=section.gpu_health_check,
        policies=_policies(section.policy_arns, around),
        slurm=plain(section.slurm) or None,
        tags=section.tags or None,
        extra=plain(section.extra) or None,
    )


def _compute(section: ComputeSection) -> ComputeResource:
    return ComputeResource(
        instance_type=section.instance_type,
        instance_types=section.instance_types,
        name=section.name,
        min_count=section.min_count,
        max_count=section.max_count,
        efa=section.efa,
        spot_price=section.spot_price,
        simultaneous_multithreading=section.simultaneous_multithreading,
        reservation=_reservation(section),
        placement=_placement(section.placement),
        schedulable_memory_mib=section.schedulable_memory_mib,
        gpu_health_check=section.gpu_health_check,
        static_node_priority=section.static_node_priority,
        dynamic_node_priority=section.dynamic_node_priority,
        slurm=plain(section.slurm) or None,
        tags=section.tags or None,
        extra=plain(section.extra) or None,
    )


def _reservation(section: QueueSection | ComputeSection) -> Reservation | None:
    if section.reservation_id is None and section.reservation_group_arn is None:
        return None
    return Reservation(reservation_id=section.reservation_id, group_arn=section.reservation_group_arn)


def _placement(name: PlacementName | None) -> Placement | None:
    if name is None:
        return None
    return Placement.cluster() if name == "cluster" else Placement.anywhere()


def _root_volume(section: RootVolumeSection | None) -> RootVolume | None:
    return RootVolume(**fields(section)) if section else None


def _dcv(section: DcvSection | None) -> Dcv | None:
    return Dcv(**fields(section)) if section else None


def _actions(sections: Iterable[ActionSection], around: Surroundings) -> tuple[CustomAction, ...]:
    return tuple(_action(section, around) for section in sections)


def _action(section: ActionSection, around: Surroundings) -> CustomAction:
    if "/" in section.script:  # a file of the folder stands at its top
        return CustomAction.from_url(section.script, *section.args)
    return around.run(section.script, section.args)


def _policies(arns: Iterable[str], around: Surroundings) -> tuple[iam.IManagedPolicy, ...]:
    return tuple(around.policy(arn) for arn in arns)


# ---------------------------------------------------------------- shared directories
def shared_storage(
    section: SharedStorageSection, around: Surroundings, lustre: Mapping[str, Lustre]
) -> tuple[SharedStorage, ...]:
    """Return every shared directory, the deployment's own file system first.

    Args:
        section: What the file says.
        around: What it refers to.
        lustre: The deployment's own file system, by where it is mounted.
    """
    return (
        *(SharedLustre(at=at, file_system=file_system) for at, file_system in lustre.items()),
        *(_ebs(ebs, around) for ebs in section.ebs),
        *(_efs(one, around) for one in section.efs),
        *(SharedOpenZfs(at=one.at, volume_id=one.volume_id, name=one.name) for one in section.openzfs),
        *(SharedOntap(at=one.at, volume_id=one.volume_id, name=one.name) for one in section.ontap),
    )


def _ebs(section: EbsSection, around: Surroundings) -> SharedEbs:
    return SharedEbs(**fields(section, without="key_arn"), key=around.key(section.key_arn))


def _efs(section: EfsSection, around: Surroundings) -> SharedEfs:
    existing, group = section.file_system_id, section.security_group_id
    return SharedEfs(
        at=section.at,
        name=section.name,
        file_system=around.file_system(existing, group) if existing and group else None,
        key=around.key(section.key_arn),
        deletion=section.deletion,
    )


# ---------------------------------------------------------------- the cluster
def slurm(section: SlurmSection, around: Surroundings) -> SlurmSettings:
    """Return the settings of Slurm.

    Args:
        section: What the file says.
        around: What it refers to.
    """
    return SlurmSettings(
        update_strategy=section.update_strategy,
        idle_time=_minutes(section.idle_minutes),
        memory_scheduling=section.memory_scheduling,
        scaling=section.scaling,
        accounting=_accounting(section.accounting, around) if section.accounting else None,
        custom=plain(section.custom),
        managed_dns=section.managed_dns,
    )


def _accounting(section: AccountingSection | SlurmAccountingSection, around: Surroundings) -> SlurmAccounting:
    if isinstance(section, AccountingSection):
        return SlurmAccounting.of(around.new_database(section))
    group = section.security_group_id
    return SlurmAccounting(
        endpoint=section.endpoint,
        user_name=section.user_name,
        password=around.secret(section.password_secret_arn),
        port=section.port,
        schema_name=section.schema_name,
        connections=around.database(group, section.port) if group else None,
    )


def monitoring(section: MonitoringSection) -> ClusterMonitoring:
    """Return what the cluster tells about itself.

    Args:
        section: What the file says.
    """
    return ClusterMonitoring(**fields(section))


def cluster_iam(section: IamSection, around: Surroundings) -> ClusterIam:
    """Return the limits of its roles.

    Args:
        section: What the file says.
        around: What it refers to.
    """
    boundary, role = section.permissions_boundary_arn, section.lambda_role_arn
    return ClusterIam(
        permissions_boundary=around.policy(boundary) if boundary else None,
        resource_prefix=section.resource_prefix,
        lambda_role=around.role(role) if role else None,
    )


def timeouts(section: TimeoutsSection) -> Timeouts:
    """Return how long nodes may take to come up.

    Args:
        section: What the file says.
    """
    return Timeouts(head_node=_minutes(section.head_node_minutes), compute_node=_minutes(section.compute_node_minutes))


def tags(section: ParallelClusterSection, common: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of all that ParallelCluster makes.

    Args:
        section: What the file says of the cluster.
        common: The tags of the whole deployment.
    """
    return {**common, **section.tags}


def _minutes(number: int | None) -> Duration | None:
    return None if number is None else Duration.minutes(number)
