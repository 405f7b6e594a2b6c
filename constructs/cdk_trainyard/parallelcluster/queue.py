"""Queues, and the kinds of nodes in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.parallelcluster.capacity import Placement, QueueCapacity, Reservation
from cdk_trainyard.parallelcluster.nodes import RootVolume
from cdk_trainyard.parallelcluster.scripts import CustomAction

SlurmValues = Mapping[str, str | int | float | bool]
"""Parameters of Slurm by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComputeResource:
    """Equal nodes of a queue.

    Attributes:
        instance_type: Their type, as ``"trn1.32xlarge"``.
        instance_types: Instead of one, several types that are alike in cores and accelerators; EC2 takes what it has.
        name: Its name in node names: lower case letters, digits and hyphens, at most 25.
            Default - the first type, its dot a hyphen.
        min_count: Nodes that are always there. Default: 0. In a capacity block: ``max_count``.
        max_count: Nodes at most. Default: 10.
        efa: Whether nodes have EFA interfaces. Default - where there are accelerators and every type has EFA.
        spot_price: Most that is paid per hour, in USD; Spot only. Default - the on-demand price.
        simultaneous_multithreading: Whether a core runs two threads. Default: True.
        reservation: Its own reservation. Default - the queue's.
        placement: Its own placement. Default - the queue's.
        schedulable_memory_mib: Memory that Slurm gives to jobs, in MiB. Default - 95 percent of the type's.
        gpu_health_check: Whether GPUs are tested before a job starts. Default - the queue's.
        static_node_priority: Slurm's weight of nodes that are always there; lower first. Default - 1.
        dynamic_node_priority: Slurm's weight of nodes that come and go. Default - 1000.
        slurm: Further parameters of the nodes. Default - none.
        tags: Tags of its instances and volumes. Default - none.
        extra: Keys of ParallelCluster's ``ComputeResources`` that have no keyword here. Default - none.
    """

    instance_type: str | InstanceType | None = None
    instance_types: Sequence[str | InstanceType] = ()
    name: str | None = None
    min_count: int | None = None
    max_count: int = 10
    efa: bool | None = None
    spot_price: float | None = None
    simultaneous_multithreading: bool = True
    reservation: Reservation | None = None
    placement: Placement | None = None
    schedulable_memory_mib: int | None = None
    gpu_health_check: bool | None = None
    static_node_priority: int | None = None
    dynamic_node_priority: int | None = None
    slurm: SlurmValues | None = None
    tags: Mapping[str, str] | None = None
    extra: JsonObject | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """A queue of Slurm, which Slurm calls a partition.

    Attributes:
        name: Its name: lower case letters, digits and hyphens, at most 25. Another name is another queue.
        compute: The kinds of nodes in it.
        capacity: Where its instances come from. Default - on demand.
        placement: Whether its nodes are close together; must be said where nodes have EFA.
            Default - nowhere in particular for a reservation or capacity block, and without EFA.
        subnets: Its subnets; several only for compute resources with several types. Default - the accelerator subnet.
        public_ip: Whether nodes get a public address; only in a public subnet. Default - as the subnet says: the public
            ones of ``TrainingNetwork`` give none by themselves.
        exclusive: Whether every job has its nodes for itself.
            Default - for Trainium and Inferentia, which Slurm cannot share out under ParallelCluster.
        root_volume: The disk of its nodes. Default - as large as the image.
        scratch_at: Where NVMe disks of its nodes are mounted. Default - ``/scratch``.
        on_start: What runs before a node is set up. Default - nothing.
        on_configured: What runs when a node is set up. Default - nothing.
        image_id: An image of yours that ParallelCluster built; may change. Default - the cluster's.
        gpu_health_check: Whether GPUs are tested before a job starts. Default - no.
        policies: Further policies of its nodes. Default - none.
        slurm: Further parameters of the partition. Default - none.
        tags: Tags of its instances and volumes. Default - none.
        extra: Keys of ParallelCluster's ``SlurmQueues`` that have no keyword here. Default - none.
    """

    name: str
    compute: Sequence[ComputeResource]
    capacity: QueueCapacity | None = None
    placement: Placement | None = None
    subnets: Sequence[ec2.ISubnet] = ()
    public_ip: bool | None = None
    exclusive: bool | None = None
    root_volume: RootVolume | None = None
    scratch_at: str | None = None
    on_start: Sequence[CustomAction] = ()
    on_configured: Sequence[CustomAction] = ()
    image_id: str | None = None
    gpu_health_check: bool | None = None
    policies: Sequence[iam.IManagedPolicy] = ()
    slurm: SlurmValues | None = None
    tags: Mapping[str, str] | None = None
    extra: JsonObject | None = None
