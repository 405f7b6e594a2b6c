"""Whether the nodes fit into their subnets and reach their file systems: pure functions, silent about Tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from ipaddress import IPv4Network

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup, SubnetFacts
from cdk_trainyard.hyperpod.spec_groups import InterfaceType
from cdk_trainyard.instances import InstanceType, zone_region
from cdk_trainyard.instances.zones import differ
from cdk_trainyard.network.address_plan import AddressPlan, AddressUse
from cdk_trainyard.network.rules import parse_cidr
from cdk_trainyard.network.subnet_layout import usable_addresses
from cdk_trainyard.problems import At, Problem, option, shown, within
from cdk_trainyard.storage.mount_facts import MountFacts
from cdk_trainyard.tokens import unresolved


def address_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that every subnet has an address for every interface of its nodes, file servers and endpoints."""
    for subnet, groups in by_subnet(cluster):
        block = parse_cidr(subnet.cidr)
        if block is None:
            continue
        unpublished = [problem for group in groups for problem in within(group.at, _unpublished(group))]
        if unpublished:
            yield from unpublished
            continue
        plan = address_plan(cluster, subnet, groups)
        if replace(plan, reserve=0).required > usable_addresses(block.prefixlen):
            yield _shortage(cluster, subnet, groups, plan)


def address_plan(cluster: ResolvedCluster, subnet: SubnetFacts, groups: Sequence[ResolvedGroup]) -> AddressPlan:
    """Return what a subnet must hold.

    Args:
        cluster: The cluster.
        subnet: The subnet.
        groups: The groups whose nodes are in it, of types whose addresses are published.
    """
    uses = [_address_use(group) for group in groups if group.types and not unresolved(group.spec.count)]
    servers = _file_servers(cluster, subnet)
    return AddressPlan(uses, lustre_file_servers=servers, interface_endpoints=subnet.endpoint_addresses)


def _shortage(
    cluster: ResolvedCluster, subnet: SubnetFacts, groups: Sequence[ResolvedGroup], plan: AddressPlan
) -> Problem:
    """Return that a subnet is too small, said of what leaves no address to a node of each group, or of the groups."""
    block = IPv4Network(str(subnet.cidr))
    usable, least = usable_addresses(block.prefixlen), plan.reserve + plan.interface_endpoints + len(groups)
    plan = replace(plan, reserve=0)
    if usable < least:
        at: At = ("network", "accelerator_cidr") if subnet == cluster.facts.subnet else (*groups[0].at, "network")
        return Problem(at, plan.shortage(str(block)) or "")
    got = f"got {plan.required} ({plan.arithmetic}); use {plan.smallest_subnet}"
    servers = {
        mount.file_servers: index
        for index, mount in enumerate(cluster.facts.mounts)
        if mount.file_servers and mount.subnet == subnet.identity
    }
    if servers and usable < least + plan.lustre_file_servers:
        text = f"must leave the nodes addresses of the {usable} of the subnet {block}, {got}, or less capacity"
        return Problem(("mounts", servers[max(servers)], "capacity_gib"), text)
    text = f"must take at most the {usable} addresses of the subnet {block}, {got}, EFA-only interfaces, or fewer nodes"
    return Problem(("groups",), text)


def zone_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that subnets are in the cluster's Region, and a file system with EFA in the zone of its clients."""
    wanted = cluster.facts.environment.region
    for subnet, groups in by_subnet(cluster):
        region = None if unresolved(subnet.zone) else zone_region(subnet.zone or "")
        if wanted and region and region != wanted:
            at = ("network",) if subnet == cluster.facts.subnet else (*groups[0].at, "network")
            text = f"must be in the stack's Region {wanted}, got one in zone {shown(subnet.zone)} of {region}"
            yield Problem(at, text)
    told: set[tuple[object, ...]] = set()
    for group, index, mount in mounts_across_zones(cluster):
        if mount.efa_enabled and group.subnet is not None:
            at = ("mounts", index) if group.facts.mounts is None else (*group.at, "mounts", index)
            if at not in told:
                got = f"got one in {shown(mount.zone)} for nodes of {shown(group.name)} in {shown(group.subnet.zone)}"
                yield Problem(at, f"must not be EFA-enabled in another zone, {got}; EFA does not cross zones")
            told.add(at)


def mounts_across_zones(cluster: ResolvedCluster) -> Iterator[tuple[ResolvedGroup, int, MountFacts]]:
    """Yield group, place among its mounts and mount for every file system that stands in another zone.

    Args:
        cluster: The cluster.
    """
    for group in cluster.groups:
        if group.subnet is not None:
            for index, mount in enumerate(group.mounts):
                if differ(mount.zone, group.subnet.zone):
                    yield group, index, mount


def by_subnet(cluster: ResolvedCluster) -> Iterator[tuple[SubnetFacts, list[ResolvedGroup]]]:
    """Yield every subnet that nodes are in, with their groups.

    Args:
        cluster: The cluster.
    """
    groups: dict[str, tuple[SubnetFacts, list[ResolvedGroup]]] = {}
    for group in cluster.groups:
        if group.subnet is not None:
            groups.setdefault(group.subnet.identity, (group.subnet, []))[1].append(group)
    yield from groups.values()


def _addresses(group: ResolvedGroup, known: InstanceType) -> int:
    return known.hyperpod_addresses("slurm", efa_only=group.spec.interface_type is InterfaceType.EFA_ONLY)


def _unpublished(group: ResolvedGroup) -> Iterator[Problem]:
    for index, said in enumerate(group.spec.names_of_types):
        known = None if unresolved(said) else InstanceType.find(said)
        try:
            _addresses(group, known) if known else None
        except ConfigurationError:
            got = shown(said if isinstance(said, str) else said.name)
            text = f"must be one whose interfaces under HyperPod are published, got {got}; "
            at: At = ("instance_types", index) if group.spec.instance_type is None else ("instance_type",)
            yield Problem(at, f"{text}set {option('interface_type')} to {InterfaceType.EFA_ONLY}")


def _address_use(group: ResolvedGroup) -> AddressUse:
    costliest = max(group.types, key=lambda known: _addresses(group, known))  # of several types any may come
    return AddressUse(
        name=group.name,
        instance_type=costliest.name,
        count=group.spec.count,
        addresses_per_node=_addresses(group, costliest),
    )


def _file_servers(cluster: ResolvedCluster, subnet: SubnetFacts) -> int:
    mounted = {mount.identity: mount for group in cluster.groups for mount in group.mounts}
    return sum(mount.file_servers or 0 for mount in mounted.values() if mount.subnet == subnet.identity)
