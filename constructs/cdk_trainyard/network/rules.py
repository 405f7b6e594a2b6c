"""What a network may look like: pure functions, one problem a sentence, silent about Tokens where they can be."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from cdk_trainyard.instances import catalogue_date, is_zone_id, zone_ids, zone_region
from cdk_trainyard.network.nat import Nat
from cdk_trainyard.network.subnet_layout import (
    LARGEST_SUBNET,
    SMALLEST_SUBNET,
    LayoutRequest,
    public_slot,
    service_slot,
    slot_count,
)
from cdk_trainyard.tokens import unresolved

_CARRIER_GRADE = IPv4Network("100.64.0.0/10")
_PRIVATE = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"), _CARRIER_GRADE)
# VPC user guide, "IPv4 CIDR block association restrictions", read 2026-11: (blocks of the VPC, what may not be added)
_NOT_TOGETHER = (
    (IPv4Network("10.0.0.0/15"), IPv4Network("10.0.0.0/16")),
    (IPv4Network("172.16.0.0/12"), IPv4Network("172.31.0.0/16")),
)
_REGION_ZONE_ID = re.compile(r"[a-z]+\d+-az\d+")
_ZONES_OF_A_SERVICE = 2  # RDS subnet groups, load balancers and EKS control planes ask for two


# ---------------------------------------------------------------- addresses
def address_count_problems(numbers: Mapping[str, int]) -> list[str]:
    """Check that no number of addresses is below 0.

    Args:
        numbers: What each number is, as the message begins, to the number.
    """
    return [
        f"{what} must be 0 or more, got {number}"
        for what, number in numbers.items()
        if not unresolved(number) and number < 0
    ]


def parse_cidr(text: str | None) -> IPv4Network | None:
    """Return a block of addresses, or None when ``text`` is none."""
    try:
        return IPv4Network(text) if text is not None else None
    except ValueError:
        return None


def cidr_problems(keyword: str, text: str | None) -> list[str]:
    """Check that a block can be a VPC's or a subnet's. It must be written out: subnets are computed from it."""
    if text is None:
        return []
    if unresolved(text):
        return [f"{keyword!r} must be written out, as '10.1.0.0/16', got a Token; the subnets are computed from it"]
    block = parse_cidr(text)
    if block is None:
        return [f"{keyword!r} must be an IPv4 block, as '10.1.0.0/16', got {text!r}{_without_host_bits(text)}"]
    problems = []
    if not LARGEST_SUBNET <= block.prefixlen <= SMALLEST_SUBNET:
        problems.append(f"{keyword!r} must be a /{LARGEST_SUBNET} to a /{SMALLEST_SUBNET}, got {text}")
    if not any(block.subnet_of(private) for private in _PRIVATE):
        ranges = ", ".join(str(private) for private in _PRIVATE)
        problems.append(f"{keyword!r} must be private, within one of {ranges}, got {text}")
    return problems


def secondary_cidr_problems(cidr: str, secondary_cidr: str | None) -> list[str]:
    """Check that EC2 lets a VPC have both blocks."""
    first, second = parse_cidr(cidr), parse_cidr(secondary_cidr)
    if first is None or second is None:
        return []
    if first.overlaps(second):
        return [f"'secondary_cidr' must not overlap 'cidr' {first}, got {second}"]
    own = next((private for private in _PRIVATE if first.subnet_of(private)), None)
    if own is not None and not second.subnet_of(own) and not second.subnet_of(_CARRIER_GRADE):
        allowed = f"{own} or {_CARRIER_GRADE}" if own != _CARRIER_GRADE else str(own)
        return [f"'secondary_cidr' must be within {allowed} beside 'cidr' {first}, got {second}; EC2 adds no other"]
    return [
        f"'secondary_cidr' must not be within {barred} beside 'cidr' {first}, got {second}; EC2 keeps it for services"
        for blocks, barred in _NOT_TOGETHER
        if first.subnet_of(blocks) and second.subnet_of(barred)
    ]


def accelerator_block_problems(
    cidr: str, secondary_cidr: str | None, accelerator_mask: int | None, accelerator_cidr: str | None
) -> list[str]:
    """Check the accelerator subnet's size and place."""
    if accelerator_mask is not None and accelerator_cidr is not None:
        got = f"got {accelerator_mask} and {accelerator_cidr!r}"
        return [f"'accelerator_mask' and 'accelerator_cidr' must not both be given, {got}; remove one"]
    whole, second = parse_cidr(cidr), parse_cidr(secondary_cidr)
    if whole is None or (secondary_cidr is not None and second is None):
        return []
    request = LayoutRequest(cidr=whole, secondary_cidr=second, zone="")
    if accelerator_mask is not None:
        return _mask_problems(request, accelerator_mask)
    if accelerator_cidr is not None:
        return _block_problems(request, parse_cidr(accelerator_cidr))
    if request.largest_mask > SMALLEST_SUBNET:
        return [
            f"'cidr' must be a /{SMALLEST_SUBNET - 1} or larger without 'secondary_cidr', got {cidr}{_why(request)}"
        ]
    return []


def layout_problems(request: LayoutRequest) -> list[str]:
    """Check that every public and service subnet finds a place. Asked when nothing else is wrong."""
    slots = slot_count(request)
    wanted = {
        "public_zones": [zone for zone in request.public_zones if public_slot(request, zone) >= slots],
        "service_zones": [zone for zone in request.service_zones if service_slot(zone) >= slots],
    }
    return [
        f"'cidr' must be larger for {keyword!r} in {', '.join(zones)}, got {request.cidr} with room for {slots} public "
        f"and {slots} service subnets, which go by the letter or number of the zone; use a /22 or larger"
        for keyword, zones in wanted.items()
        if zones
    ]


