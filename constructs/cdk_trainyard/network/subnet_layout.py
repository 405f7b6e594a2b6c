"""Which block of addresses each subnet gets. Pure arithmetic, and stable: a new zone never moves an old subnet.

Half of the VPC is the accelerator subnet's. The other half is quartered for public and for service subnets, and each
quarter is cut into equal slots. A zone's slot follows from the zone alone (``us-east-1c`` and ``use1-az3`` are the
third), not from its place in a list, so zones can be added, removed and reordered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network

from cdk_trainyard.instances import is_zone_id

LARGEST_SUBNET = 16
SMALLEST_SUBNET = 28
"""Prefix lengths that VPCs and subnets may have.

Source: VPC user guide, "VPC CIDR blocks" and "Subnet CIDR blocks", read 2026-11.
"""
RESERVED_ADDRESSES = 5
"""Addresses of every subnet that AWS keeps: the first four and the last. Source: as above."""

_PUBLIC_PREFIX = 24  # NAT gateways, load balancers, head nodes: 251 addresses are plenty
_MOST_SLOTS = 4  # as a power of two: 16 slots, more than any Region has zones


@dataclass(frozen=True, kw_only=True, slots=True)
class LayoutRequest:
    """What the blocks are wanted for.

    Attributes:
        cidr: The VPC's block.
        secondary_cidr: A further block, for the accelerator subnet alone. None: it lies in ``cidr``.
        accelerator_cidr: The accelerator subnet's block. None: it is chosen.
        accelerator_mask: The accelerator subnet's prefix length. None: half of ``cidr``, or all of ``secondary_cidr``.
        zone: The accelerator subnet's zone.
        public_zones: Zones with a public subnet.
        service_zones: Zones with a service subnet.
    """

    cidr: IPv4Network
    secondary_cidr: IPv4Network | None = None
    accelerator_cidr: IPv4Network | None = None
    accelerator_mask: int | None = None
    zone: str
    public_zones: Sequence[str] = ()
    service_zones: Sequence[str] = ()

    @property
    def room(self) -> IPv4Network:
        """The block of the VPC that the accelerator subnet lies in."""
        return self.secondary_cidr or self.cidr

    @property
    def largest_mask(self) -> int:
        """The prefix length of the largest accelerator subnet that leaves room for the others."""
        return self.cidr.prefixlen + 1 if self.secondary_cidr is None else self.secondary_cidr.prefixlen


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetLayout:
    """The blocks of all subnets.

    Attributes:
        accelerator: The accelerator subnet.
        public: Zone to public subnet, in the order asked for.
        service: Zone to service subnet, in the order asked for.
    """

    accelerator: IPv4Network
    public: Mapping[str, IPv4Network]
    service: Mapping[str, IPv4Network]


def plan_subnets(request: LayoutRequest) -> SubnetLayout:
    """Give every subnet its block. The request must have passed ``layout_problems``."""
    public, service = _small_rooms(request)
    return SubnetLayout(
        accelerator=_accelerator(request),
        public={zone: _shrunk(_slot(public, public_slot(request, zone))) for zone in request.public_zones},
        service={zone: _slot(service, service_slot(zone)) for zone in request.service_zones},
    )


def usable_addresses(prefix: int) -> int:
    """Return how many addresses of a subnet can be used."""
    return int(2 ** (32 - prefix)) - RESERVED_ADDRESSES


def slot_count(request: LayoutRequest) -> int:
    """Return how many public subnets, and how many service subnets, the VPC can have; 0 when it is too small."""
    spare = SMALLEST_SUBNET - (request.cidr.prefixlen + _halvings(request))
    return int(2 ** min(spare, _MOST_SLOTS)) if spare >= 0 else 0


def all_slots_mask(request: LayoutRequest, of: int = SMALLEST_SUBNET) -> int:
    """Return the prefix length of the smallest VPC that has every slot, each of a prefix length."""
    return of - _MOST_SLOTS - _halvings(request)


def least_mask(request: LayoutRequest) -> int:
    """Return the prefix length of the smallest VPC that holds every subnet, wherever the accelerator subnet is."""
    slots = [*(public_slot(request, zone) for zone in request.public_zones), *map(service_slot, request.service_zones)]

    def fits(prefix: int) -> bool:
        wider = replace(request, cidr=IPv4Network((0, prefix)), accelerator_cidr=None, accelerator_mask=None)
        return wider.largest_mask <= SMALLEST_SUBNET and slot_count(wider) > max(slots, default=-1)

    return next(filter(fits, range(SMALLEST_SUBNET, LARGEST_SUBNET, -1)), LARGEST_SUBNET)


def _halvings(request: LayoutRequest) -> int:
    return 1 if request.secondary_cidr is not None else 2


def public_slot(request: LayoutRequest, zone: str) -> int:
    """Return the slot of a public subnet: the first is kept for the accelerator subnet's zone, of whatever kind."""
    return 0 if zone == request.zone else zone_ordinal(zone)


def service_slot(zone: str) -> int:
    """Return the slot of a service subnet."""
    return zone_ordinal(zone) - 1


def zone_ordinal(zone: str) -> int:
    """Return 3 for ``us-east-1c`` and for ``use1-az3``; the zone must be one of the Region itself."""
    return int(zone.rpartition("az")[2]) if is_zone_id(zone) else ord(zone[-1]) - ord("a") + 1


def _accelerator(request: LayoutRequest) -> IPv4Network:
    if request.accelerator_cidr is not None:
        return request.accelerator_cidr
    mask = request.accelerator_mask or request.largest_mask
    # the upper half, so that the small subnets stay where they are whatever the mask
    half = list(request.room.subnets(new_prefix=request.largest_mask))[-1]
    return next(half.subnets(new_prefix=mask))


def _small_rooms(request: LayoutRequest) -> tuple[IPv4Network, IPv4Network]:
    room = request.cidr if request.secondary_cidr is not None else _other_half(request.cidr, _accelerator(request))
    public, service = room.subnets()
    return public, service


def _other_half(whole: IPv4Network, taken: IPv4Network) -> IPv4Network:
    lower, upper = whole.subnets()
    return upper if taken.subnet_of(lower) else lower


def _slot(room: IPv4Network, index: int) -> IPv4Network:
    return list(room.subnets(prefixlen_diff=min(SMALLEST_SUBNET - room.prefixlen, _MOST_SLOTS)))[index]


def _shrunk(slot: IPv4Network) -> IPv4Network:
    return next(slot.subnets(new_prefix=max(slot.prefixlen, _PUBLIC_PREFIX)))
