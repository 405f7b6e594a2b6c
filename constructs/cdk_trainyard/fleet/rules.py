"""Whether a fleet can stand and work as one. Pure: nothing is created here."""

from collections.abc import Iterator
from dataclasses import replace

from cdk_trainyard.fleet.facts import FleetFacts
from cdk_trainyard.fleet.images import base_name
from cdk_trainyard.fleet.rules_image import route_problems
from cdk_trainyard.fleet.rules_nodes import (
    image_problems,
    interfaces_of,
    known_type_problems,
    reservation_problems,
    threads_problems,
    usage_problems,
    volume_problems,
)
from cdk_trainyard.fleet.spec import MOST_NODES, FleetPlacement, FleetSpec
from cdk_trainyard.fleet.times import BEFORE_END, BLOCKS_END, LONGEST, block_time
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.instances.instance_type import NamedType, family_types
from cdk_trainyard.instances.kind import LARGEST_BLOCK
from cdk_trainyard.instances.zones import differ
from cdk_trainyard.monitoring.nodes import exporter_problems, scrape_problems
from cdk_trainyard.network import AddressPlan, AddressUse
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.node_paths import NodePath
from cdk_trainyard.problems import At, Problem, either, option, shown, within
from cdk_trainyard.storage.clients import client_problems
from cdk_trainyard.tokens import unresolved

_GROUPS = 5  # default quota "Security groups per network interface" (L-2AFB9258): VPC user guide
_MOST_TYPES = 20
"""Launch templates of a mixed instances policy, of which each type has one: ``LaunchTemplateSpecification`` of
LaunchTemplateOverrides in botocore's model of Auto Scaling, 1.44.5."""
_BLOCK_ONLY = ("reserved_instances", "starts", "ends")
_ANYWHERE = FleetPlacement.ANYWHERE.value
_NEEDED = ("/opt/trainyard", "/scratch", "/tmp", "/var")  # noqa: S108  nobody writes there
"""Trees that the set-up of nodes needs beside those of the system; the instance store is at ``/scratch``."""


def fleet_problems(spec: FleetSpec, around: FleetFacts) -> list[Problem]:
    """Return everything that is wrong with a fleet.

    Args:
        spec: The fleet.
        around: What is around it; what is wrong there has a path that begins with ``network`` or ``mounts``.
    """
    fit = [kind for kind in spec.types if kind.efa_supported]  # of others no more is said
    types = [None if unresolved(given) else InstanceType.find(given) for given in spec.given_types]
    return [
        *types_problems(spec),
        *count_problems(spec),
        *block_problems(spec),
        *reservation_problems(spec),
        *usage_problems(spec, spec.types),
        *placement_problems(spec, around),
        *image_problems(spec.image, fit, around.environment),
        *volume_problems(spec.volume_gib, spec.image),
        *threads_problems(spec.threads_per_core, spec.types),
        *build_route_problems(spec, around),
        *security_group_problems(around),
        *zone_problems(around),
        *address_problems(spec, around),
        *mount_problems(around),
        *within(("mounts",), client_problems([each.lustre_version for each in around.mounts], base_name(spec.image))),
        *scrape_problems(around.scrape_seconds),
        *exporter_problems(around.exporters, types),
    ]


# ---------------------------------------------------------------- what and how many
def types_problems(spec: FleetSpec) -> Iterator[Problem]:
    """Instance types with EFA that one job can run on; a group of reservations can hold several of them.

    Source: EC2 user guide, "Capacity Reservation Resource Groups" (read 2026-11).
    """
    given: dict[At, str | InstanceType | NamedType] = {
        ("instance_types", index): each for index, each in enumerate(spec.instance_types)
    }
    types = dict(given)
    if spec.instance_type is not None:
        types[("instance_type",)] = spec.instance_type
    if not types and not unresolved(spec.instance_types):
        yield Problem(("instance_type",), f"or {option('instance_types')} must be given")
    if given and spec.instance_type is not None:
        yield Problem(("instance_types",), f"must be left out with {option('instance_type')}, got both")
        return
    if spec.reserved and spec.reservation_group_arn is None and len(given) > 1:
        text = f"must be one type with capacity that is reserved, got {len(given)}: a reservation is of one type"
        yield Problem(("instance_types",), text)
    if len(given) > _MOST_TYPES:
        text = f"must be at most {_MOST_TYPES} types, got {len(given)}: Auto Scaling takes so many launch templates"
        yield Problem(("instance_types",), f"{text}, and each type has one; leave the last ones out")
    for at, each in types.items():
        yield from known_type_problems(at, each)
    known = {at: kind for at, each in types.items() if not unresolved(each) and (kind := InstanceType.find(each))}
    first = next(iter(known.values()), None)
    for at, kind in known.items():
        yield from node_efa_problems(at, kind)
        if first and first.efa_supported and kind.efa_supported and _accelerators(kind) != _accelerators(first):
            text = f"must have {_described(first)} as {first.name} has, got {kind.name} with {_described(kind)}"
            yield Problem(at, f"{text}; one job runs on all nodes")


