"""Zones, blocks and addresses of the subnets of the ``network:`` section, for other sections' rules."""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Final, Literal

from cdk_trainyard.instances import zone_region
from cdk_trainyard.network import address_plan
from cdk_trainyard.network.rules import layout_request, network_problems, parse_cidr
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.network.subnet_layout import SubnetLayout, plan_subnets
from cdk_trainyard.problems import Problem
from cdk_trainyard.tokens import unresolved

ACCELERATOR: Final = "accelerator"
"""What tells the accelerator subnet from others, in which a new file system stands."""
Side = Literal["public", "service"]


def accelerator_cidr(network: object, region: str | None) -> str | None:
    """Return the block of the accelerator subnet; None when it is not known, or the network cannot be.

    Args:
        network: The section, of whatever form.
        region: The Region.
    """
    if isinstance(network, ExistingNetworkSpec):
        cidr = network.accelerator_subnet.cidr
        return None if unresolved(cidr) else cidr
    layout = _layout(network, region)
    return str(layout.accelerator) if layout else None


def endpoint_addresses(network: object) -> int:
    """Return how many addresses of the accelerator subnet interface endpoints take, as far as they are known.

    Args:
        network: The section, of whatever form.
    """
    return address_plan.endpoint_addresses(network) if isinstance(network, NetworkSpec) else 0


def blocks_of(network: object, region: str | None, side: Side) -> Sequence[IPv4Network | None]:
    """Return the blocks of such subnets, None for one that is not known; none when the network cannot be.

    Args:
        network: The section, of whatever form.
        region: The Region.
        side: Whether those subnets are public, or private for services.
    """
    if isinstance(network, ExistingNetworkSpec):
        subnets = network.public_subnets if side == "public" else network.service_subnets
        return [] if unresolved(subnets) else [parse_cidr(subnet.cidr) for subnet in subnets]
    layout = _layout(network, region)
    return [*(layout.public if side == "public" else layout.service).values()] if layout else []


def _layout(network: object, region: str | None) -> SubnetLayout | None:
    if not isinstance(network, NetworkSpec) or network_problems(network, region):
        return None
    request = layout_request(network)
    return plan_subnets(request) if request else None


def address_problem(network: object, problem: Problem) -> Problem:
    """Return that the accelerator subnet is too small, said of the key that says how large it is.

    Args:
        network: The section, of whatever form.
        problem: The problem.
    """
    if isinstance(network, ExistingNetworkSpec):
        text = f"{problem.text}; one that exists cannot grow, so name another"
        return replace(problem, at=("network", "accelerator_subnet", "cidr"), text=text)
    keys = ("accelerator_cidr", "accelerator_mask", "secondary_cidr", "cidr")
    default = NetworkSpec(zone="")
    key = next((each for each in keys if getattr(network, each, None) != getattr(default, each)), "accelerator_mask")
    half = "; that is for the accelerator subnet, which has half of this block" if key == "cidr" else ""
    return replace(problem, at=("network", key), text=f"{problem.text}{half}")


def accelerator_zone(network: object, region: str | None) -> str | None:
    """Return the zone of the accelerator subnet; None when it is not known, or none of the Region.

    Args:
        network: The section, of whatever form.
        region: The Region.
    """
    if not isinstance(network, NetworkSpec | ExistingNetworkSpec) or unresolved(network.zone):
        return None
    return network.zone if zone_region(network.zone) == region else None


def zones_of(network: object, side: Side) -> tuple[str, Sequence[str] | None]:
    """Return the option that says where such subnets stand, and their zones; None when these are not known.

    Args:
        network: The section, of whatever form.
        side: Whether those subnets are public, or private for services.
    """
    public = side == "public"
    if isinstance(network, ExistingNetworkSpec):
        name, subnets = f"{side}_subnets", network.public_subnets if public else network.service_subnets
        return name, None if unresolved(subnets) else [subnet.zone for subnet in subnets]
    name = f"{side}_zones"
    if not isinstance(network, NetworkSpec) or unresolved(getattr(network, name)):
        return name, None
    return name, network.zones_of_public_subnets if public else network.service_zones
