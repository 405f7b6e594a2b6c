"""What the user wrote, with every default worked out: the rules judge it, and the rendering writes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.network import EfaBackend, Network, TrainingNetwork, efa_network_interfaces
from cdk_trainyard.parallelcluster.capacity import CapacityType, Placement, QueueCapacity, Reservation
from cdk_trainyard.parallelcluster.facts import fact, parallelcluster_version
from cdk_trainyard.parallelcluster.nodes import HeadNode, LoginPool
from cdk_trainyard.parallelcluster.queue import ComputeResource, Queue
from cdk_trainyard.parallelcluster.settings import (
    ClusterIam,
    ClusterMonitoring,
    OperatingSystem,
    SlurmSettings,
    Timeouts,
)
from cdk_trainyard.parallelcluster.shared_storage import SharedStorage
from cdk_trainyard.tokens import unresolved

NOWHERE = "127.0.0.1/32"
"""What stands for nobody where ParallelCluster would let everybody in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where nodes are put.

    Attributes:
        accelerator_subnet: The private subnet.
        accelerator_cidr: Its block, or None when it is not known.
        public_subnets: The public subnets.
        gives_addresses: Whether instances in the public subnets get a public address by themselves. None: not known.
        zone: Zone of the private subnet.
        has_nat: Whether the private subnet reaches the internet.
    """

    accelerator_subnet: str
    accelerator_cidr: str | None
    public_subnets: tuple[str, ...]
    zone: str | None
    has_nat: bool
    gives_addresses: bool | None = None

    @classmethod
    def of(cls, network: Network) -> "Place":
        """Return the place that a network is."""
        return cls(
            accelerator_subnet=network.accelerator_subnet.subnet_id,
            accelerator_cidr=network.accelerator_cidr,
            public_subnets=tuple(subnet.subnet_id for subnet in network.public_subnets),
            zone=network.zone,
            has_nat=network.has_nat,
            gives_addresses=False if isinstance(network, TrainingNetwork) else None,
        )

    def subnet(self, given: ec2.ISubnet | None, *, public: bool) -> str | None:
        """Return a node's subnet, or None when it is to be public and none is.

        Args:
            given: The subnet that the user named.
            public: Whether it is to be public.
        """
        if given is not None:
            return given.subnet_id
        if public:
            return self.public_subnets[0] if self.public_subnets else None
        return self.accelerator_subnet


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedCompute:
    """One kind of node with its defaults.

    Attributes:
        given: What the user wrote.
        name: Its name.
        type_names: Its instance types by name, known or not.
        types: The facts of those that are known; a name that is not known is a problem already.
        min_count: Nodes that are always there.
        efa: Whether it has EFA.
        reservation: What it draws from, or None.
        placement: Whether its nodes are close together, or None when nobody said.
    """

    given: ComputeResource
    name: str
    type_names: tuple[str, ...]
    types: tuple[InstanceType, ...]
    min_count: int
    efa: bool
    reservation: Reservation | None
    placement: Placement | None

    @property
    def flexible(self) -> bool:
        """Whether it has a list of types."""
        return bool(self.given.instance_types)

    @property
    def max_count(self) -> int:
        """Nodes at most."""
        return self.given.max_count

    @property
    def several_interfaces(self) -> bool:
        """Whether a node is launched with more than one network interface, and so takes no public address."""
        return any(
            len(known.network_cards) > 1
            or (self.efa and known.efa_supported and len(efa_network_interfaces(known, EfaBackend.PARALLELCLUSTER)) > 1)
            for known in self.types
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedQueue:
    """One queue with its defaults.

    Attributes:
        given: What the user wrote.
        capacity: Where its instances come from.
        placement: Its placement, or None when nobody said.
        compute: Its kinds of nodes.
        subnets: Ids of its subnets.
        exclusive: Whether a job has its nodes for itself.
    """

    given: Queue
    capacity: QueueCapacity
    placement: Placement | None
    compute: tuple[ResolvedCompute, ...]
    subnets: tuple[str, ...]
    exclusive: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.given.name

    @property
    def block(self) -> bool:
        """Whether it is on a capacity block."""
        return self.capacity.type is CapacityType.CAPACITY_BLOCK


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedHead:
    """The head node with its defaults.

    Attributes:
        given: What the user wrote.
        type_name: Its type by name.
        type: The facts of its type, or None when it is not known.
        subnet: Its subnet, or None when it is to be public and no subnet is.
        elastic_ip: Whether it has an address that stays, or which.
    """

    given: HeadNode
    type_name: str
    type: InstanceType | None
    subnet: str | None
    elastic_ip: bool | str


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedPool:
    """One pool of login nodes with its defaults.

    Attributes:
        given: What the user wrote.
        type_name: Its type by name.
        type: The facts of its type, or None when it is not known.
        subnet: Its subnet.
        ssh_from: Addresses that may use SSH.
    """

    given: LoginPool
    type_name: str
    type: InstanceType | None
    subnet: str
    ssh_from: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedStorage:
    """One shared directory with its defaults.

    Attributes:
        given: What the user wrote.
        name: Its name in the cluster.
    """

    given: SharedStorage
    name: str

    @property
    def at(self) -> str:
        """Where it is mounted, with a slash at its beginning."""
        return "/" + self.given.at.strip("/")


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedCluster:
    """A whole cluster with its defaults.

    Attributes:
        name: Its name.
        head: The head node.
        queues: The queues, in the user's order.
        place: Where its nodes are put by default.
        pools: The login nodes.
        storage: The shared directories.
        region: The Region, or None when it is settled at deployment.
        version: Version of ParallelCluster.
        provider_version: Version of a provider that was given, or None.
        operating_system: Operating system of every node.
        image_id: Image of every node, or None for ParallelCluster's.
        slurm: Settings of Slurm.
        monitoring: What it tells about itself.
        iam: Limits of its roles.
        timeouts: How long nodes may take to come up.
        tags: Tags of everything.
        suppressed_validators: What ParallelCluster does not check.
        extra: Keys of ParallelCluster that have no keyword.
        other_names: Names of the app's other clusters.
        stack_name: Name of its stack.
    """

    name: str
    head: ResolvedHead
    queues: tuple[ResolvedQueue, ...]
    place: Place
    pools: tuple[ResolvedPool, ...] = ()
    storage: tuple[ResolvedStorage, ...] = ()
    region: str | None = None
    version: str = field(default_factory=parallelcluster_version)
    provider_version: str | None = None
    operating_system: OperatingSystem | str = OperatingSystem.ALINUX2023
    image_id: str | None = None
    slurm: SlurmSettings = field(default_factory=SlurmSettings)
    monitoring: ClusterMonitoring = field(default_factory=ClusterMonitoring)
    iam: ClusterIam = field(default_factory=ClusterIam)
    timeouts: Timeouts = field(default_factory=Timeouts)
    tags: Mapping[str, str] = field(default_factory=dict)
    suppressed_validators: tuple[str, ...] = ()
    extra: JsonObject | None = None
    other_names: tuple[str, ...] = ()
    stack_name: str | None = None

    @property
    def max_nodes(self) -> int:
        """Compute nodes when every queue is at its largest."""
        return sum(compute.max_count for queue in self.queues for compute in queue.compute)

    @property
    def managed_dns(self) -> bool:
        """Whether node names are in a hosted zone, which the head node must be able to reach."""
        if self.slurm.managed_dns is not None:
            return self.slurm.managed_dns
        return self.place.has_nat or self.head.subnet in self.place.public_subnets


def resolve_head(head: HeadNode, place: Place) -> ResolvedHead:
    """Work out the head node's defaults.

    Args:
        head: What the user wrote.
        place: Where nodes are put.
    """
    return ResolvedHead(
        given=head,
        type_name=type_name(head.instance_type),
        type=InstanceType.find(head.instance_type),
        subnet=place.subnet(head.subnet, public=head.public),
        elastic_ip=head.public if head.elastic_ip is None else head.elastic_ip,
    )


def resolve_pool(pool: LoginPool, head: HeadNode, place: Place) -> ResolvedPool:
    """Work out a login pool's defaults.

    Args:
        pool: What the user wrote.
        head: The head node, for who may use SSH.
        place: Where nodes are put.
    """
    return ResolvedPool(
        given=pool,
        type_name=type_name(pool.instance_type),
        type=InstanceType.find(pool.instance_type),
        subnet=pool.subnet.subnet_id if pool.subnet is not None else place.accelerator_subnet,
        ssh_from=pool.ssh_from or head.ssh_from or NOWHERE,
    )


def resolve_queue(queue: Queue, place: Place) -> ResolvedQueue:
    """Work out a queue's defaults.

    Args:
        queue: What the user wrote.
        place: Where nodes are put.
    """
    capacity = queue.capacity or QueueCapacity.on_demand()
    placement = queue.placement
    if placement is None and (capacity.type is CapacityType.CAPACITY_BLOCK or capacity.reservation is not None):
        placement = Placement.anywhere()  # reserved instances are where they are
    compute = tuple(_resolve_compute(given, capacity, placement) for given in queue.compute)
    neuron = any(
        part.kind is AcceleratorKind.NEURON for one in compute for known in one.types for part in known.accelerators
    )
    return ResolvedQueue(
        given=queue,
        capacity=capacity,
        placement=placement,
        compute=compute,
        subnets=tuple(subnet.subnet_id for subnet in queue.subnets) or (place.accelerator_subnet,),
        exclusive=neuron if queue.exclusive is None else queue.exclusive,
    )


def resolve_storage(storage: Sequence[SharedStorage]) -> tuple[ResolvedStorage, ...]:
    """Work out the names of shared directories: what they are mounted at, with hyphens.

    Args:
        storage: What the user wrote.
    """
    return tuple(
        ResolvedStorage(given=one, name=one.name if one.name is not None else one.at.strip("/").replace("/", "-"))
        for one in storage
    )


def type_name(given: str | InstanceType) -> str:
    """Return the name that EC2 has for a type."""
    return given.name if isinstance(given, InstanceType) else given.removeprefix("ml.")


def _resolve_compute(given: ComputeResource, capacity: QueueCapacity, placement: Placement | None) -> ResolvedCompute:
    written = (*([] if given.instance_type is None else [given.instance_type]), *given.instance_types)
    names = tuple(type_name(one) for one in written)
    types = tuple(known for one in written if (known := InstanceType.find(one)) is not None)
    block = capacity.type is CapacityType.CAPACITY_BLOCK
    accelerated_efa = bool(types) and all(known.accelerated and known.efa_supported for known in types)
    reserved = given.reservation is not None
    own = given.placement or placement or (Placement.anywhere() if reserved else None)
    return ResolvedCompute(
        given=given,
        name=given.name if given.name is not None else _name_of(names),
        type_names=names,
        types=types,
        min_count=(given.max_count if block else 0) if given.min_count is None else given.min_count,
        efa=accelerated_efa if given.efa is None else given.efa,
        reservation=given.reservation or capacity.reservation,
        placement=own,
    )


def _name_of(names: Sequence[str]) -> str:
    return names[0].replace(".", "-")[: fact("name_length")] if names and not unresolved(names[0]) else "compute"
