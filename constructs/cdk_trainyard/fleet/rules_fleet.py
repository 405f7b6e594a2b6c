"""Whether a fleet can stand and work as one. Pure: nothing is created here."""

import re

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet.block_times import BEFORE_END, block_time
from cdk_trainyard.fleet.capacity import FleetCapacityKind
from cdk_trainyard.fleet.quotas import quota_text
from cdk_trainyard.fleet.resolved import ResolvedFleet
from cdk_trainyard.fleet.rules_image import image_problems
from cdk_trainyard.fleet.rules_template import purchase_problems, type_problems
from cdk_trainyard.instances import zone_region
from cdk_trainyard.network import AddressPlan, AddressUse
from cdk_trainyard.network.rules_resources import efa_problems
from cdk_trainyard.storage.reach import in_other_zone
from cdk_trainyard.storage.spec import MOUNT_PATH
from cdk_trainyard.tokens import unresolved

_NODES = range(1, 5001)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}")
_MASTERS = 1


def fleet_name_problems(fleet: ResolvedFleet) -> list[str]:
    """A name that a tag, a log group and a file can have."""
    if unresolved(fleet.name) or _NAME.fullmatch(fleet.name):
        return []
    return [
        (
            f"'fleet_name' must be a letter and then letters, digits and hyphens, 63 at most, got {fleet.name!r}; "
            f"leave it out for a unique one"
        )
    ]


