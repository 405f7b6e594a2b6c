"""What a network may look like: pure functions of what was said, silent about Tokens where they can be."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from itertools import accumulate
from string import ascii_lowercase

from cdk_trainyard.errors import asked
from cdk_trainyard.instances import InstanceType, catalogue_date, is_zone_id, regions, zone_ids, zone_region
from cdk_trainyard.network.bucket_policy import public_arns, s3_policy
from cdk_trainyard.network.spec import CARRIER_GRADE, PRIVATE, RFC_1918, Endpoint, Nat, NetworkSpec
from cdk_trainyard.network.subnet_layout import (
    LARGEST_SUBNET,
    SMALLEST_SUBNET,
    LayoutRequest,
    all_slots_mask,
    least_mask,
    public_slot,
    service_slot,
    slot_count,
    zone_ordinal,
)
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.remedies import alone, as_written, bare
from cdk_trainyard.options.signs import hyphenated
from cdk_trainyard.partitions import partition_of
from cdk_trainyard.problems import At, Flaw, Problem, either, option, shown
from cdk_trainyard.tokens import dummy, unresolved

# VPC user guide, "IPv4 CIDR block association restrictions", read 2026-11: (blocks of the VPC, what may not be added)
_NOT_TOGETHER = (
    (IPv4Network("10.0.0.0/15"), IPv4Network("10.0.0.0/16")),
    (IPv4Network("172.16.0.0/12"), IPv4Network("172.31.0.0/16")),
)
_REGION_ZONE_ID = re.compile(r"[a-z]+[0-9]+-az[0-9]+", re.ASCII)
_OLDER_ACCOUNTS = ("apne1-az3", "cac1-az3", "euw1-az4", "usw1-az2")
"""Zones that no list of the catalogue has, as new accounts do not see them. AWS Regions and Availability Zones, "AWS
Availability Zones", read 2026-11, has the first and the last; AWS Security Agent user guide, "Connect to privately
hosted source control", read 2026-11, names all four as zones that Amazon VPC Lattice is not in."""
_USUAL_ZONES, _LEAST_LETTERS = 3, 4  # cn-north-1 has a zone d beside a and b
_LOAD_BALANCERS_SUBNET = 27  # Elastic Load Balancing, "Subnets for your load balancer", read 2026-11
_LONGEST_POLICY = 20_480
_FURTHER = ("public_zones", "service_zones")
_WITHOUT_PROMETHEUS = "aws-cn"
_ANY_REGION = "us-east-1"
ZONES_OF_A_SERVICE = 2  # RDS subnet groups, load balancers and EKS control planes ask for two


# ---------------------------------------------------------------- all of them
def network_problems(spec: NetworkSpec, region: str | None) -> list[Problem]:
    """Return everything that is wrong with a new network.

    Args:
        spec: The network.
        region: The stack's Region. None: not known.
    """
    of_each = [
        *zone_problems(("zone",), spec.zone, region),
        *further_zones_problems("public_zones", spec.public_zones, region),
        *further_zones_problems("service_zones", spec.service_zones, region),
    ]
    of_zones = of_each or [*one_way_problems(spec)]
    problems = [
        *of_zones,
        *zones_together_problems(spec, region),
        *(found for name in ("cidr", "accelerator_cidr", "secondary_cidr") for found in cidr_problems(spec, name)),
        *secondary_cidr_problems(spec),
        *accelerator_block_problems(spec),
        *(nat_problems(spec) if not of_zones else ()),  # other zones may have a subnet
        *endpoints_problems(spec),
        *prometheus_problems(spec, region),
        *flow_logs_problems(spec),
        *public_buckets_problems(spec, region),
    ]
    request = layout_request(spec)
    return problems if problems or request is None else list(layout_problems(request))


def efa_problems(at: At, instance_type: InstanceType) -> Iterator[Problem]:
    """Check that a type takes EFA interfaces."""
    if not instance_type.efa_supported:
        yield Problem(at, f"must be one with EFA, got {shown(instance_type.name)}; launch it without EFA interfaces")


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
        return IPv4Network(text) if text is not None and not unresolved(text) else None
    except ValueError:
        return None


