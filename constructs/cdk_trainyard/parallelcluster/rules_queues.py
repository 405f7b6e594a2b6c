"""Whether each queue and its kinds of nodes can work. Pure: nothing is created here."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from cdk_trainyard.parallelcluster.capacity import AllocationStrategy, CapacityType
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.resolved import ResolvedCluster, ResolvedCompute, ResolvedQueue
from cdk_trainyard.parallelcluster.rules_nodes import (
    action_problems,
    instance_type_problems,
    name_problems,
    root_volume_problems,
)
from cdk_trainyard.tokens import unresolved

Problems = Iterator[str]
_ALLOCATIONS = {
    CapacityType.ON_DEMAND: (AllocationStrategy.LOWEST_PRICE, AllocationStrategy.PRIORITIZED),
    CapacityType.SPOT: tuple(one for one in AllocationStrategy if one is not AllocationStrategy.PRIORITIZED),
    CapacityType.CAPACITY_BLOCK: (),
}
_USAGE = {
    CapacityType.ON_DEMAND: "on-demand",
    CapacityType.SPOT: "spot",
    CapacityType.CAPACITY_BLOCK: "capacity-block",
}


def queue_problems(cluster: ResolvedCluster) -> Problems:
    """Every queue, and every kind of node in it."""
    for queue in cluster.queues:
        yield from name_problems("'name' of a queue", queue.name)
        yield from _compute_list_problems(queue)
        yield from root_volume_problems(f"'root_volume' of queue {queue.name!r}", queue.given.root_volume)
        yield from action_problems(f"'on_start' of queue {queue.name!r}", tuple(queue.given.on_start), cluster)
        yield from action_problems(
            f"'on_configured' of queue {queue.name!r}", tuple(queue.given.on_configured), cluster
        )
        yield from denied_setting_problems(f"'slurm' of queue {queue.name!r}", queue.given.slurm, "queue")
        yield from subnet_problems(queue)
        yield from public_problems(queue, cluster)
        for compute in queue.compute:
            for written in (compute.given.instance_type, *compute.given.instance_types):
                if written is not None:
                    where = f"'instance_type' of queue {queue.name!r}"
                    yield from instance_type_problems(where, written, cluster)
            yield from compute_problems(queue, compute)


def compute_problems(queue: ResolvedQueue, compute: ResolvedCompute) -> Problems:
    """One kind of node.

    Args:
        queue: Its queue.
        compute: The kind of node.
    """
    where = f"of {compute.name!r} in queue {queue.name!r}"
    yield from name_problems(f"'name' of a compute resource in queue {queue.name!r}", compute.name)
    yield from denied_setting_problems(f"'slurm' {where}", compute.given.slurm, "compute_resource")
    for rule in (
        type_choice_problems,
        node_count_problems,
        capacity_block_problems,
        usage_problems,
        efa_problems,
        placement_problems,
        reservation_problems,
        allocation_problems,
        likeness_problems,
        memory_problems,
    ):
        yield from rule(queue, compute, where)


def type_choice_problems(_: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """There is one type, or a list of different ones; the type is written even where a reservation implies it."""
    given = compute.given
    if (given.instance_type is None) == (not given.instance_types):
        got = "both" if given.instance_types else "neither"
        yield f"'instance_type' or 'instance_types' {where} must be given, and only one of them, got {got}"
    for name, count in Counter(compute.type_names).items():
        if count > 1:
            yield f"'instance_types' {where} must be different, got {name} {count} times"


def node_count_problems(_: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """Counts are in order."""
    least, most = compute.min_count, compute.max_count
    if most < 1:
        yield f"'max_count' {where} must be at least 1, got {most}"
    if least < 0:
        yield f"'min_count' {where} must be at least 0, got {least}"
    if most < least:
        yield f"'max_count' {where} must be at least 'min_count', got {most} and {least}"


def capacity_block_problems(queue: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """A capacity block is bought whole: its nodes are always there."""
    if not queue.block:
        return
    if compute.min_count != compute.max_count:
        yield (
            f"'min_count' {where} must be equal to 'max_count' on a capacity block, got {compute.min_count} and "
            f"{compute.max_count}; leave it out"
        )
    if compute.reservation is None or compute.reservation.reservation_id is None:
        yield f"'reservation_id' {where} must be given: which capacity block it is, as 'cr-0123456789abcdef0'"
    if compute.placement is not None and compute.placement.enabled:
        yield f"'placement' {where} must be left out on a capacity block, whose instances are where they are"


def usage_problems(queue: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """EC2 sells every type this way."""
    usage = _USAGE[queue.capacity.type]
    for known in compute.types:
        if known.usage_classes and usage not in known.usage_classes:
            yield (f"'capacity' {where} must be one of {', '.join(known.usage_classes)} for {known.name}, got {usage}")
    if compute.given.spot_price is not None and queue.capacity.type is not CapacityType.SPOT:
        yield f"'spot_price' {where} must be left out unless the queue is on Spot, got {compute.given.spot_price:g}"


def efa_problems(queue: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """EFA is where the hardware has it, in one subnet, and somebody said how close the nodes are."""
    if not compute.efa:
        return
    for known in compute.types:
        if not known.efa_supported:
            yield f"'efa' {where} must be False for {known.name}, which has no EFA, got True"
    if len(queue.subnets) > 1:
        yield (
            f"'subnets' of queue {queue.name!r} must be one for nodes with EFA, which does not cross zones, got "
            f"{len(queue.subnets)}"
        )
    if compute.placement is None:
        yield (
            f"'placement' {where} must be given for nodes with EFA: Placement.cluster() for the lowest latency, or "
            "Placement.anywhere() where capacity is short"
        )


def placement_problems(queue: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """A cluster placement group is in one zone, and of types that take one."""
    if compute.placement is None or not compute.placement.enabled:
        return
    if len(queue.subnets) > 1:
        yield f"'placement' {where} must be Placement.anywhere() in several subnets, got a placement group"
    for known in compute.types:
        if known.placement_strategies and "cluster" not in known.placement_strategies:
            yield (
                f"'placement' {where} must be Placement.anywhere() for {known.name}, which takes no cluster placement "
                "group"
            )


def reservation_problems(queue: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """A reservation is one thing, of one type."""
    reservation = compute.reservation
    if reservation is None:
        return
    if (reservation.reservation_id is None) == (reservation.group_arn is None):
        got = "neither" if reservation.group_arn is None else "both"
        yield f"'reservation_id' or 'group_arn' {where} must be given, and only one of them, got {got}"
    if reservation.reservation_id is not None and compute.flexible:
        yield (
            f"'instance_types' {where} must be one 'instance_type' for a reservation by id; a resource group of "
            "reservations takes several"
        )
    if queue.capacity.type is CapacityType.SPOT:
        yield f"'capacity' {where} must be on demand for a reservation, got Spot"


def allocation_problems(queue: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """The order in which types are tried is one of this kind of capacity."""
    allocation = queue.capacity.allocation
    if allocation is None or not compute.flexible:
        return
    allowed = _ALLOCATIONS[queue.capacity.type]
    if allocation not in allowed:
        names = ", ".join(one.value for one in allowed) or "left out"
        yield f"'allocation' {where} must be {names} for {queue.capacity.type.value}, got {allocation.value}"


def likeness_problems(_: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """Types of one list look alike to Slurm: it is told the cores and accelerators of a node before one exists."""
    several = compute.given.simultaneous_multithreading
    looks: list[tuple[str, dict[str, Any]]] = [
        (
            "vCPUs" if several else "cores",
            {known.name: known.vcpus if several else known.vcpus // known.threads_per_core for known in compute.types},
        ),
        ("GPUs", {known.name: known.gpus for known in compute.types}),
        ("accelerators", {known.name: sum(part.count for part in known.accelerators) for known in compute.types}),
    ]
    for what, numbers in looks:
        if len(set(numbers.values())) > 1:
            got = ", ".join(f"{name} with {number}" for name, number in numbers.items())
            yield f"'instance_types' {where} must have the same number of {what}, got {got}"
            return


def memory_problems(_: ResolvedQueue, compute: ResolvedCompute, where: str) -> Problems:
    """Slurm gives away no more memory than there is."""
    memory = compute.given.schedulable_memory_mib
    if memory is None or not compute.types:
        return
    most = min(known.memory_mib for known in compute.types)
    if not 1 <= memory <= most:
        yield f"'schedulable_memory_mib' {where} must be 1 to {most}, got {memory}"


def subnet_problems(queue: ResolvedQueue) -> Problems:
    """Several subnets are different, and for lists of types only.

    Args:
        queue: The queue.
    """
    if len(queue.subnets) < 2:  # noqa: PLR2004  "several"
        return
    if len(set(queue.subnets)) < len(queue.subnets):
        yield f"'subnets' of queue {queue.name!r} must be different"
    for compute in queue.compute:
        if not compute.flexible:
            yield (
                f"'subnets' of queue {queue.name!r} must be one with 'instance_type', got {len(queue.subnets)}; give "
                f"{compute.name!r} a list of 'instance_types'"
            )


def public_problems(queue: ResolvedQueue, cluster: ResolvedCluster) -> Problems:
    """Nodes with several network interfaces get no public address, so a public subnet leaves them without a way out.

    Args:
        queue: The queue.
        cluster: The cluster.
    """
    public = any(subnet in cluster.place.public_subnets for subnet in queue.subnets)
    if public and cluster.place.gives_addresses is False and queue.given.public_ip is None:
        yield (
            f"'public_ip' of queue {queue.name!r} must be given in a public subnet of TrainingNetwork, which gives no "
            "address by itself: without one the nodes reach nothing"
        )
    for compute in queue.compute:
        if not compute.several_interfaces or not (public or queue.given.public_ip):
            continue
        keyword = "public_ip" if queue.given.public_ip else "subnets"
        names = ", ".join(known.name for known in compute.types)
        yield (
            f"'{keyword}' of queue {queue.name!r} must keep {names} private: EC2 gives no public address to an "
            "instance with several network interfaces; use the accelerator subnet, behind NAT"
        )


def denied_setting_problems(where: str, settings: Any, level: str) -> Problems:
    """No parameter is one that ParallelCluster keeps for itself.

    Args:
        where: The keyword and whose it is.
        settings: The parameters, or None.
        level: ``"queue"`` or ``"compute_resource"``.
    """
    for name in settings or {}:
        if name.lower() in fact("denied_slurm_settings")[level]:
            hint = "; schedule whole nodes with 'exclusive'" if name.lower() == "gres" else ""
            yield f"{where} must not set {name}, which ParallelCluster sets itself{hint}"


def _compute_list_problems(queue: ResolvedQueue) -> Problems:
    if not queue.compute:
        yield f"'compute' of queue {queue.name!r} must hold at least one compute resource, got none"
    blocked = unresolved(queue.name)
    if not blocked and queue.given.public_ip and not queue.given.subnets:
        yield (
            f"'public_ip' of queue {queue.name!r} must be left out in the accelerator subnet, which is private, got "
            "True"
        )
