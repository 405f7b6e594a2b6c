"""Whether the nodes fit into their subnets and reach their file systems. Pure: nothing is created here."""

from collections.abc import Iterator

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import limits
from cdk_trainyard.hyperpod.instance_group import InterfaceType
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.instances import zone_region
from cdk_trainyard.network import AddressPlan, AddressUse, Network
from cdk_trainyard.storage import Lustre
from cdk_trainyard.storage.reach import in_other_zone
from cdk_trainyard.tokens import unresolved


def address_problems(cluster: ResolvedCluster) -> list[str]:
    """Every subnet has an address for every interface of its nodes and file servers (R12)."""
    problems: list[str] = []
    for network, groups in _by_network(cluster):
        cidr = network.accelerator_cidr
        counted = all(unresolved(group.given.count) or group.given.count in limits.INSTANCES for group in groups)
        if cidr is None or not counted:
            continue
        try:
            uses = [_address_use(group) for group in groups if group.types]
        except ConfigurationError as error:
            problems += error.problems
            continue
        problems += AddressPlan(uses, lustre_file_servers=_file_servers(cluster, network)).problems(cidr)
    return problems


def zone_problems(cluster: ResolvedCluster) -> list[str]:
    """Subnets are in the cluster's Region, and a file system with EFA in the zone of its clients (R11)."""
    problems = []
    for network, _ in _by_network(cluster):
        region = None if unresolved(network.zone) else zone_region(network.zone)
        if cluster.region and region and region != cluster.region:
            problems.append(
                f"'network' must be in the cluster's Region {cluster.region}, got one in zone {network.zone!r} "
                f"of {region}"
            )
    problems += [
        f"'mounts' of group {group_name!r} must not hold an EFA-enabled file system of another zone, got one in "
        f"{file_system.zone!r} for nodes in {zone!r}; EFA does not cross zones"
        for group_name, zone, file_system in mounts_across_zones(cluster)
        if file_system.efa_enabled
    ]
    return problems


def mounts_across_zones(cluster: ResolvedCluster) -> Iterator[tuple[str, str, Lustre]]:
    """Yield group, zone of its nodes and file system for every Lustre mount that crosses zones.

    Args:
        cluster: The cluster.
    """
    for group in cluster.groups:
        network = group.given.network or cluster.network
        if network is None:
            continue
        for mount in group.mounts:
            file_system = mount.file_system
            if isinstance(file_system, Lustre) and in_other_zone(file_system, network.zone):
                yield group.name, network.zone, file_system


def _by_network(cluster: ResolvedCluster) -> Iterator[tuple[Network, list[ResolvedGroup]]]:
    groups: dict[int, tuple[Network, list[ResolvedGroup]]] = {}
    for group in cluster.groups:
        if network := group.given.network or cluster.network:
            groups.setdefault(id(network), (network, []))[1].append(group)
    yield from groups.values()


def _address_use(group: ResolvedGroup) -> AddressUse:
    efa_only = group.given.interface_type is InterfaceType.EFA_ONLY
    # of several types any may come
    costliest = max(group.types, key=lambda known: known.hyperpod_addresses("slurm", efa_only=efa_only))
    return AddressUse(
        name=group.name,
        instance_type=costliest.name,
        count=group.given.count,
        addresses_per_node=costliest.hyperpod_addresses("slurm", efa_only=efa_only),
    )


def _file_servers(cluster: ResolvedCluster, network: Network) -> int:
    mounted = {id(mount.file_system): mount.file_system for group in cluster.groups for mount in group.mounts}
    return sum(
        file_system.file_servers or 0
        for file_system in mounted.values()
        if isinstance(file_system, Lustre) and file_system.zone == network.zone
    )