def private_range(block: IPv4Network) -> IPv4Network | None:
    """Return the range of RFC 1918 that a block is within, if any."""
    return next((private for private in RFC_1918 if block.subnet_of(private)), None)


def cidr_problems(spec: NetworkSpec, name: str) -> Iterator[Problem]:
    """Check that a block is written out: subnets are computed from it."""
    text = getattr(spec, name)
    if isinstance(text, str) and unresolved(text) and not dummy(text):
        yield Problem((name,), "must be written out, as '10.1.0.0/16', got a Token; the subnets are computed from it")


def secondary_cidr_problems(spec: NetworkSpec) -> Iterator[Problem]:
    """Check that EC2 lets a VPC have both blocks."""
    at, first, second = ("secondary_cidr",), parse_cidr(spec.cidr), parse_cidr(spec.secondary_cidr)
    if first is None or second is None:
        return
    beside = f"beside {option('cidr')} {first}"
    own = next((private for private in PRIVATE if first.subnet_of(private)), None)
    if first.overlaps(second):
        yield Problem(at, f"must not overlap {option('cidr')} {first}, got {second}")
    elif own is not None and not second.subnet_of(own) and not second.subnet_of(CARRIER_GRADE):
        allowed = f"{own} or {CARRIER_GRADE}" if own != CARRIER_GRADE else str(own)
        yield Problem(at, f"must be within {allowed} {beside}, got {second}; EC2 adds no other private one")
    else:
        for blocks, barred in _NOT_TOGETHER:
            if first.subnet_of(blocks) and second.subnet_of(barred):
                yield Problem(at, f"must not be within {barred} {beside}, got {second}; EC2 keeps it for services")


def accelerator_block_problems(spec: NetworkSpec) -> Iterator[Problem]:
    """Check the accelerator subnet's size and place."""
    mask, block = spec.accelerator_mask, spec.accelerator_cidr
    whole, second = parse_cidr(spec.cidr), parse_cidr(spec.secondary_cidr)
    if mask is not None and block is not None:
        got = f"got {mask} and {shown(block)}"
        yield Problem(
            ("accelerator_mask",), f"and {option('accelerator_cidr')} must not both be given, {got}; remove one"
        )
    elif whole is not None and (spec.secondary_cidr is None or second is not None):
        request = LayoutRequest(cidr=whole, secondary_cidr=second, zone="")
        if request.largest_mask > SMALLEST_SUBNET:  # the VPC is too small, whatever is said of its parts
            return
        if mask is not None:
            yield from _mask_problems(request, mask)
        elif block is not None:
            yield from _block_problems(request, parse_cidr(block))


def layout_problems(request: LayoutRequest) -> Iterator[Problem]:
    """Check that every public and service subnet finds a place. Asked when nothing else is wrong."""
    slots, least = slot_count(request), least_mask(request)
    wanted = {
        "public_zones": [zone for zone in request.public_zones if public_slot(request, zone) >= slots],
        "service_zones": [zone for zone in request.service_zones if service_slot(zone) >= slots],
    }
    balanced = all_slots_mask(request, of=_LOAD_BALANCERS_SUBNET)
    use = f"use a /{least} or larger, or a /{balanced} or larger where load balancers stand in them"
    for name, zones in wanted.items():
        if zones:
            what = "the public subnet of its NAT gateway" if zones == [request.zone] else option(name)
            yield Problem(
                ("cidr",),
                f"must be larger for {what} in {', '.join(zones)}, got {request.cidr} with room for {slots} "
                f"public and {slots} service subnets, which go by letter or number of the zone; {use}",
            )
    if request.largest_mask > SMALLEST_SUBNET and not any(wanted.values()):
        text = f"must be a /{least} or larger without {option('secondary_cidr')}, got {request.cidr}{_why(request)}"
        yield Problem(("cidr",), text)