def node_efa_problems(at: At, kind: InstanceType) -> Iterator[Problem]:
    """Nodes of a fleet have EFA."""
    if not kind.efa_supported:
        sizes = [name for name in family_types(kind.family) if InstanceType.of(name).efa_supported]
        remedy = f"use {either(sizes)}" if sizes else "its family has none with it; use another"
        text = f"must be one with EFA, got {shown(kind.name)}; {remedy}"
        yield Problem(at, f"{text}, or HyperPod or ParallelCluster, which have nodes without it")


def _accelerators(kind: InstanceType) -> tuple[str, int, int]:
    return kind.architecture, kind.gpus, kind.neuron_cores


def _described(kind: InstanceType) -> str:
    devices = f"{kind.gpus} GPUs" if kind.gpus else f"{kind.neuron_cores} NeuronCores" if kind.neuron_cores else ""
    return f"{kind.architecture} and {devices or 'no accelerators'}"


def count_problems(spec: FleetSpec) -> Iterator[Problem]:
    """One number or a range, and all that a capacity block holds."""
    both = f"{option('min_count')} and {option('max_count')}"
    bounds = {"min_count": spec.min_count, "max_count": spec.max_count}
    given = [name for name, value in bounds.items() if value is not None]
    if spec.count is not None and given:
        beside = " and ".join(map(option, given))
        text = f"must stand alone, got {spec.count} beside {beside}"
        yield Problem(("count",), f"{text}; leave {beside} out, or give {both} in its place")
    elif spec.count is None and not given:
        yield Problem(("count",), f"or {both} must be given")
    elif len(given) == 1:
        [missing] = bounds.keys() - given
        yield Problem((given[0],), f"must be given together with {option(missing)}, got it alone")
    elif given and not unresolved(spec.least, spec.most) and spec.least > spec.most:
        yield Problem(("min_count",), f"must be at most {option('max_count')} {spec.most}, got {spec.least}")
    else:
        yield from _whole_block_problems(spec)


def _whole_block_problems(spec: FleetSpec) -> Iterator[Problem]:
    held = spec.reserved_instances
    if held is None or unresolved(held, spec.least, spec.most) or spec.least == spec.most == held:
        return
    got = str(spec.most) if spec.least == spec.most else f"{spec.least} to {spec.most}"
    why = "more do not start, and fewer are paid for all the same"
    yield Problem(
        ("count",) if spec.count is not None else ("min_count",),
        f"must be {held} nodes, all that the capacity block holds, got {got}; {why}",
    )


def block_problems(spec: FleetSpec) -> Iterator[Problem]:
    """Size and times are a capacity block's, which is of so many instances at most."""
    if unresolved(spec.capacity):
        return
    if spec.capacity is not UsageClass.CAPACITY_BLOCK:
        remedy = ": give that where the reservation is one, and leave this out of any other" if spec.reserved else ""
        for name in _BLOCK_ONLY:
            if getattr(spec, name) is not None:
                yield Problem((name,), f"must be left out without {option('capacity')} capacity-block{remedy}")
        return
    if spec.reserved_instances is None and not unresolved(spec.most) and spec.most > LARGEST_BLOCK:
        at = ("max_count",) if spec.count is None else ("count",)
        yield Problem(at, f"must be at most {LARGEST_BLOCK} nodes, the largest capacity block, got {spec.most}")
    yield from block_times_problems(spec)


def block_times_problems(spec: FleetSpec) -> Iterator[Problem]:
    """A block ends at the hour at which all do, after its start, and is not longer than one can be."""
    starts, ends = block_time(spec.starts), block_time(spec.ends)
    if spec.starts is not None and spec.ends is None:
        yield Problem(("starts",), f"must be given with {option('ends')}, got {shown(spec.starts)} alone")
    if ends and ends.time() != BLOCKS_END:
        text = f"must be at {BLOCKS_END:%H:%M:%S} UTC, when every capacity block ends, got {shown(spec.ends)}"
        yield Problem(("ends",), text)
    elif starts and ends:
        start, got = option("starts"), f"got {shown(spec.ends)} after {shown(spec.starts)}"
        if ends - starts <= BEFORE_END:
            yield Problem(("ends",), f"must be more than {BEFORE_END.seconds // 60} minutes after {start}, {got}")
        elif ends - starts >= LONGEST:
            yield Problem(("ends",), f"must be within 182 days of {start}, the longest of capacity blocks, {got}")


