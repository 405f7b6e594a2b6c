"""The ``cluster:`` section with ``orchestrator: parallelcluster``."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from cdk_trainyard.deployment._section import LAX, ReservationId, ResourceGroupArn, Section, resource_id, shown
from cdk_trainyard.deployment.node_grants import NodeGrantsSection
from cdk_trainyard.deployment.parallelcluster.settings import (
    Addresses,
    IamSection,
    ImageId,
    Minutes,
    MonitoringSection,
    PolicyArn,
    RemovalPolicyName,
    SharedStorageSection,
    SlurmSection,
    Tags,
    TimeoutsSection,
)
from cdk_trainyard.parallelcluster import AllocationStrategy, OperatingSystem, VolumeType, parallelcluster_version

SubnetName = Literal["accelerator", "public", "service"]
"""Subnets by what they are in the network section."""
CapacityName = Literal["on-demand", "spot", "capacity-block"]
PlacementName = Literal["cluster", "anywhere"]

_InstanceType = Annotated[str, Field(examples=["trn1.32xlarge"])]
_Name = Annotated[str, shown(pattern=r"^[a-z][a-z0-9-]*$", maxLength=25, examples=["compute"])]
_SystemName = Annotated[str, shown(enum=[system.value for system in OperatingSystem])]
_Raw = Mapping[str, Any]


class ScriptsSection(Section):
    """The scripts that nodes run by name."""

    folder: str | None = None
    """Folder with the scripts, relative to this file. Default - the scripts that come with cdk-trainyard."""


class ActionSection(Section):
    """One script that a node runs as root."""

    script: Annotated[str, Field(examples=["neuron.sh"])]
    """A file of the folder of scripts, or an address that begins with s3:// or https://."""
    args: tuple[str, ...] = ()
    """Its arguments. Default - none."""


class RootVolumeSection(Section):
    """The disk that a node starts from; ParallelCluster encrypts it with the account's EBS key."""

    size_gib: int | None = None
    """Size in GiB, at least that of the image (45). Default - the image's."""
    type: Annotated[VolumeType, LAX] | None = None
    """Type of the volume. Default - gp3."""
    iops: int | None = None
    """Operations per second. Default - EC2's for the type."""
    throughput_mb_s: int | None = None
    """Throughput in MB/s, of gp3. Default - 125."""


class DcvSection(Section):
    """A remote desktop (Amazon DCV) on a node."""

    allowed_from: Addresses
    """Addresses that may connect, or a prefix list."""
    port: int | None = None
    """Its port. Default - 8443."""


class HeadNodeSection(Section):
    """The head node: Slurm's controller and NFS server. Most of it can never be changed; scripts of the folder can."""

    instance_type: _InstanceType
    """Its type."""
    public: bool = False
    """Whether it stands in the network's first public subnet. Default: false."""
    elastic_ip: bool | None = None
    """Whether it has a public address that stays. Default - with public, as new networks give no public addresses."""
    elastic_ip_id: Annotated[str | None, resource_id("eipalloc")] = None
    """An address that exists, for it. Default - a new one where it has one."""
    key_pair: str | None = None
    """Name of a key pair for SSH; on Ubuntu an ED25519 one. Default - none; sessions are opened by Session Manager."""
    ssh_from: Addresses | None = None
    """Addresses that may use SSH, or a prefix list. Default - nobody."""
    root_volume: RootVolumeSection | None = None
    """Its disk. Default - as large as the image."""
    scratch_at: str | None = None
    """Where its NVMe disks are mounted, for types that have them. Default - /scratch."""
    simultaneous_multithreading: bool = True
    """Whether a core runs two threads. Default: true."""
    dcv: DcvSection | None = None
    """A remote desktop. Default - none."""
    on_start: tuple[ActionSection, ...] = ()
    """What runs before anything is set up. Default - nothing."""
    on_configured: tuple[ActionSection, ...] = ()
    """What runs when the node is set up, and again after a change of it. Default - nothing."""
    on_updated: tuple[ActionSection, ...] = ()
    """What runs after every update of the cluster. Default - nothing."""
    image_id: ImageId | None = None
    """An image of yours that ParallelCluster built; never changed. Default - the cluster's."""
    policy_arns: tuple[PolicyArn, ...] = ()
    """Further policies, of the path /parallelcluster/. Default - none."""
    extra: _Raw = Field(default_factory=dict)
    """Keys of ParallelCluster's HeadNode that this file has not. Default - none."""


