"""Where a served model stands in the network of the file: zones and sizes of its subnets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Final, Literal

from cdk_trainyard.deployment.network import zones_of
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.instances import zone_ids, zone_region
from cdk_trainyard.network.rules import layout_request, network_problems, parse_cidr
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec, SubnetSpec
from cdk_trainyard.network.subnet_layout import (
    LARGEST_SUBNET,
    SMALLEST_SUBNET,
    LayoutRequest,
    SubnetLayout,
    plan_subnets,
    public_slot,
    service_slot,
    slot_count,
    usable_addresses,
)
from cdk_trainyard.problems import Problem
from cdk_trainyard.serving.rules_place import (
    LARGEST_PREFIX,
    LEAST_FREE,
    Addresses,
    Place,
    address_problems,
    size_problems,
    zones_problems,
)
from cdk_trainyard.serving.rules_service import most_hosts_at_once
from cdk_trainyard.tokens import unresolved

_Network = NetworkSpec | ExistingNetworkSpec
_Side = Literal["public", "service"]
_CIDR: Final = ("cidr",)
_PUBLIC: Final = ("serving", "load_balancer", "public")


def place_problems(section: ServingSection, network: _Network, region: str, *, nodes: int = 0) -> Iterator[Problem]:
    """A load balancer stands in two zones of the network: an internal one beside the tasks, or a public one.

    Problems are at keys of the network, or at one of ``serving``.

    Args:
        section: What is served.
        network: The network section.
        region: The Region.
        nodes: Addresses that a cluster takes in the service subnets. Default - none.
    """
    balancer = section.load_balancer
    if unresolved(balancer, balancer.public):
        return
    side: _Side = "public" if balancer.public else "service"
    name, _ = zones_of(network, side)
    places, tasks = _places(network, side), _places(network, "service")
    if places is None or tasks is None:
        return
    standing = [each.zone for each in tasks] or [network.zone]
    zones = {each.zone for each in places}
    if balancer.public or len(zones) != 1 or unresolved(*zones):  # the rules of networks speak of one service zone
        found = zones_problems((name,), places, public=balancer.public, tasks=standing if balancer.public else ())
        yield from (_asked_for(each, network) if balancer.public else each for each in found)
    hosts = most_hosts_at_once(section.hosts, section.scaling)
    addresses = Addresses(hosts=hosts or 0, doors=0 if balancer.public else len(places), nodes=nodes)
    if isinstance(network, ExistingNetworkSpec):
        yield from _existing(network, side, addresses)
    elif all(each.at == _CIDR for each in network_problems(network, region)) and (request := layout_request(network)):
        yield from _new(request, addresses)


def _asked_for(problem: Problem, network: _Network) -> Problem:
    """Return a problem of what is not said at all as one of what asks for it."""
    name = str(problem.at[0])
    if len(problem.at) > 1 or getattr(network, name):
        return problem
    return Problem(_PUBLIC, f"needs '{name}' of the network, which {problem.text}")


def _places(network: _Network, side: _Side) -> Sequence[Place] | None:
    """Return the subnets of one side, each once; None when they are not known."""
    name, zones = zones_of(network, side)
    if zones is None:
        return None
    if isinstance(network, NetworkSpec):
        of = {zone: "" if zone in getattr(network, name) else " of the NAT gateway" for zone in zones}
        return [Place(at=(name,), zone=zone, of=of[zone]) for zone in of]
    return [Place(at=(name, index, "zone"), zone=each.zone) for index, each in _subnets(network, side).items()]


def _subnets(network: ExistingNetworkSpec, side: _Side) -> dict[int, SubnetSpec]:
    subnets = network.public_subnets if side == "public" else network.service_subnets
    ids = [subnet.subnet_id for subnet in subnets]
    return {index: subnet for index, subnet in enumerate(subnets) if subnet.subnet_id not in ids[:index]}


# ---------------------------------------------------------------- sizes
def _existing(network: ExistingNetworkSpec, side: _Side, addresses: Addresses) -> Iterator[Problem]:
    doors = {index: parse_cidr(subnet.cidr) for index, subnet in _subnets(network, side).items()}
    yield from size_problems({(f"{side}_subnets", index, "cidr"): block for index, block in doors.items() if block})
    blocks = [parse_cidr(subnet.cidr) for subnet in _subnets(network, "service").values()]
    yield from address_problems(("service_subnets",), blocks, addresses, whose="'serving'")


def _new(request: LayoutRequest, addresses: Addresses) -> Iterator[Problem]:
    """Judge the subnets of a new VPC, also of one that is too small to have them all: a larger one need not be told."""

    def has_room(layout: SubnetLayout) -> bool:
        return not layout.service or _free([*layout.service.values()]) >= addresses.needed

    if _fits(request, lambda each: _holds_a_door(each) and has_room(each)):
        return
    door, room = _smallest(request, _holds_a_door), _smallest(request, has_room)
    if room is None:
        free = _free([*plan_subnets(_of_size(request, LARGEST_SUBNET)).service.values()])
        zones = f"{len({*request.service_zones})} zones with {free} at most"
        text = f"must have {addresses.needed} addresses for 'serving', got {zones}: {addresses.arithmetic}"
        wider = "" if request.secondary_cidr else ", give the accelerator subnet a 'secondary_cidr'"
        known = zone_ids(zone_region(request.zone) or "")
        more = "" if known and len({*request.service_zones}) >= len(known) else ", add zones"
        remedy = f"{more}{wider}, or {addresses.fewer}".removeprefix(", ").removeprefix("or ")
        yield Problem(("service_zones",), f"{text}; {remedy}")
    least, why = door, f"each subnet must be a /{LARGEST_PREFIX} or larger, with {LEAST_FREE} free addresses"
    if room is not None and (door is None or room < door):
        least, why = room, f"its service subnets must have {addresses.needed} addresses, as {addresses.arithmetic}"
    if least is not None and request.cidr.prefixlen > least:
        whose = "the load balancer of 'serving'" if least == door else "'serving'"
        yield Problem(_CIDR, f"must be a /{least} or larger for {whose}, got {request.cidr}: {why}")


def _holds_a_door(layout: SubnetLayout) -> bool:
    return all(block.prefixlen <= LARGEST_PREFIX for block in (*layout.public.values(), *layout.service.values()))


def _free(blocks: Sequence[IPv4Network]) -> int:
    return sum(usable_addresses(block.prefixlen) for block in blocks)


def _smallest(request: LayoutRequest, fits: Callable[[SubnetLayout], bool]) -> int | None:
    """Return the prefix length of the smallest VPC whose subnets fit; None when none does."""
    prefixes = range(SMALLEST_SUBNET, LARGEST_SUBNET - 1, -1)
    return next((prefix for prefix in prefixes if _fits(_of_size(request, prefix), fits)), None)


def _fits(request: LayoutRequest, fits: Callable[[SubnetLayout], bool]) -> bool:
    public = (public_slot(request, zone) for zone in request.public_zones)
    slots = [*public, *map(service_slot, request.service_zones)]
    return slot_count(request) > max(slots, default=0) and fits(plan_subnets(request))


def _of_size(request: LayoutRequest, prefix: int) -> LayoutRequest:
    """Return the request in another VPC, with the accelerator subnet wherever it is then."""
    return replace(request, cidr=IPv4Network((0, prefix)), accelerator_cidr=None, accelerator_mask=None)
