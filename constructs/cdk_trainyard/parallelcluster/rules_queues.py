"""Whether each queue and its kinds of nodes can work. Pure: nothing is created here."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.instances.kind import LARGEST_BLOCK, UsageClass
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.merge import value_at
from cdk_trainyard.parallelcluster.resolve import (
    computes,
    is_block,
    known,
    nodes_at_most,
    placement,
    reservation,
    several_interfaces,
    subnets,
    type_names,
    types_of,
)
from cdk_trainyard.parallelcluster.rules_nodes import (
    instance_type_problems,
    name_problems,
    software_problems,
    thread_problems,
)
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_queues import (
    AllocationStrategy,
    ComputeResource,
    NodeAllocation,
    Placement,
    Queue,
)
from cdk_trainyard.problems import At, Problem, either, option, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_KIND_OF_NODE: Final = re.compile(r"(^|-)(st|dy)-.")
_ULTRASERVERS: Final = {"p6e-gb200": 18}
"""Families that blocks of other sizes have: the largest (``ULTRASERVER_CAPACITY_BLOCK_ALLOWED_SIZE_DICT`` of
ParallelCluster 3.16.1)."""
_ALLOCATIONS: Final = {
    UsageClass.ON_DEMAND: (AllocationStrategy.LOWEST_PRICE, AllocationStrategy.PRIORITIZED),
    UsageClass.SPOT: tuple(one for one in AllocationStrategy if one is not AllocationStrategy.PRIORITIZED),
    UsageClass.CAPACITY_BLOCK: (),
}


# ---------------------------------------------------------------- queues
def queue_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Every queue."""
    for index, queue in known(spec.queues):
        at = ("queues", index)
        yield from name_problems((*at, "name"), queue.name)
        if not unresolved(queue.compute) and not queue.compute:
            yield Problem((*at, "compute"), "must hold at least one compute resource, got none")
        yield from software_problems(at, queue, spec)
        yield from _group_problems(at, queue, queue.placement)
        yield from _queue_subnet_problems(at, queue, context)
        yield from _public_problems(at, queue, context)
        flexible = unresolved(queue.compute, *queue.compute) or any(one.instance_types for one in queue.compute)
        if queue.allocation is not None and not flexible:
            text = f"is for compute resources with {option('instance_types')}, and here is none; remove it"
            yield Problem((*at, "allocation"), text, of_key=True)
        types = [each for _, one in known(queue.compute) for each in types_of(one)]
        yield from _gpu_check_problems((*at, "gpu_health_check"), queue.gpu_health_check, types)


def _queue_subnet_problems(at: At, queue: Queue, context: ParallelClusterFacts) -> Problems:
    """Several subnets are in different zones, and for lists of types only."""
    ids = subnets(queue, context.place)
    if len(set(ids)) < 2:  # noqa: PLR2004  "several"; the same one again is said of the list itself
        return
    at = (*at, "subnets")
    several = True
    for _, compute in known(queue.compute):
        if one := _in_one_zone(queue, compute):
            several = False
            without = f", or go without it by {option('efa')} false" if compute.efa and compute.instance_types else ""
            text = f"must be one for {one}, got {len(ids)}; leave it out for the accelerator subnet{without}"
            yield Problem(at, text)
        elif not compute.instance_types:
            several = False
            text = f"must be one with 'instance_type', got {len(ids)}; give {shown(compute.name)} 'instance_types'"
            yield Problem(at, text)
    if several:
        yield from _zone_problems(at, ids, context)


def _in_one_zone(queue: Queue, compute: ComputeResource) -> str:
    """Return what keeps nodes in one zone (Amazon EC2 user guide, "On-Demand Capacity Reservations"), or nothing."""
    if compute.efa is True:
        return "nodes with EFA, which does not cross zones"
    return "" if reservation(queue, compute)[0] is None else "a reservation by id, which is of one zone"


def _zone_problems(at: At, ids: Sequence[str], context: ParallelClusterFacts) -> Problems:
    """Of a zone there is one subnet: EC2's fleets take no second.

    Source: ``QueueSubnetsValidator`` of ParallelCluster 3.16.1.
    """
    zones = Counter(context.place.zones.get(identity) for identity in dict.fromkeys(ids))
    for zone, count in zones.items():
        if count > 1 and zone is not None and not unresolved(zone):
            yield Problem(at, f"must each be in another zone, got {count} in {zone}")