class LoginPoolSection(Section):
    """Equal login nodes behind one address, so that users do not work on the head node."""

    name: _Name
    """Its name."""
    instance_type: _InstanceType
    """Their type."""
    count: int = 1
    """How many. Default: 1."""
    subnet: SubnetName = "accelerator"
    """Their subnet; a public one must give public addresses by itself, which those of new networks do not.
    Default: accelerator."""
    ssh_from: Addresses | None = None
    """Addresses that may use SSH. Default - the head node's."""
    grace_minutes: Minutes | None = None
    """How long users are warned before a node goes, 3 to 120. Default - 10 minutes."""
    dcv: DcvSection | None = None
    """A remote desktop. Default - none."""
    on_start: tuple[ActionSection, ...] = ()
    """What runs before anything is set up. Default - nothing."""
    on_configured: tuple[ActionSection, ...] = ()
    """What runs when a node is set up. Default - nothing."""
    on_updated: tuple[ActionSection, ...] = ()
    """What runs after every update of the cluster. Default - nothing."""
    image_id: ImageId | None = None
    """An image of yours that ParallelCluster built. Default - the cluster's."""
    policy_arns: tuple[PolicyArn, ...] = ()
    """Further policies, of the path /parallelcluster/. Default - none."""
    extra: _Raw = Field(default_factory=dict)
    """Keys of ParallelCluster's LoginNodes/Pools that this file has not. Default - none."""


class ComputeSection(Section):
    """Equal nodes of a queue."""

    instance_type: _InstanceType | None = None
    """Their type. Default - instance_types is given instead."""
    instance_types: tuple[_InstanceType, ...] = ()
    """Several types that are alike in cores and accelerators; EC2 takes what it has.
    Default - instance_type is given."""
    name: _Name | None = None
    """Its name in node names. Default - the first type, its dot a hyphen."""
    min_count: int | None = None
    """Nodes that are always there; the head node waits for them, so begin with 0 and raise it when the cluster stands.
    Default - 0; on a capacity block max_count."""
    max_count: int = 10
    """Nodes at most. Default: 10."""
    efa: bool | None = None
    """Whether nodes have EFA interfaces. Default - where there are accelerators and every type has EFA."""
    spot_price: float | None = None
    """Most that is paid per hour, in USD; capacity spot only. Default - the on-demand price."""
    simultaneous_multithreading: bool = True
    """Whether a core runs two threads. Default: true."""
    reservation_id: ReservationId | None = None
    """A capacity reservation or capacity block of its own. Default - the queue's."""
    reservation_group_arn: ResourceGroupArn | None = None
    """A resource group of reservations instead. Default - the queue's."""
    placement: PlacementName | None = None
    """Its own placement. Default - the queue's."""
    schedulable_memory_mib: int | None = None
    """Memory that Slurm gives to jobs, in MiB. Default - 95 percent of the type's."""
    gpu_health_check: bool | None = None
    """Whether GPUs are tested before a job starts. Default - the queue's."""
    static_node_priority: int | None = None
    """Slurm's weight of nodes that are always there; lower first. Default - 1."""
    dynamic_node_priority: int | None = None
    """Slurm's weight of nodes that come and go. Default - 1000."""
    slurm: _Raw = Field(default_factory=dict)
    """Further parameters of the nodes in slurm.conf. Default - none."""
    tags: Tags = Field(default_factory=dict)
    """Tags of its instances and volumes. Default - none."""
    extra: _Raw = Field(default_factory=dict)
    """Keys of ParallelCluster's ComputeResources that this file has not. Default - none."""


