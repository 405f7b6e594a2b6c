"""What may be said of a network that exists: pure functions, silent about Tokens where they can be."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from cdk_trainyard.instances import is_zone_id, zone_region
from cdk_trainyard.network.rules import ZONES_OF_A_SERVICE, parse_cidr, private_range, zone_problems
from cdk_trainyard.network.spec import ExistingNetworkSpec, SubnetSpec
from cdk_trainyard.problems import At, Problem, option, shown
from cdk_trainyard.tokens import unresolved


def existing_network_problems(spec: ExistingNetworkSpec, region: str | None) -> list[Problem]:
    """Return everything that is wrong with what is said of a network that exists.

    Args:
        spec: The network.
        region: The stack's Region. None: not known.
    """
    of_zones = [
        problem
        for at, subnet in _subnets(spec).items()
        if not unresolved(subnet.zone)
        for problem in zone_problems((*at, "zone"), subnet.zone, region)
    ]
    wrong = {problem.at for problem in of_zones}
    others = (problem for problem in existing_subnets_problems(spec) if problem.at not in wrong)
    return [*of_zones, *group_problems(spec), *others]


def group_problems(spec: ExistingNetworkSpec) -> Iterator[Problem]:
    """Check that rules are said to exist of a group that is named."""
    if spec.self_rules_exist is True and spec.security_group_id is None:
        text = f"is said of a group of yours; give its {option('security_group_id')} too"
        yield Problem(("self_rules_exist",), text)


def existing_subnets_problems(spec: ExistingNetworkSpec) -> Iterator[Problem]:
    """Check that existing subnets are each what they are said to be, and services get at least two zones."""
    public, service = _ids(spec.public_subnets), _ids(spec.service_subnets)
    for index, subnet_id in enumerate(public):
        if subnet_id == spec.accelerator_subnet.subnet_id:
            why = "an instance with several interfaces gets no public address, so it needs a private subnet"
            text = f"must not be {option('accelerator_subnet')}, got {subnet_id}; {why}"
            yield Problem(("public_subnets", index), text)
    for index, subnet_id in enumerate(service):
        if subnet_id in public:
            text = f"must be private, got {subnet_id}, which is in {option('public_subnets')} too"
            yield Problem(("service_subnets", index), text)
    for name, ids in (("public_subnets", public), ("service_subnets", service)):
        for index, subnet_id in enumerate(ids):
            if subnet_id in ids[:index]:
                yield Problem((name, index), f"must name each subnet once, got {subnet_id} again")
    yield from _blocks_problems(spec)
    yield from _said_twice(spec)
    yield from _mixed_zones(spec)
    zones = {subnet.zone for subnet in spec.service_subnets}
    if zones and not unresolved(*zones) and len(zones) < ZONES_OF_A_SERVICE:
        alone = f"got {', '.join(zones)} alone; add a subnet, or leave them out"
        yield Problem(("service_subnets",), f"must stand in at least {ZONES_OF_A_SERVICE} zones, {alone}")


def _blocks_problems(spec: ExistingNetworkSpec) -> Iterator[Problem]:
    """Subnets of one VPC share no address, and each lies in one block of the VPC, which may have others than ``cidr``.

    Source: VPC user guide, "VPC CIDR blocks" ("IPv4 CIDR block association restrictions": no VPC has blocks of two of
    the private ranges of RFC 1918) and "Subnet CIDR blocks", read 2026-11.
    """
    known: dict[str, IPv4Network] = {}
    whole = parse_cidr(spec.cidr)
    for at, subnet in _subnets(spec).items():
        block = parse_cidr(subnet.cidr)
        if block is None or unresolved(subnet.subnet_id) or subnet.subnet_id in known:
            continue
        if whole is not None and block.overlaps(whole) and not block.subnet_of(whole):
            yield Problem((*at, "cidr"), f"must be within the VPC's block {whole}, or outside of it, got {block}")
        first = whole or next(iter(known.values()), block)
        if len({private_range(first), private_range(block)} - {None}) > 1:
            text = f"must not be of another private range than {first} in the same VPC, got {block}"
            yield Problem((*at, "cidr"), f"{text}; EC2 has no VPC with both")
        for other, taken in known.items():
            if block.overlaps(taken):
                yield Problem((*at, "cidr"), f"must not overlap that of {other}, {taken}, got {block}")
        known[subnet.subnet_id] = block


def _said_twice(spec: ExistingNetworkSpec) -> Iterator[Problem]:
    """What is said of one subnet in two places is the same."""
    known: dict[str, SubnetSpec] = {}
    for at, subnet in _subnets(spec).items():
        if unresolved(subnet.subnet_id):
            continue
        first = known.setdefault(subnet.subnet_id, subnet)
        zones, blocks = (first.zone, subnet.zone), (first.cidr, subnet.cidr)
        if not unresolved(*zones) and len({(zone_region(zone), is_zone_id(zone)) for zone in zones}) < len(set(zones)):
            yield Problem((*at, "zone"), _other("zone", subnet, *zones))
        if None not in blocks and not unresolved(*blocks) and blocks[0] != blocks[1]:
            yield Problem((*at, "cidr"), _other("block", subnet, *blocks))


def _other(what: str, subnet: SubnetSpec, first: object, second: object) -> str:
    return f"must be {shown(first)}, the {what} of {subnet.subnet_id} above, got {shown(second)}"


def _mixed_zones(spec: ExistingNetworkSpec) -> Iterator[Problem]:
    """Two zones of services are two only if they are written one way."""
    zones = [subnet.zone for subnet in spec.service_subnets]
    if unresolved(*zones) or None in map(zone_region, zones):
        return
    of_each = [{zone for zone in zones if is_zone_id(zone) is kind} for kind in (True, False)]
    if max(map(len, of_each)) < ZONES_OF_A_SERVICE and all(of_each):
        (zone_id,), (name,) = of_each
        why = "which name stands for which id differs from account to account, and they may be one zone"
        text = f"must be an id like {shown(zone_id)}, or that a name like this, got {shown(name)}; {why}"
        yield Problem(("service_subnets", zones.index(name), "zone"), text)


def _subnets(spec: ExistingNetworkSpec) -> dict[At, SubnetSpec]:
    found: dict[At, SubnetSpec] = {("accelerator_subnet",): spec.accelerator_subnet}
    for name, subnets in (("public_subnets", spec.public_subnets), ("service_subnets", spec.service_subnets)):
        found |= {(name, index): subnet for index, subnet in enumerate(subnets)}
    return found


def _ids(subnets: Sequence[SubnetSpec]) -> list[str]:
    return [subnet.subnet_id for subnet in subnets]


def accelerator_subnet_problems(zone: str, accelerator_cidr: str | None, known: SubnetSpec) -> Iterator[Problem]:
    """Check that what is said of the accelerator subnet is what its object knows."""
    comparable = not unresolved(zone, known.zone) and zone_region(zone) == zone_region(known.zone)
    if comparable and is_zone_id(known.zone) == is_zone_id(zone) and known.zone != zone:
        text = f"must be that of {option('accelerator_subnet')}, {shown(known.zone)}, got {shown(zone)}"
        yield Problem(("zone",), text)
    if accelerator_cidr is None or unresolved(accelerator_cidr):
        return
    if parse_cidr(accelerator_cidr) is None:
        yield Problem(("accelerator_cidr",), f"must be an IPv4 block, as 10.1.128.0/17, got {shown(accelerator_cidr)}")
    elif known.cidr is not None and not unresolved(known.cidr) and accelerator_cidr != known.cidr:
        text = f"must be that of {option('accelerator_subnet')}, {shown(known.cidr)}, got {shown(accelerator_cidr)}"
        yield Problem(("accelerator_cidr",), text)
