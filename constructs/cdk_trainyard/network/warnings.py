"""What may go wrong with a network without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network
from typing import Final

from cdk_trainyard.network.rules import is_local, parse_cidr
from cdk_trainyard.network.spec import NetworkSpec
from cdk_trainyard.tokens import dummy

Warnings = Iterator[str]
_DOCKER_BRIDGE: Final = IPv4Network("172.17.0.0/16")


def docker_bridge(spec: NetworkSpec) -> Warnings:
    """A block that Docker has a network of its own in."""
    for block in (parse_cidr(spec.cidr), parse_cidr(spec.secondary_cidr)):
        if block is not None and block.overlaps(_DOCKER_BRIDGE):
            yield (
                f"{block} overlaps {_DOCKER_BRIDGE}, which Docker takes for its bridge on every node: what has an "
                "address there cannot be reached from the nodes; use another block"
            )


def nat_in_local_zone(spec: NetworkSpec) -> Warnings:
    """A NAT gateway in a Local Zone, of which few have them.

    Sources: AWS Local Zones user guide, "NAT gateway connection in Local Zones" (read 2026-11-28), and the answer of
    EC2 in aws-ia/terraform-aws-eks-blueprints#1095 (2022-10-27).
    """
    if spec.has_nat and not dummy(spec.zone) and is_local(spec.zone):
        yield (
            f"the NAT gateway stands in the Local Zone {spec.zone}, and not every Local Zone has them: where AWS "
            "Local Zones features lists none, the network cannot be made (NotAvailableInZone); use 'nat' none, or "
            "a network of yours, whose route may lead to a gateway in the Region"
        )


WARNINGS: Final[dict[str, Callable[[NetworkSpec], Warnings]]] = {
    "docker-bridge": docker_bridge,
    "nat-in-local-zone": nat_in_local_zone,
}
"""Every warning by its id, which is API."""