class QueueSection(Section):
    """A queue of Slurm, which Slurm calls a partition."""

    name: _Name
    """Its name. Another name is another queue."""
    compute: tuple[ComputeSection, ...]
    """The kinds of nodes in it."""
    capacity: CapacityName = "on-demand"
    """Where its instances come from. Default: on-demand."""
    reservation_id: ReservationId | None = None
    """The capacity reservation, or with capacity-block the capacity block. Default - none."""
    reservation_group_arn: ResourceGroupArn | None = None
    """A resource group of reservations instead. Default - none."""
    allocation: Annotated[AllocationStrategy, LAX] | None = None
    """Which of several instance_types is tried first. Default - the cheapest."""
    placement: PlacementName | None = None
    """Whether its nodes are close together, in a placement group (cluster), or not (anywhere); must be said where nodes
    have EFA. Default - anywhere for reserved capacity, and without EFA."""
    subnets: tuple[SubnetName, ...] = ()
    """Its subnets; several only for compute with instance_types. Default - accelerator."""
    public_ip: bool | None = None
    """Whether nodes get a public address; only in a public subnet. Default - as the subnet says."""
    exclusive: bool | None = None
    """Whether every job has its nodes for itself. Default - for Trainium and Inferentia, which cannot be shared out."""
    root_volume: RootVolumeSection | None = None
    """The disk of its nodes. Default - as large as the image."""
    scratch_at: str | None = None
    """Where NVMe disks of its nodes are mounted. Default - /scratch."""
    on_start: tuple[ActionSection, ...] = ()
    """What runs before a node is set up. Default - nothing."""
    on_configured: tuple[ActionSection, ...] = ()
    """What runs when a node is set up. Default - nothing."""
    image_id: ImageId | None = None
    """An image of yours that ParallelCluster built; may change. Default - the cluster's."""
    gpu_health_check: bool | None = None
    """Whether GPUs are tested before a job starts. Default - no."""
    policy_arns: tuple[PolicyArn, ...] = ()
    """Further policies, of the path /parallelcluster/. Default - none."""
    slurm: _Raw = Field(default_factory=dict)
    """Further parameters of the partition in slurm.conf. Default - none."""
    tags: Tags = Field(default_factory=dict)
    """Tags of its instances and volumes. Default - none."""
    extra: _Raw = Field(default_factory=dict)
    """Keys of ParallelCluster's SlurmQueues that this file has not. Default - none."""


class ParallelClusterSection(NodeGrantsSection):
    """A cluster of AWS ParallelCluster: Slurm, a head node, and queues of nodes that come and go."""

    head_node: HeadNodeSection
    """The head node."""
    queues: tuple[QueueSection, ...]
    """The queues, one to 50."""
    login_pools: tuple[LoginPoolSection, ...] = ()
    """Login nodes. Default - none; users log in to the head node."""
    storage: SharedStorageSection = SharedStorageSection()
    """Shared directories beside the file system of the file's own storage section.
    Default - /home of the head node alone."""
    operating_system: _SystemName = OperatingSystem.ALINUX2023.value
    """Operating system of every node; Rocky Linux needs an image of yours. Default: alinux2023."""
    image_id: ImageId | None = None
    """An image of yours that ParallelCluster built, for every node; cannot be changed. Default - ParallelCluster's."""
    cluster_name: str | None = None
    """Its name; another name is another cluster. Default - a unique name made of the stack's."""
    version: Annotated[str | None, Field(examples=[parallelcluster_version()])] = None
    """Version of ParallelCluster; never changed, a new version is a new cluster. Default - the one whose rules are
    checked here."""
    scripts: ScriptsSection = ScriptsSection()
    """The scripts that nodes run by name. Default - those that come with cdk-trainyard."""
    slurm: SlurmSection = SlurmSection()
    """Settings of Slurm. Default - as each says."""
    monitoring: MonitoringSection = MonitoringSection()
    """What it tells about itself. Default - as each says."""
    iam: IamSection = IamSection()
    """Limits of the roles that ParallelCluster makes. Default - none."""
    timeouts: TimeoutsSection = TimeoutsSection()
    """How long nodes may take to come up. Default - as each says."""
    tags: Tags = Field(default_factory=dict)
    """Tags of everything that ParallelCluster makes, beside the file's own. Default - none."""
    suppress_validators: tuple[str, ...] = ()
    """Checks of ParallelCluster to leave out when it makes the cluster, as type:HeadNodeMemorySizeValidator, or ALL.
    Default - none."""
    removal_policy: RemovalPolicyName = "DESTROY"
    """What becomes of the cluster when it leaves the deployment. Default: DESTROY."""
    extra: _Raw = Field(default_factory=dict)
    """Keys of ParallelCluster's configuration that this file has not; checked against its schema. Default - none."""
