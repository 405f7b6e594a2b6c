"""A cluster as it will be: what was said, with every default filled in; and what follows from it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.instances.instance_type import NamedType
from cdk_trainyard.instances.kind import UsageClass
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, Place, volume_name
from cdk_trainyard.parallelcluster.facts import fact, parallelcluster_version
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_nodes import HeadNode, LoginPool
from cdk_trainyard.parallelcluster.spec_queues import ComputeResource, NodeAllocation, Placement, Queue
from cdk_trainyard.parallelcluster.spec_storage import SharedStorage, SharedVolume
from cdk_trainyard.problems import At
from cdk_trainyard.tokens import Unknown, unresolved

NOWHERE = "127.0.0.1/32"
"""What stands for nobody where ParallelCluster would let everybody in."""
_UNSAID_MOST = 10
"""Nodes of a kind of which nobody said how many there are at most (AWS ParallelCluster user guide, ``MaxCount``)."""
_Part = TypeVar("_Part")


# ---------------------------------------------------------------- defaults
def resolve_cluster(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> ParallelClusterSpec:
    """Return a cluster with what follows where nothing was said.

    Args:
        spec: What was said.
        context: What it stands in.
    """
    head = spec.head_node if isinstance(spec.head_node, Unknown) else _head(spec.head_node)
    return replace(
        spec,
        head_node=head,
        queues=each_changed(spec.queues, resolve_queue),
        login_pools=each_changed(
            spec.login_pools, lambda pool: replace(pool, ssh_from=pool.ssh_from or head.ssh_from or NOWHERE)
        ),
        shared_storage=_storage(spec.shared_storage),
        cluster_name=spec.cluster_name if spec.cluster_name is not None else context.default_name,
        version=(context.provider_version or parallelcluster_version()) if spec.version is None else spec.version,
    )


def resolve_queue(queue: Queue) -> Queue:
    """Return a queue with its defaults; reserved instances are where they are."""
    reserved = reservation(queue, queue) != (None, None)
    anywhere = Placement.ANYWHERE if reserved or is_block(queue) else None
    resolved = replace(queue, placement=anywhere if queue.placement is None else queue.placement)
    compute = each_changed(queue.compute, lambda one: _compute(one, resolved))
    neuron = any(
        part.kind is AcceleratorKind.NEURON
        for _, one in known(compute)
        for each in types_of(one)
        for part in each.accelerators
    )
    return replace(resolved, compute=compute, exclusive=neuron if queue.exclusive is None else queue.exclusive)


def _head(head: HeadNode) -> HeadNode:
    if head.elastic_ip_id is not None or head.elastic_ip is not None:
        return head
    return replace(head, elastic_ip=head.public)


def _compute(compute: ComputeResource, queue: Queue) -> ComputeResource:
    types, names = types_of(compute), type_names(compute)
    accelerated_efa = bool(types) and all(each.accelerated and each.efa_supported for each in types)
    least = (compute.max_count if is_block(queue) else 0) if compute.min_count is None else compute.min_count
    return replace(
        compute,
        name=_name_of(names) if compute.name is None else compute.name,
        min_count=least,
        efa=accelerated_efa if compute.efa is None else compute.efa,
    )


def _name_of(names: Sequence[str]) -> str:
    return names[0].replace(".", "-")[: fact("name_length")] if names and not unresolved(names[0]) else "compute"


def _storage(storage: SharedStorage) -> SharedStorage:
    if isinstance(storage, Unknown):
        return storage
    named = {kind: each_changed(getattr(storage, kind), _named) for kind in SharedStorage.__slots__}
    return replace(storage, **named)


def _named(one: Any) -> Any:
    return replace(one, name=volume_name(one.at) if one.name is None else one.name)


# ---------------------------------------------------------------- what follows
def each_changed(items: Any, change: Any) -> Any:
    """Return every part changed; what has a wrong form stays unknown.

    Args:
        items: The parts.
        change: Returns a part changed.
    """
    if isinstance(items, Unknown):
        return items
    return tuple(item if isinstance(item, Unknown) else change(item) for item in items)


def known(items: Sequence[_Part]) -> Iterator[tuple[int, _Part]]:
    """Yield the parts that have the right form, with their indices."""
    return ((index, item) for index, item in enumerate(items) if not isinstance(item, Unknown))


def computes(spec: ParallelClusterSpec) -> Iterator[tuple[At, Queue, ComputeResource]]:
    """Yield every kind of nodes with its path and its queue."""
    for index, queue in known(spec.queues):
        for number, compute in known(queue.compute):
            yield ("queues", index, "compute", number), queue, compute


def roles(spec: ParallelClusterSpec) -> Iterator[tuple[At, int]]:
    """Yield whatever has a role with its path, and how many managed policies that has at least.

    They are those that it says, the cluster's, and that of CloudWatch's agent (``_add_node_role`` of pcluster's
    ``cdk_builder_utils.py``).
    """
    pools = ((("login_pools", index), pool) for index, pool in known(spec.login_pools))
    queues = ((("queues", index), queue) for index, queue in known(spec.queues))
    ours = 1 + (spec.monitoring.logs is True)
    for at, nodes in ((("head_node",), spec.head_node), *pools, *queues):
        if not unresolved(nodes, nodes.policies):
            yield at, len(nodes.policies) + ours


def volumes(storage: SharedStorage) -> Iterator[tuple[At, SharedVolume]]:
    """Yield every shared directory with its path, in the order in which the cluster has them."""
    for kind in SharedStorage.__slots__:
        for index, one in known(getattr(storage, kind)):
            yield ("shared_storage", kind, index), one


def type_names(compute: ComputeResource) -> tuple[str, ...]:
    """Return the names of its types, known or not."""
    one = () if compute.instance_type is None else (compute.instance_type,)
    return tuple(type_name(name) for name in (*one, *compute.instance_types))


def type_name(given: str | NamedType) -> str:
    """Return the name that EC2 has for a type."""
    return (given if isinstance(given, str) else given.to_string()).removeprefix("ml.")


def find_type(name: str | NamedType) -> InstanceType | None:
    """Return the facts of a type; None when it is not known."""
    return None if unresolved(name) else InstanceType.find(name)


def types_of(compute: ComputeResource) -> tuple[InstanceType, ...]:
    """Return the facts of its types, of those that are known; a name that is not known is a problem of its own."""
    return tuple(each for name in type_names(compute) if (each := find_type(name)) is not None)


def is_block(queue: Queue) -> bool:
    """Return whether a queue is on a capacity block."""
    return queue.capacity is UsageClass.CAPACITY_BLOCK


def reservation(queue: Queue, compute: NodeAllocation) -> tuple[str | None, str | None]:
    """Return the id, or the group's ARN, of what a kind of nodes draws from: its own reservation, or its queue's."""
    own = compute.reservation_id, compute.reservation_group_arn
    return own if own != (None, None) else (queue.reservation_id, queue.reservation_group_arn)


def placement(queue: Queue, compute: ComputeResource) -> Placement | None:
    """Return whether a kind of nodes is close together: as it says itself, or its queue. None: nobody said."""
    own = (compute.reservation_id, compute.reservation_group_arn) != (None, None)
    return compute.placement or queue.placement or (Placement.ANYWHERE if own else None)


def subnets(queue: Queue, place: Place) -> tuple[str, ...]:
    """Return the ids of a queue's subnets."""
    return tuple(subnet.subnet_id for subnet in queue.subnets or ()) or (place.accelerator_subnet,)