def layout_request(spec: NetworkSpec) -> LayoutRequest | None:
    """Return what blocks are wanted for, or None when something that they are computed from is not known."""
    zones = (spec.zone, *spec.public_zones, *spec.service_zones)
    cidr = parse_cidr(spec.cidr)
    if cidr is None or unresolved(*zones, spec.secondary_cidr, spec.accelerator_cidr, spec.accelerator_mask, spec.nat):
        return None
    return LayoutRequest(
        cidr=cidr,
        secondary_cidr=parse_cidr(spec.secondary_cidr),
        accelerator_cidr=parse_cidr(spec.accelerator_cidr),
        accelerator_mask=spec.accelerator_mask,
        zone=spec.zone,
        public_zones=spec.zones_of_public_subnets,
        service_zones=tuple(spec.service_zones),
    )


def _mask_problems(request: LayoutRequest, mask: int) -> Iterator[Problem]:
    at = ("accelerator_mask",)
    if isinstance(mask, float):
        yield Problem(at, "must be written out, as 18, got a Token; the subnets are computed from it")
    elif not unresolved(mask) and not request.largest_mask <= mask <= SMALLEST_SUBNET:
        sizes = f"{request.largest_mask} to {SMALLEST_SUBNET}"
        yield Problem(at, f"must be {sizes} in {_where(request)}, got {mask}{_why(request)}")


def _block_problems(request: LayoutRequest, block: IPv4Network | None) -> Iterator[Problem]:
    at = ("accelerator_cidr",)
    if block is None:
        return
    if not block.subnet_of(request.room):
        yield Problem(at, f"must be within {_where(request)}, got {block}")
    elif block.prefixlen < request.largest_mask:
        size = f"a /{request.largest_mask} or smaller"
        yield Problem(at, f"must be {size} in {_where(request)}, got {block}{_why(request)}")


def _where(request: LayoutRequest) -> str:
    return f"{option('cidr' if request.secondary_cidr is None else 'secondary_cidr')} {request.room}"


def _why(request: LayoutRequest) -> str:
    if request.secondary_cidr is not None:
        return ""
    more = f"; {option('secondary_cidr')} may have more" if request.cidr.prefixlen == LARGEST_SUBNET else ""
    return f"; the other half is for public and service subnets{more}"


# ---------------------------------------------------------------- zones
def zone_problems(at: At, zone: str | None, region: str | None) -> Iterator[Problem]:
    """Check that a zone is one, and of the Region. It must be written out: a name and an id are different properties.

    Args:
        at: Where it was written.
        zone: The zone's name or id. None: it is not said.
        region: The stack's Region. None: not known.
    """
    if not isinstance(zone, str) or dummy(zone):
        return
    found, example = zone_region(zone), _examples(region or _ANY_REGION)
    known = zone_ids(found) if found else ()
    if unresolved(zone):
        yield Problem(at, f"must be written out, {example}, got a Token")
    elif found is None:
        near, plain = bare(zone.strip()).lower(), hyphenated(zone)
        remedy = f"; use {shown(near)}" if zone_region(near) else asked(zone, [plain] if zone_region(plain) else [])
        wrong = Flaw(f"must be the name or the id of a zone, {example}", got=shown(zone), remedy=remedy)
        meant = (flaw for text, flaw in alone(zone) if zone_region(text))
        yield next(meant, as_written(wrong, zone)).at(at)
    elif "-wlz" in zone:
        yield Problem(at, f"must be an Availability Zone or a Local Zone, got the Wavelength Zone {shown(zone)}")
    elif region is not None and found != region:
        must, got = f"must be a zone of the stack's Region {region}", f"got {shown(zone)}"
        yield Problem(at, f"{must}, {got} of {found}" if found in regions() else f"{must}, {example}, {got}")
    elif _REGION_ZONE_ID.fullmatch(zone) and known and zone not in {*known, *_OLDER_ACCOUNTS}:
        yield Problem(at, f"must be one of {', '.join(known)} (as of {catalogue_date()}), got {shown(zone)}")
    elif known and zone[:-1] == found and zone[-1] not in (letters := _letters(found)):
        last = f"{found}{letters[-1]}"
        yield Problem(at, f"must be one of {found}a to {last} (as of {catalogue_date()}), got {shown(zone)}")