def _public_problems(at: At, queue: Queue, context: ParallelClusterFacts) -> Problems:
    """Nodes with several network interfaces get no public address: in a public subnet they reach nothing."""
    place = context.place
    public = any(subnet in place.public_subnets for subnet in subnets(queue, place))
    if public and place.gives_addresses is False and not queue.public_ip:
        yield Problem(
            (*at, "public_ip"),
            "must be true in a public subnet of a new network, which gives no address by itself: without one the "
            f"nodes reach nothing, got {shown(queue.public_ip)}",
        )
    if queue.subnets is not None and not unresolved(queue.subnets) and not queue.subnets:
        yield Problem((*at, "subnets"), "must name at least one, got none; leave it out for the accelerator subnet")
    if queue.public_ip is True and not unresolved(queue.subnets) and not queue.subnets:
        yield Problem((*at, "public_ip"), "must be left out in the accelerator subnet, which is private, got true")
    for _, compute in known(queue.compute):
        if several_interfaces(compute) and (public or queue.public_ip is True):
            names = ", ".join(each.name for each in types_of(compute))
            yield Problem(
                (*at, "public_ip" if queue.public_ip is True else "subnets"),
                f"must keep {names} private: EC2 gives no public address to an instance with several network "
                "interfaces; use the accelerator subnet, behind NAT",
            )


def _group_problems(at: At, said: NodeAllocation, own: Placement | None) -> Problems:
    """A placement group that exists is one to be placed in."""
    if said.placement_group is not None and own is not Placement.CLUSTER and not unresolved(own):
        yield Problem((*at, "placement"), f"must be cluster with {option('placement_group')}, got {own or 'nothing'}")


