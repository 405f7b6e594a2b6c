"""What can be said of queues of a ParallelCluster, and of the kinds of nodes in them. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, nonmember
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.instances.kind import UsageClass
from cdk_trainyard.options.arns import RESERVATION_GROUP
from cdk_trainyard.options.fields import Said
from cdk_trainyard.options.kinds import Number
from cdk_trainyard.options.tags import Tags
from cdk_trainyard.options.texts import RESERVATION_ID
from cdk_trainyard.parallelcluster.spec_nodes import (
    MOST_NODES,
    InstanceTypeName,
    MountDir,
    NodeName,
    NodeSoftware,
    RawOverrides,
    RootVolume,
    SlurmParameters,
    ThreadsPerCore,
)

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2

    from cdk_trainyard.network import PlacementGroup

ResourceGroupArn = Annotated[str, replace(RESERVATION_GROUP, any_account=False)]
_Priority = Annotated[int, Number(minimum=1, maximum=4294967295)]


class AllocationStrategy(StrEnum):
    """Which type is tried first where a compute resource names several."""

    LOWEST_PRICE = "lowest-price"
    """The cheapest. What ParallelCluster does when nothing is said."""
    PRIORITIZED = "prioritized"
    """In the order of the list; on demand only."""
    CAPACITY_OPTIMIZED = "capacity-optimized"
    """The one with most spare capacity; Spot only."""
    PRICE_CAPACITY_OPTIMIZED = "price-capacity-optimized"
    """Both weighed; Spot only."""
    CAPACITY_OPTIMIZED_PRIORITIZED = "capacity-optimized-prioritized"
    """Spare capacity first, then the order of the list; Spot only."""


class Placement(StrEnum):
    """Whether instances are placed close together."""

    FORMER_VALUES = nonmember(
        {
            "true": "write cluster",
            "false": "write anywhere",
            "none": "write anywhere",
            "spread": "write anywhere: ParallelCluster makes no groups that spread",
            "partition": "write anywhere: ParallelCluster makes no groups of partitions",
        }
    )

    CLUSTER = "cluster"
    """In a cluster placement group: lowest latency, and fewer places to find capacity."""
    ANYWHERE = "anywhere"
    """Wherever there is room in the zone; also for a reservation that brings its own placement group."""


@dataclass(frozen=True, kw_only=True)  # without slots, so that a queue can have two bases
class NodeAllocation:
    """What queues and compute resources both say of where their instances come from, and of their nodes."""

    reservation_id: Annotated[str | None, RESERVATION_ID] = None
    """The capacity reservation, or with capacity-block the capacity block, ``cr-…``; the subnet must lie in its zone.
    Default - none; of a compute resource: the queue's."""
    reservation_group_arn: ResourceGroupArn | None = None
    """A resource group of reservations instead. Default - none; of a compute resource: the queue's."""
    placement: Placement | None = None
    """Whether nodes are close together, in a placement group (cluster), or not (anywhere); must be said where nodes
    have EFA. Default - anywhere for reserved capacity, and without EFA; of a compute resource: the queue's."""
    placement_group: Annotated["PlacementGroup | None", Said(None)] = None
    """A placement group that exists, with ``placement`` cluster. Default - ParallelCluster makes one for each compute
    resource."""
    gpu_health_check: bool | None = None
    """Whether GPUs are tested before a job starts. Default - no; of a compute resource: as its queue."""
    slurm: SlurmParameters | None = None
    """Further parameters in slurm.conf. Default - none."""
    tags: Tags | None = None
    """Tags of instances and volumes. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComputeResource(NodeAllocation):
    """Equal nodes of a queue."""

    instance_type: InstanceTypeName | None = None
    """Their type, as ``trn1.32xlarge``; EC2 has types whose facts are not known here, which are refused.
    Default - ``instance_types`` is given instead."""
    instance_types: Sequence[InstanceTypeName] = ()
    """Several types that are alike in cores and accelerators; EC2 takes what it has. Default - ``instance_type`` is
    given."""
    name: NodeName | None = None
    """Its name in node names. Default - the first type, its dot a hyphen."""
    min_count: Annotated[int | None, Number(minimum=0, maximum=MOST_NODES)] = None
    """Nodes that are always there; the head node waits for them, so begin with 0 and raise it when the cluster stands.
    Default - 0; on a capacity block ``max_count``."""
    max_count: Annotated[int | None, Number(minimum=1, maximum=MOST_NODES)] = None
    """Nodes at most; on a capacity block, which is bought whole, it must be said. Default - 10."""
    efa: bool | None = None
    """Whether nodes have EFA interfaces. Default - where there are accelerators and every type has EFA."""
    spot_price: Annotated[float | None, Number(minimum=0.0001, unit="USD")] = None
    """Most that is paid per hour, in USD; Spot only. Default - the on-demand price."""
    threads_per_core: ThreadsPerCore | None = None
    """Threads of a core: 1 or 2. Default - what the type has."""
    schedulable_memory_mib: Annotated[int | None, Number(minimum=1, unit="MiB")] = None
    """Memory that Slurm gives to jobs, in MiB. Default - 95 percent of the type's."""
    static_node_priority: _Priority | None = None
    """Slurm's weight of nodes that are always there; lower first. Default - 1."""
    dynamic_node_priority: _Priority | None = None
    """Slurm's weight of nodes that come and go. Default - 1000."""
    raw_overrides: RawOverrides | None = None
    """Keys of ParallelCluster's ``ComputeResources`` that have no option here. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue(NodeSoftware, NodeAllocation):
    """A queue of Slurm, which Slurm calls a partition."""

    name: NodeName
    """Its name. Another name is another queue."""
    compute: Sequence[ComputeResource]
    """The kinds of nodes in it."""
    capacity: UsageClass = UsageClass.ON_DEMAND
    """Where its instances come from. Default: on-demand."""
    allocation: AllocationStrategy | None = None
    """Which of several ``instance_types`` is tried first. Default - the cheapest."""
    subnets: Annotated["Sequence[ec2.ISubnet] | None", Said("subnets")] = None
    """Its subnets, in a file accelerator, public or service; several only for compute resources with several types.
    Default - the accelerator subnet."""
    public_ip: bool | None = None
    """Whether nodes get a public address; only in a public subnet. Default - as the subnet says: those of a new network
    give none by themselves."""
    exclusive: bool | None = None
    """Whether every job has its nodes for itself. Default - for Trainium and Inferentia, which Slurm cannot share out
    under ParallelCluster."""
    root_volume: RootVolume | None = None
    """The disk of its nodes. Default - as large as the image."""
    scratch_at: MountDir | None = None
    """Where NVMe disks of its nodes are mounted. Default - ``/scratch``."""