def subnet_of(pool: LoginPool, place: Place) -> str:
    """Return the id of a login pool's subnet."""
    return place.accelerator_subnet if pool.subnet is None else pool.subnet.subnet_id


def several_interfaces(compute: ComputeResource) -> bool:
    """Return whether a node is launched with more than one network interface, and so takes no public address."""
    return any(
        len(each.network_cards) > 1
        or (compute.efa is True and each.efa_supported and each.network_cards[0].max_interfaces > 1)
        for each in types_of(compute)
    )


def most_of(compute: ComputeResource) -> int:
    """Return how many nodes of a kind there are at most."""
    return _UNSAID_MOST if compute.max_count is None else compute.max_count


def nodes_at_most(compute: ComputeResource) -> int:
    """Return how many nodes of a kind there are at most."""
    return _UNSAID_MOST if compute.max_count is None else compute.max_count


def max_nodes(spec: ParallelClusterSpec) -> int:
    """Return how many compute nodes there are when every queue is at its largest."""
    return sum(nodes_at_most(compute) for _, _, compute in computes(spec) if not unresolved(compute.max_count))


def managed_dns(spec: ParallelClusterSpec, place: Place) -> bool:
    """Return whether node names are in a hosted zone, which the head node must be able to reach."""
    if spec.slurm.managed_dns is not None:
        return spec.slurm.managed_dns
    return place.has_nat or place.of_head_node(spec.head_node) in place.public_subnets


def all_types(spec: ParallelClusterSpec) -> list[InstanceType]:
    """Return the types of head node and queues, of those that are known.

    Args:
        spec: The resolved cluster.
    """
    head = find_type(spec.head_node.instance_type)
    return [*([head] if head else []), *(known for _, _, compute in computes(spec) for known in types_of(compute))]
