"""Whether subnets have an address for every node. Pure: nothing is created here."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Network

from cdk_trainyard.network.address_plan import AddressPlan, AddressUse
from cdk_trainyard.network.rules import parse_cidr
from cdk_trainyard.network.subnet_layout import LARGEST_SUBNET, usable_addresses
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, Place
from cdk_trainyard.parallelcluster.resolve import (
    computes,
    known,
    nodes_at_most,
    subnet_of,
    subnets,
    type_names,
    types_of,
)
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_queues import ComputeResource
from cdk_trainyard.problems import At, Flaw, Problem
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_Uses = Mapping[At, AddressUse]


def address_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Subnets have an address for every node at its largest, and the accelerator subnet for its neighbours, too."""
    place, standing = context.place, list(_standing(spec, context.place))
    private = frozenset([place.accelerator_subnet])
    plan = replace(accelerator_plan(spec, context), reserve=0)
    if place.accelerator_cidr is not None and not unresolved(place.accelerator_cidr):
        nodes = {at: use for at, where, use in standing if where == private and at[0] == "queues"}
        yield from _accelerator_problems(nodes, plan, place.accelerator_cidr)
    blocks = {**place.blocks, place.accelerator_subnet: parse_cidr(place.accelerator_cidr)}
    for group in dict.fromkeys(where for _, where, _ in standing if where != private):
        found = [block for subnet in group if (block := blocks.get(subnet))]
        if len(found) == len(group):
            uses = {at: use for at, where, use in standing if where <= group}
            beside = plan if private <= group else AddressPlan([])
            yield from _group_problems(replace(beside, uses=[*uses.values()], other=0, reserve=0), uses, sorted(found))


def accelerator_plan(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> AddressPlan:
    """Return what the accelerator subnet must hold of what stands in it and in no other.

    Args:
        spec: The resolved cluster.
        context: What it stands in.
    """
    private = context.place.accelerator_subnet
    uses = [(at, use) for at, where, use in _standing(spec, context.place) if where == {private}]
    return AddressPlan(
        [use for at, use in uses if at[0] == "queues"],
        lustre_file_servers=sum(
            mount.file_servers or 0 for _, mount in known(context.mounts) if mount.subnet == private
        ),
        interface_endpoints=context.place.endpoint_addresses,
        other=sum(use.addresses for at, use in uses if at[0] != "queues"),
    )


def addresses_within(spec: ParallelClusterSpec, place: Place, among: Collection[str]) -> int:
    """Return how many addresses nodes take at their largest that are in some subnets and in no others.

    Args:
        spec: The resolved cluster.
        place: Where nodes are put.
        among: Ids of subnets.
    """
    return sum(use.addresses for _, where, use in _standing(spec, place) if where.issubset(among))


def _standing(spec: ParallelClusterSpec, place: Place) -> Iterator[tuple[At, frozenset[str], AddressUse]]:
    """Yield nodes at their largest: where their number is said, the subnets that they may be in, and what they take."""
    for at, queue, compute in computes(spec):
        name, types = f"{queue.name}/{compute.name}", ", ".join(map(str, type_names(compute)))
        use = _use(name, types, nodes_at_most(compute), _addresses_per_node(compute))
        yield from (((*at, "max_count"), frozenset(subnets(queue, place)), each) for each in use)
    for index, pool in known(spec.login_pools):
        use = _use(str(pool.name), str(pool.instance_type), pool.count)
        yield from ((("login_pools", index, "count"), frozenset([subnet_of(pool, place)]), each) for each in use)
    if subnet := place.of_head_node(spec.head_node):
        use = _use("head node", str(spec.head_node.instance_type), 1)
        yield from ((("head_node",), frozenset([subnet]), each) for each in use)


def _use(name: str, instance_type: str, count: int, addresses: int = 1) -> Iterator[AddressUse]:
    """Yield what nodes take, where their number is known."""
    if not unresolved(count) and count > 0:
        yield AddressUse(name=name, instance_type=instance_type, count=count, addresses_per_node=addresses)


def _addresses_per_node(compute: ComputeResource) -> int:
    """Return the addresses that ParallelCluster takes for a node: one, and without EFA one for each network card."""
    return 1 if compute.efa else max((len(each.network_cards) for each in types_of(compute)), default=1)


def _accelerator_problems(nodes: _Uses, plan: AddressPlan, cidr: str) -> Problems:
    most = usable_addresses(LARGEST_SUBNET)
    if plan.required > most and nodes:  # no block helps
        whose = f"all that the largest subnet (a /{LARGEST_SUBNET}) has"
        yield _too_many(nodes, plan, most, whose, "use fewer nodes, or further subnets")
    elif short := plan.shortage(cidr):
        yield Problem(("network", "accelerator_cidr"), short)


def _group_problems(plan: AddressPlan, uses: _Uses, blocks: Sequence[IPv4Network]) -> Problems:
    """Yield that subnets are too small together for what is in them alone."""
    free = sum(usable_addresses(block.prefixlen) for block in blocks)
    if plan.required > free:
        whose = f"all of {' and '.join(map(str, blocks))}"
        yield _too_many(uses, plan, free, whose, "use fewer nodes, or more or larger subnets")


def _too_many(uses: _Uses, plan: AddressPlan, most: int, whose: str, remedy: str) -> Problem:
    """Return that nodes take more addresses than there are, said of those that take most."""
    got = f"{plan.required} ({plan.arithmetic})"
    flaw = Flaw(f"must let the nodes take at most {most} addresses, {whose}", got, f"; {remedy}")
    return flaw.at(max(uses, key=lambda at: uses[at].addresses))