def _examples(region: str) -> str:
    """Return zones of a Region as a sentence shows them: by name, and by id where one is known."""
    return f"as {either(map(shown, (f'{region}a', *zone_ids(region)[:1])))}"


def _letters(region: str) -> str:
    """Return the letters that names of zones may end with: where ids leave out a number, names may leave out any."""
    older = (zone for zone in _OLDER_ACCOUNTS if zone_region(zone) == region)
    numbers = [zone_ordinal(each) for each in (*zone_ids(region), *older)]
    gapless = len(numbers) >= _USUAL_ZONES and max(numbers) == len(numbers)
    return ascii_lowercase[: max(*numbers, 0 if gapless else _LEAST_LETTERS)]


def further_zones_problems(name: str, zones: Sequence[str], region: str | None) -> list[Problem]:
    """Check zones that stand beside the accelerator subnet's: of the Region itself."""
    problems = [problem for index, zone in enumerate(zones) for problem in zone_problems((name, index), zone, region)]
    if problems or unresolved(*zones):
        return problems
    for index, zone in enumerate(zones):
        if is_local(zone):
            only = f"only {option('zone')} may be one"
            text = f"must be a zone of the Region itself, got the Local Zone {shown(zone)}; {only}"
            problems.append(Problem((name, index), text))
    return problems


def zones_together_problems(spec: NetworkSpec, region: str | None) -> Iterator[Problem]:
    """Check that all zones are of one Region, and that services get at least two."""
    zones = _known_zones(spec)
    if not zones:
        return
    others = f"{option('public_zones')} and {option('service_zones')}"
    regions = sorted({str(zone_region(each)) for each in zones})
    if len(regions) > 1 and region is None:
        yield Problem(("zone",), f"must be of the Region of {others}, got {', '.join(regions)}")
    if 0 < len(spec.service_zones) < ZONES_OF_A_SERVICE:
        alone = (
            f"got {shown(spec.service_zones[0])} alone; add a zone, or leave them out without accounting and serving"
        )
        yield Problem(("service_zones",), f"must be at least {ZONES_OF_A_SERVICE} zones, {alone}")


def one_way_problems(spec: NetworkSpec) -> Iterator[Problem]:
    """Check that all zones are written one way: the first that is not as ``zone``, or as all others, is wrong."""
    if len({is_zone_id(each) for each in _known_zones(spec)}) < 2:  # noqa: PLR2004  by name and by id
        return
    zones: dict[At, str] = {(name, i): each for name in _FURTHER for i, each in enumerate(getattr(spec, name))}
    odd = [at for at, zone in zones.items() if is_zone_id(zone) is not is_zone_id(spec.zone)]
    at, like = (("zone",), "those of services and public subnets") if len(odd) == len(zones) > 1 else (odd[0], "'zone'")
    zone, other = zones.get(at, spec.zone), zones[odd[0]] if at == ("zone",) else spec.zone
    what = "a name" if is_zone_id(zone) else "an id"
    why = "which name stands for which id differs from account to account"
    yield Problem(at, f"must be {what} like {like}, {shown(other)}, got {shown(zone)}; {why}")


def _known_zones(spec: NetworkSpec) -> list[str]:
    """Return all zones; none where one of them is not known, or is no zone."""
    zones = [spec.zone, *spec.public_zones, *spec.service_zones]
    return [] if unresolved(*zones) or not all(map(zone_region, zones)) else zones


def nat_problems(spec: NetworkSpec) -> Iterator[Problem]:
    """Check that a NAT gateway in every zone finds a public subnet there."""
    used, public = {spec.zone, *spec.service_zones}, {*spec.zones_of_public_subnets}
    known = not unresolved(spec.public_zones, *used, *public) and all(map(zone_region, used | public))
    if spec.nat is Nat.PER_ZONE and known and (missing := used - public):
        where = ", ".join(shown(zone) for zone in sorted(missing))
        add = f"add {option('public_zones')} there"
        yield Problem(("nat",), f"must be {Nat.ONE} without a public subnet in {where}, got {spec.nat}; {add}")


