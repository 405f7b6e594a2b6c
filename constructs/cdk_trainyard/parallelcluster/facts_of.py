"""Makes the facts for ParallelCluster's rules (`context`) from constructs of networks."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from cdk_trainyard.network import Network, TrainingNetwork
from cdk_trainyard.network.rules import parse_cidr
from cdk_trainyard.parallelcluster.context import Place
from cdk_trainyard.surroundings import known


def place_of(network: Network) -> Place:
    """Return a network as the place where nodes are put."""
    new = network if isinstance(network, TrainingNetwork) else None
    return Place(
        accelerator_subnet=network.accelerator_subnet.subnet_id,
        accelerator_cidr=network.accelerator_cidr,
        public_subnets=tuple(subnet.subnet_id for subnet in network.public_subnets),
        zone=network.zone,
        has_nat=network.has_nat,
        gives_addresses=None if new is None else False,
        zones=_zones_of(network),
        blocks=dict(_blocks_of(network)),
        endpoints=() if new is None else new.interface_endpoints,
        endpoint_addresses=network.endpoint_addresses,
    )


def _zones_of(network: Network) -> Mapping[str, str]:
    service = zip(network.service_subnets, network.service_zones, strict=True)
    zones = {subnet.subnet_id: zone for subnet, zone in [(network.accelerator_subnet, network.zone), *service] if zone}
    for subnet in network.public_subnets:
        if zone := known(lambda subnet=subnet: subnet.availability_zone):  # type: ignore[misc]
            zones[subnet.subnet_id] = zone
    return zones


def _blocks_of(network: Network) -> Iterator[tuple[str, IPv4Network]]:
    for subnet in (*network.public_subnets, *network.service_subnets):
        if block := parse_cidr(known(lambda subnet=subnet: subnet.ipv4_cidr_block)):  # type: ignore[misc]
            yield subnet.subnet_id, block