def fleet_type_problems(fleet: ResolvedFleet) -> list[str]:
    """Instance types that exist, each once, with EFA."""
    if fleet.one_type == (len(fleet.given) > 1) or not fleet.given:
        return ["'instance_type' or 'instance_types' must be given, and not both"]
    problems = [problem for given in fleet.given for problem in type_problems(given)]
    problems += [problem for kind in fleet.types for problem in efa_problems(kind)]
    names = [kind.name for kind in fleet.types]
    problems += [
        f"'instance_types' must name each type once, got {name!r} again"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    return problems


def size_problems(fleet: ResolvedFleet) -> list[str]:
    """Numbers of nodes that make sense, and all that a capacity block holds."""
    size = fleet.size
    if unresolved(size.minimum, size.maximum):
        return []
    got = str(size.maximum) if size.minimum == size.maximum else f"{size.minimum} to {size.maximum}"
    if size.maximum not in _NODES or not 0 <= size.minimum <= size.maximum:
        return [f"'size' must be {_NODES[0]} to {_NODES[-1]} nodes, of which 0 or more always are there, got {got}"]
    held = fleet.capacity.instances
    if held is not None and not unresolved(held) and (size.minimum, size.maximum) != (held, held):
        return [
            (
                f"'size' must be {held} nodes, all that the capacity block holds, got {got}; "
                f"more do not start, and fewer are paid for all the same"
            )
        ]
    return []


def block_time_problems(fleet: ResolvedFleet) -> list[str]:
    """Times of a capacity block that are times, the end after the start."""
    capacity = fleet.capacity
    given = {name: text for name in ("starts", "ends") if (text := getattr(capacity, name)) is not None}
    problems = [
        f"{name!r} must be a time in UTC, as '2027-06-01T11:30:00Z', got {text!r}"
        for name, text in given.items()
        if block_time(text) is None
    ]
    if problems:
        return problems
    if capacity.starts and not capacity.ends:
        return [f"'ends' must be given with 'starts', got 'starts' {capacity.starts!r} alone"]
    starts, ends = block_time(capacity.starts or ""), block_time(capacity.ends or "")
    if starts and ends and ends - starts <= BEFORE_END:
        return [
            (
                f"'ends' must be more than {BEFORE_END.seconds // 60} minutes after 'starts', got {capacity.ends!r} "
                f"after {capacity.starts!r}"
            )
        ]
    return []


def fleet_capacity_problems(fleet: ResolvedFleet) -> list[str]:
    """Every type is sold that way, and a reservation is of one type."""
    problems: list[str] = []
    for kind in fleet.types or (None,):
        problems += [problem for problem in purchase_problems(fleet.capacity, kind) if problem not in problems]
    if fleet.capacity.owns_placement and len(fleet.given) > 1:
        problems.append(
            f"'instance_types' must be one type with capacity that is reserved, got {len(fleet.given)}: "
            f"a reservation is of one type; use 'instance_type'"
        )
    return problems


def fleet_placement_problems(fleet: ResolvedFleet) -> list[str]:
    """Cluster placement only where the reservation does not own one, for types that have it, and not for mixed Spot."""
    placement, kind = fleet.placement, fleet.capacity.kind
    if not placement.enabled:
        return []
    problems = []
    if kind is FleetCapacityKind.CAPACITY_BLOCK or (kind is FleetCapacityKind.RESERVATION and not placement.group):
        remedy = " or in_group(...) with the group that it was made in" if kind is FleetCapacityKind.RESERVATION else ""
        problems.append(
            f"'placement' must be FleetPlacement.anywhere(){remedy} with a {kind.value}, which owns the placement "
            f"of its instances, got a cluster placement group of the fleet's; leave it out"
        )
    if kind is FleetCapacityKind.SPOT and len(fleet.given) > 1:
        names = ", ".join(known.name for known in fleet.types)
        problems.append(
            f"'placement' must be FleetPlacement.anywhere() for Spot instances of several types, got a cluster "
            f"placement group for {names}: EC2 finds room for one type at a time there; "
            f"use one type, or on-demand capacity"
        )
    problems += [
        f"'placement' must be FleetPlacement.anywhere() for {known.name}, which takes no cluster placement group "
        f"(only {', '.join(known.placement_strategies)})"
        for known in fleet.types
        if known.placement_strategies and "cluster" not in known.placement_strategies
    ]
    return problems


def fleet_image_problems(fleet: ResolvedFleet) -> list[str]:
    """An image that every type can run."""
    return image_problems(fleet.image, fleet.types)


def fleet_address_problems(fleet: ResolvedFleet) -> list[str]:
    """The subnet has an address for every interface of the nodes, the master and the file servers."""
    cidr, size = fleet.network.accelerator_cidr, fleet.size
    if cidr is None or not fleet.types or unresolved(size.maximum) or size.maximum not in _NODES:
        return []
    servers = fleet.lustre.file_servers or 0 if fleet.lustre and fleet.lustre.zone == fleet.network.zone else 0
    largest = max(fleet.types, key=lambda kind: kind.vcpus)
    use = AddressUse(
        name="nodes",
        instance_type=largest.name,
        count=size.maximum,
        addresses_per_node=fleet.addresses_per_node,
    )
    try:
        problems = AddressPlan([use], lustre_file_servers=servers, other=_MASTERS).problems(cidr)
    except ConfigurationError as error:
        problems = list(error.problems)
    return [f"{problem}; {quota_text(largest, size.maximum, fleet.capacity)}" for problem in problems]


def mount_problems(fleet: ResolvedFleet) -> list[str]:
    """An absolute path that is not one of the system's."""
    path = fleet.mount_at
    if unresolved(path) or (MOUNT_PATH.fullmatch(path) and path.split("/")[1] not in _SYSTEM):
        return []
    return [f"'mount_at' must be an absolute path outside of the system's folders, as '/fsx', got {path!r}"]


_SYSTEM = frozenset({"bin", "boot", "dev", "etc", "lib", "proc", "root", "run", "sbin", "sys", "usr", "var", "tmp"})


def fleet_zone_problems(fleet: ResolvedFleet) -> list[str]:
    """The network is in the fleet's Region, and an EFA-enabled file system in the zone of its clients."""
    problems = []
    zone = fleet.network.zone
    region = None if unresolved(zone) else zone_region(zone)
    if fleet.region and region and region != fleet.region:
        problems.append(f"'network' must be in the Region {fleet.region}, got one in zone {zone!r} of {region}")
    lustre = fleet.lustre
    if lustre and lustre.efa_enabled and in_other_zone(lustre, zone):
        problems.append(
            f"'lustre' must be in zone {zone!r} when it is EFA-enabled, got one in {lustre.zone!r}; EFA does not cross "
            f"zones"
        )
    return problems


def security_group_problems(fleet: ResolvedFleet) -> list[str]:
    """No more groups than an interface takes."""
    count = len(fleet.security_groups)
    if count <= _GROUPS:
        return []
    return [f"'extra_security_groups' must be at most {_GROUPS - 1} beside 'security_group', got {count - 1}"]


_GROUPS = 5  # default quota "Security groups per network interface" (L-2AFB9258): VPC user guide