# ---------------------------------------------------------------- compute resources
def compute_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Every kind of nodes."""
    for at, queue, compute in computes(spec):
        yield from _type_problems(at, compute, spec)
        if compute.name is not None:
            yield from name_problems((*at, "name"), compute.name)
            yield from _node_name_problems((*at, "name"), compute.name)
        yield from _group_problems(at, compute, compute.placement)
        yield from thread_problems((*at, "threads_per_core"), compute.threads_per_core, types_of(compute))
        yield from _count_problems(at, queue, compute)
        yield from _block_problems(at, queue, compute)
        yield from _usage_problems(at, queue, compute)
        yield from _efa_problems(at, queue, compute)
        yield from _placement_problems(at, queue, compute, context)
        yield from _reservation_problems(at, queue, compute)
        yield from _allocation_problems(at, queue, compute)
        yield from _likeness_problems(at, compute)
        yield from _memory_problems(at, compute)
        yield from _priority_problems(at, queue, compute)
        yield from _gpu_check_problems((*at, "gpu_health_check"), compute.gpu_health_check, types_of(compute))


def _node_name_problems(at: At, name: str) -> Problems:
    """Names of nodes are taken apart at the last ``-st-`` or ``-dy-``, which stands before that of the kind of nodes.

    Source: ``parse_nodename`` of aws-parallelcluster-node, ``src/slurm_plugin/slurm_resources.py`` (2024-10).
    """
    if not unresolved(name) and _KIND_OF_NODE.search(name):
        text = "must have no part 'st' or 'dy' with another behind it, by which nodes are told apart"
        yield Problem(at, f"{text}, got {shown(name)}")


def _type_problems(at: At, compute: ComputeResource, spec: ParallelClusterSpec) -> Problems:
    """There is one type, or a list of different ones; the type is written even where a reservation implies it."""
    if compute.instance_type is not None:
        yield from instance_type_problems((*at, "instance_type"), compute.instance_type, spec)
    for index, name in known(compute.instance_types):
        yield from instance_type_problems((*at, "instance_types", index), name, spec)
    several = option("instance_types")
    if compute.instance_type is None and not unresolved(compute.instance_types) and not compute.instance_types:
        yield Problem((*at, "instance_type"), f"must be given, or {several}, got neither")
    if compute.instance_type is not None and compute.instance_types:
        yield Problem((*at, "instance_type"), f"must be left out with {several}, which says it", of_key=True)


def _count_problems(at: At, queue: Queue, compute: ComputeResource) -> Problems:
    """Counts are in order."""
    least, most = compute.min_count, nodes_at_most(compute)
    if least is None or unresolved(least, most) or most >= least or is_block(queue):
        return
    if compute.max_count is None:
        text = f"must be at most {option('max_count')}, got {least} and {most} ({most} is the default)"
        yield Problem((*at, "min_count"), text)
    else:
        yield Problem((*at, "max_count"), f"must be at least {option('min_count')}, got {most} and {least}")


def _block_problems(at: At, queue: Queue, compute: ComputeResource) -> Problems:
    """A capacity block is bought whole: its nodes are always there."""
    if not is_block(queue):
        return
    least, most = compute.min_count, compute.max_count
    if most is None:
        text = "must be given on a capacity block, whose nodes are all always there: how many instances it has"
        yield Problem((*at, "max_count"), text if not least or unresolved(least) else f"{text}, as {least}")
    elif not unresolved(least, most) and least != most:
        text = f"must be equal to {option('max_count')} on a capacity block, got {least} and {most}"
        yield Problem((*at, "min_count"), f"{text}; say there how many instances it has, and leave this out")
    if reservation(queue, compute)[0] is None:
        text = f"must be given, here or as {option('reservation_id', up=3)} of the queue: which capacity block it is"
        yield Problem((*at, "reservation_id"), text)
    if placement(queue, compute) is Placement.CLUSTER:
        text = "must be left out on a capacity block, whose instances are where they are"
        yield Problem(_placement_at(at, compute), text)


def _usage_problems(at: At, queue: Queue, compute: ComputeResource) -> Problems:
    """EC2 sells every type this way."""
    if unresolved(queue.capacity):
        return
    for each in types_of(compute):
        if each.usage_classes and queue.capacity not in each.usage_classes:
            text = f"must be {either(each.usage_classes)} for {each.name}, got {queue.capacity}"
            yield Problem((*at[:2], "capacity"), text)
    if compute.spot_price is not None and queue.capacity is not UsageClass.SPOT:
        text = "must be left out unless the queue's capacity is spot"
        yield Problem((*at, "spot_price"), text, of_key=True)


def _efa_problems(at: At, queue: Queue, compute: ComputeResource) -> Problems:
    """EFA is where the hardware has it, and somebody said how close the nodes are."""
    if compute.efa is False and types_of(compute) and not unresolved(compute.raw_overrides):
        efa = (compute.raw_overrides or {}).get("Efa")
        if isinstance(efa, Mapping) and str(efa.get("GdrSupport")).lower() == "true":  # EfaValidator, 3.16.1
            yield Problem((*at, "raw_overrides", "Efa", "GdrSupport"), "must be left out without EFA", of_key=True)
    if compute.efa is not True:
        return
    without = [each.name for each in types_of(compute) if not each.efa_supported]
    for name in without:
        yield Problem((*at, "efa"), f"must be false for {name}, which has no EFA, got true")
    if not without and placement(queue, compute) is None:
        text = "must be given for nodes with EFA: cluster for the lowest latency, or anywhere where capacity is short"
        yield Problem((*at[:2], "placement"), f"{text}; {option('efa')} false goes without EFA")


def _placement_problems(at: At, queue: Queue, compute: ComputeResource, context: ParallelClusterFacts) -> Problems:
    """A cluster placement group is in one zone, and of types that take one."""
    where = _group_at(at, queue, compute)
    if where is None:
        return
    must, got = ("anywhere", ", got cluster") if where[-1] == "placement" else ("left out", "")
    if len(set(subnets(queue, context.place))) > 1 and not _in_one_zone(queue, compute):
        yield Problem(where, f"must be {must} in several subnets{got}")
    for each in types_of(compute):
        if each.placement_strategies and "cluster" not in each.placement_strategies:
            yield Problem(where, f"must be {must} for {each.name}, which takes no cluster placement group")


def _group_at(at: At, queue: Queue, compute: ComputeResource) -> At | None:
    """Return what puts nodes into a placement group: an option, or a name among raw keys. None: nothing does."""
    if placement(queue, compute) is not None:
        return _placement_at(at, compute) if placement(queue, compute) is Placement.CLUSTER else None
    for place, said in ((at, compute), (at[:2], queue)):
        for key in ("Name", "Id"):
            if value_at(said.raw_overrides, f"Networking.PlacementGroup.{key}") is not None:
                return (*place, "raw_overrides", "Networking", "PlacementGroup", key)
    return None


def _placement_at(at: At, compute: ComputeResource) -> At:
    return (*at, "placement") if compute.placement is not None else (*at[:2], "placement")


def _reservation_problems(at: At, queue: Queue, compute: ComputeResource) -> Problems:
    """A reservation is one thing, of one type."""
    identity, group = reservation(queue, compute)
    if identity is None and group is None:
        return
    own = (compute.reservation_id, compute.reservation_group_arn) != (None, None)
    place = at if own else at[:2]
    if identity is not None and group is not None:
        text = f"must be left out with {option('reservation_group_arn')}; a reservation is one of the two"
        yield Problem((*place, "reservation_id"), text, of_key=True)
    if identity is not None and compute.instance_types:
        yield Problem(
            (*at, "instance_types"),
            f"must be one {option('instance_type')} for a reservation by id; a resource group of reservations takes "
            "several",
        )
    if queue.capacity is UsageClass.SPOT:
        yield Problem((*at[:2], "capacity"), "must be on-demand for a reservation, got spot")


def reservation_type_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """All nodes of a reservation are of its one type (``CapacityReservationValidator`` of ParallelCluster 3.16.1)."""
    first: dict[str, tuple[str, ...]] = {}
    for at, queue, compute in computes(spec):
        identity, names = reservation(queue, compute)[0], type_names(compute)
        if identity is None or compute.instance_types or not names or unresolved(identity, *names):
            continue
        if first.setdefault(identity, names) != names:
            text = f"must be {first[identity][0]}, as the other nodes of reservation {shown(identity)}, got {names[0]}"
            yield Problem((*at, "instance_type"), f"{text}; a reservation is of one type")


def block_size_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """No more nodes draw from a capacity block than the largest has; on one, all are always there."""
    counts: Counter[str] = Counter()
    for at, queue, compute in computes(spec):
        identity = reservation(queue, compute)[0]
        if not is_block(queue) or identity is None or unresolved(identity, compute.max_count):
            continue
        families = {each.family for each in types_of(compute)}
        most = next((size for family, size in _ULTRASERVERS.items() if family in families), LARGEST_BLOCK)
        before = counts[identity]
        counts[identity] += nodes_at_most(compute)
        if before <= most < counts[identity]:
            text = f"must be at most {most} with all that draw from {shown(identity)}, the largest capacity block"
            yield Problem((*at, "max_count"), f"{text}, got {counts[identity]}")


def _allocation_problems(at: At, queue: Queue, compute: ComputeResource) -> Problems:
    """The order in which types are tried is one of this kind of capacity."""
    if queue.allocation is None or not compute.instance_types or unresolved(queue.allocation, queue.capacity):
        return
    allowed = _ALLOCATIONS[queue.capacity]
    if queue.allocation not in allowed:
        names = either(allowed) if allowed else "left out"
        yield Problem((*at[:2], "allocation"), f"must be {names} for {queue.capacity}, got {queue.allocation}")


def _likeness_problems(at: At, compute: ComputeResource) -> Problems:
    """Types of one list look alike to Slurm: it is told the cores and accelerators of a node before one exists."""
    single, types = compute.threads_per_core == 1, types_of(compute)
    looks: list[tuple[str, dict[str, Any]]] = [
        (
            "cores" if single else "vCPUs",
            {each.name: each.vcpus // each.threads_per_core if single else each.vcpus for each in types},
        ),
        ("GPUs", {each.name: each.gpus for each in types}),
        ("accelerators", {each.name: sum(part.count for part in each.accelerators) for each in types}),
    ]
    for what, numbers in looks:
        if len(set(numbers.values())) > 1:
            got = ", ".join(f"{name} with {number}" for name, number in numbers.items())
            yield Problem((*at, "instance_types"), f"must have the same number of {what}, got {got}")
            return


def _memory_problems(at: At, compute: ComputeResource) -> Problems:
    """Slurm gives away no more memory than there is."""
    memory, types = compute.schedulable_memory_mib, types_of(compute)
    if memory is None or not types:
        return
    most = min(each.memory_mib for each in types)
    if memory > most:
        yield Problem((*at, "schedulable_memory_mib"), f"must be 1 to {most}, got {memory}")


def _priority_problems(at: At, queue: Queue, compute: ComputeResource) -> Problems:
    """Slurm's weight of nodes that come and go is for where there are some; that of others may wait for the first."""
    least, most = compute.min_count, nodes_at_most(compute)
    if compute.dynamic_node_priority is not None and not unresolved(least, most) and (least == most or is_block(queue)):
        text = "must be left out where all nodes are always there"
        yield Problem((*at, "dynamic_node_priority"), text, of_key=True)


def _gpu_check_problems(at: At, wanted: bool | None, types: Sequence[InstanceType]) -> Problems:
    """There is a GPU to test; NVIDIA's tests run on nothing else (user guide of ParallelCluster, "Health Checks")."""
    if wanted is True and types and not any(each.gpus for each in types):
        names = either(dict.fromkeys(each.name for each in types))
        yield Problem(at, f"must be left out for {names}: there is no GPU", of_key=True)