def endpoints_problems(spec: NetworkSpec) -> Iterator[Problem]:
    """Check that interface endpoints find a zone that has them.

    Source: AWS Local Zones user guide, "How AWS Local Zones work", read 2026-11: "You cannot create VPC endpoints
    inside Local Zone subnets." Those of gateways stand in no subnet; the others stand in the service subnets then.
    """
    if unresolved(spec.zone, spec.interface_endpoints, spec.service_zones) or spec.service_zones:
        return
    if zone_region(spec.zone) is None or not is_local(spec.zone):
        return
    for index, endpoint in enumerate(spec.interface_endpoints):
        if not unresolved(endpoint) and endpoint != Endpoint.DYNAMODB:
            why = f"{option('zone')} {spec.zone}, a Local Zone, has none; give {option('service_zones')} for them, or"
            remedy = "give the network a NAT gateway" if spec.nat is Nat.NONE else "let nodes use the NAT gateway"
            yield Problem(("interface_endpoints", index), f"must be left out, got {endpoint}: {why} {remedy}")


def prometheus_problems(spec: NetworkSpec, region: str | None) -> Iterator[Problem]:
    """Check that there is a service behind the endpoint of Prometheus."""
    why = no_prometheus(region)
    for index, endpoint in enumerate(() if unresolved(spec.interface_endpoints) else spec.interface_endpoints):
        if why and not unresolved(endpoint) and endpoint == Endpoint.PROMETHEUS:
            yield Problem(("interface_endpoints", index), f"must be left out in {region}, got {endpoint}: {why}")


def no_prometheus(region: str | None) -> str:
    """Return why a Region has no Prometheus; nothing where it has, or is not known.

    Source: cfn-lint 1.58.0, ``providers/cn-*.json``, has no AWS::APS::Workspace; botocore 1.44.5, ``endpoints.json``,
    no service ``aps`` of the partition.

    Args:
        region: The Region.
    """
    is_without = region is not None and not unresolved(region) and partition_of(region) == _WITHOUT_PROMETHEUS
    return "Amazon Managed Service for Prometheus is not offered in China" if is_without else ""


def is_local(zone: str) -> bool:
    """Return whether a zone of a known Region is a Local Zone, by its name or its id."""
    return not _REGION_ZONE_ID.fullmatch(zone) if is_zone_id(zone) else zone[:-1] != zone_region(zone)


# ---------------------------------------------------------------- flow logs
def flow_logs_problems(spec: NetworkSpec) -> Iterator[Problem]:
    """Check that a key has flow logs to encrypt."""
    if spec.flow_logs_retention is None and spec.flow_logs_key is not None:
        text = "must be left out without flow logs, got a key; remove it, or let"
        yield Problem(("flow_logs_key",), f"{text} {option('flow_logs_retention')} keep some for days")


# ---------------------------------------------------------------- the S3 endpoint
def public_buckets_problems(spec: NetworkSpec, region: str | None) -> Iterator[Problem]:
    """Check that EC2 takes the policy of the S3 endpoint.

    Source: AWS PrivateLink guide, "AWS PrivateLink quotas", read 2026-11: characters of an endpoint's policy; not
    adjustable. What is counted here is less than what CDK writes, by some characters for each statement.
    """
    if unresolved(spec.public_buckets, *spec.public_buckets):
        return
    partition = Environment(region=region).partition or "aws"
    without = len(json.dumps(s3_policy(region or _ANY_REGION, partition, "0" * 12), separators=(",", ":")))
    each = (sum(len(arn) + len('"",') for arn in public_arns([name], partition)) for name in spec.public_buckets)
    fit = sum(size <= _LONGEST_POLICY for size in accumulate(each, initial=without)) - 1
    if fit < len(spec.public_buckets):
        most = f"must be at most {fit} buckets with names of this length: a policy of an endpoint has {_LONGEST_POLICY}"
        remedy = "leave out those that nodes read with credentials"
        yield Problem(("public_buckets",), f"{most} characters, got {len(spec.public_buckets)}; {remedy}")