# ---------------------------------------------------------------- where
def placement_problems(spec: FleetSpec, around: FleetFacts) -> Iterator[Problem]:
    """Cluster placement only where the reservation does not own one, for types that have it, and not for mixed Spot."""
    capacity, at = spec.capacity, ("placement",)
    if unresolved(capacity, spec.placement):
        return
    if spec.placement is FleetPlacement.ANYWHERE and around.placement_group:
        yield Problem(at, f"must be left out with {option('placement_group')}, got {_ANYWHERE}")
    if not (spec.clustered or around.placement_group):
        return
    block = capacity is UsageClass.CAPACITY_BLOCK
    if block or (spec.reserved and not around.placement_group):
        what = "a capacity block" if block else "a reservation"
        yield Problem(
            at,
            f"must be {_ANYWHERE} with {what}, which owns the placement of its instances, got a cluster placement "
            f"group of the fleet's; leave it out",
        )
    names = ", ".join(known.name for known in spec.types)
    if capacity is UsageClass.SPOT and len(spec.given_types) > 1:
        yield Problem(
            at,
            f"must be {_ANYWHERE} for Spot instances of several types, got a cluster placement group for {names}: EC2 "
            "finds room for one type at a time there; use one type, or on-demand capacity",
        )
    for known in filter(lambda kind: kind.efa_supported, spec.types):
        strategies = known.placement_strategies
        if strategies and "cluster" not in strategies:
            text = f"must be {_ANYWHERE} for {known.name}, which takes no cluster placement group"
            yield Problem(at, f"{text} (only {', '.join(strategies)})")


def build_route_problems(spec: FleetSpec, around: FleetFacts) -> Iterator[Problem]:
    """An image that is built here fetches packages."""
    if not unresolved(spec.image) and spec.image.said_build is not None:
        yield from route_problems(has_nat=around.has_nat)


def security_group_problems(around: FleetFacts) -> Iterator[Problem]:
    """No more groups than an interface takes."""
    if around.extra_security_groups >= _GROUPS:
        got = f"got {around.extra_security_groups}"
        text = f"must be at most {_GROUPS - 1} beside {option('security_group')}, {got}"
        yield Problem(("extra_security_groups",), text)


def zone_problems(around: FleetFacts) -> Iterator[Problem]:
    """The network is in the fleet's Region, and an EFA-enabled file system in the zone of its clients."""
    zone, wanted, got = around.zone, around.environment.region, around.network_region
    if wanted and got and got != wanted:
        yield Problem(("network",), f"must be in the Region {wanted}, got one in zone {shown(zone)} of {got}")
    for index, mount in enumerate(around.mounts):
        if mount.efa_enabled is True and differ(mount.zone, zone):
            text = f"must be {shown(zone)}, the nodes' zone, when the file system is EFA-enabled"
            yield Problem(("mounts", index, "zone"), f"{text}, got {shown(mount.zone)}; EFA does not cross zones")


def address_problems(spec: FleetSpec, around: FleetFacts) -> Iterator[Problem]:
    """The subnet has an address for every interface of the nodes, the master, file servers and endpoints."""
    cidr, plan = around.accelerator_cidr, replace(address_plan(spec, around), reserve=0)
    short = cidr and plan.shortage(cidr, remedy=f"leave {option('interfaces')} out, for one address a node")
    if short:
        yield Problem(("network", "accelerator_cidr"), short)


def address_plan(spec: FleetSpec, around: FleetFacts) -> AddressPlan:
    """Return what the subnet must hold; of nodes of which too little is known, or is right, nothing.

    Args:
        spec: The fleet.
        around: What is around it.
    """
    most = spec.most
    if not spec.types or unresolved(most, spec.capacity) or not 1 <= most <= MOST_NODES:
        return AddressPlan([])
    servers = sum(mount.file_servers or 0 for mount in around.mounts if mount.subnet == around.accelerator_subnet)
    largest = max(spec.types, key=lambda kind: kind.vcpus)
    use = AddressUse(name="nodes", instance_type=largest.name, count=most, addresses_per_node=addresses_per_node(spec))
    return AddressPlan(
        [use], lustre_file_servers=servers, interface_endpoints=around.endpoint_addresses, other=around.masters
    )


def addresses_per_node(spec: FleetSpec) -> int:
    """Return the addresses of the node that takes most."""
    return max((sum(one.has_address for one in interfaces_of(kind, spec.backend)) for kind in spec.types), default=1)


def mount_problems(around: FleetFacts) -> Iterator[Problem]:
    """One Lustre file system, at a path in normal form that hides nothing and is hidden by nothing."""
    for index, mount in enumerate(around.mounts):
        path, at = mount.path, ("mounts", index, "at")
        if mount.kind != "Lustre":
            text = f"must be left out: it is {mount.kind}, and the nodes of a fleet mount FSx for Lustre alone"
            yield Problem(("mounts", index), text)
        elif index:
            yield Problem(("mounts", index), "must be left out: the set-up of fleets mounts one file system")
        if unresolved(path):
            continue
        if wrong := NodePath().problem(path, NOWHERE):
            yield wrong.at(at)
            continue
        for tree in _NEEDED:
            if path == tree or path.startswith(f"{tree}/") or tree.startswith(f"{path}/"):
                yield Problem(at, f"must be apart from {tree}, which nodes need, as /fsx is, got {shown(path)}")