def _mask_problems(request: LayoutRequest, mask: int) -> list[str]:
    if unresolved(mask):
        return ["'accelerator_mask' must be written out, as 18, got a Token; the subnets are computed from it"]
    if request.largest_mask <= mask <= SMALLEST_SUBNET:
        return []
    sizes = f"{request.largest_mask} to {SMALLEST_SUBNET}"
    return [f"'accelerator_mask' must be {sizes} in {_where(request)}, got {mask}{_why(request)}"]


def _block_problems(request: LayoutRequest, block: IPv4Network | None) -> list[str]:
    if block is None:
        return []
    if not block.subnet_of(request.room):
        return [f"'accelerator_cidr' must be within {_where(request)}, got {block}"]
    if block.prefixlen < request.largest_mask:
        size = f"a /{request.largest_mask} or smaller"
        return [f"'accelerator_cidr' must be {size} in {_where(request)}, got {block}{_why(request)}"]
    return []


def _where(request: LayoutRequest) -> str:
    return f"'{'cidr' if request.secondary_cidr is None else 'secondary_cidr'}' {request.room}"


def _why(request: LayoutRequest) -> str:
    return "; the other half is for public and service subnets" if request.secondary_cidr is None else ""


def _without_host_bits(text: str) -> str:
    try:
        return f"; use {IPv4Network(text, strict=False)}"
    except ValueError:
        return ""


# ---------------------------------------------------------------- zones
def zone_problems(keyword: str, zone: str, region: str | None) -> list[str]:
    """Check that a zone is one, and of the Region. It must be written out: a name and an id are different properties.

    Args:
        keyword: The word that the user wrote it after.
        zone: The zone's name or id.
        region: The stack's Region; None when it is not known.
    """
    if unresolved(zone):
        return [f"{keyword!r} must be written out, as 'us-east-1a' or 'use1-az4', got a Token"]
    found = zone_region(zone)
    if found is None:
        return [f"{keyword!r} must be the name or the id of a zone, as 'us-east-1a' or 'use1-az4', got {zone!r}"]
    if "-wlz" in zone:
        return [f"{keyword!r} must be an Availability Zone or a Local Zone, got the Wavelength Zone {zone!r}"]
    if region is not None and found != region:
        return [f"{keyword!r} must be a zone of the stack's Region {region}, got {zone!r} of {found}"]
    known = zone_ids(found)
    if _REGION_ZONE_ID.fullmatch(zone) and known and zone not in known:
        return [f"{keyword!r} must be one of {', '.join(known)} (as of {catalogue_date()}), got {zone!r}"]
    return []


def further_zones_problems(keyword: str, zones: Sequence[str], region: str | None) -> list[str]:
    """Check zones that stand beside the accelerator subnet's: of the Region itself, and each once."""
    problems = [problem for zone in zones for problem in zone_problems(keyword, zone, region)]
    if problems:
        return problems
    problems += [
        f"{keyword!r} must be zones of the Region itself, got the Local Zone {zone!r}; only 'zone' may be one"
        for zone in zones
        if _is_local(zone)
    ]
    repeated = sorted({zone for zone in zones if list(zones).count(zone) > 1})
    if repeated:
        problems.append(f"{keyword!r} must name each zone once, got {', '.join(map(repr, repeated))} again")
    return problems


def zones_together_problems(zone: str, public_zones: Sequence[str], service_zones: Sequence[str]) -> list[str]:
    """Check that all zones are of one Region and written one way, and that services get at least two."""
    zones = [zone, *public_zones, *service_zones]
    if unresolved(*zones) or any(zone_region(each) is None for each in zones):
        return []
    problems = []
    regions = sorted({str(zone_region(each)) for each in zones})
    if len(regions) > 1:
        problems.append(f"'zone', 'public_zones' and 'service_zones' must be of one Region, got {', '.join(regions)}")
    names, ids = [each for each in zones if not is_zone_id(each)], [each for each in zones if is_zone_id(each)]
    if names and ids:
        problems.append(
            f"'zone', 'public_zones' and 'service_zones' must all be names or all be ids, got {names[0]!r} and "
            f"{ids[0]!r}; which name stands for which id differs from account to account"
        )
    if 0 < len(service_zones) < _ZONES_OF_A_SERVICE:
        problems.append(
            f"'service_zones' must be at least {_ZONES_OF_A_SERVICE} zones, got {service_zones[0]!r} alone; "
            f"add a zone, or leave them out"
        )
    return problems


def nat_problems(nat: Nat, public_zones: Sequence[str], private_zones: Sequence[str]) -> list[str]:
    """Check that a NAT gateway in every zone finds a public subnet there."""
    missing = sorted(set(private_zones) - set(public_zones))
    if nat != Nat.PER_ZONE or not missing:
        return []
    where = ", ".join(map(repr, missing))
    return [f"'nat' must be ONE without a public subnet in {where}, got PER_ZONE; add 'public_zones' there"]


def _is_local(zone: str) -> bool:
    return not _REGION_ZONE_ID.fullmatch(zone) if is_zone_id(zone) else zone[:-1] != zone_region(zone)
