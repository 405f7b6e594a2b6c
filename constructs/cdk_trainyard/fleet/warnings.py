"""What may go wrong with a fleet without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Iterator

from cdk_trainyard.fleet.capacity import FleetCapacityKind
from cdk_trainyard.fleet.image import dlami_names
from cdk_trainyard.fleet.resolved import ResolvedFleet
from cdk_trainyard.quotas import Quota
from cdk_trainyard.storage.reach import in_other_zone
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import image_facts, judge_lustre

Warnings = Iterator[str]


def lustre_in_other_zone(fleet: ResolvedFleet) -> Warnings:
    """A file system in another zone: it works, slower, and every byte is billed twice."""
    lustre, zone = fleet.lustre, fleet.network.zone
    if lustre and not lustre.efa_enabled and in_other_zone(lustre, zone):
        yield (
            f"the nodes in {zone} mount a file system in {lustre.zone}: what crosses between zones is slower, and "
            f"billed by the GB in each direction (Data Transfer within the Region, EC2 on-demand pricing); put the "
            f"file system into {zone}"
        )


def zone_without_type(fleet: ResolvedFleet) -> Warnings:
    """An instance type that its zone is not known to offer; the data have a date, so this is no error."""
    zone, region = fleet.network.zone, fleet.region
    if region is None or unresolved(zone):
        return
    for kind in fleet.types:
        if warning := kind.offer_warning(region, [zone]):
            yield warning


def no_way_out(fleet: ResolvedFleet) -> Warnings:
    """Without NAT the nodes need endpoints of what their set-up asks."""
    if not fleet.network.has_nat:
        yield (
            "without NAT the nodes reach only services with an endpoint: their set-up asks S3, EC2, Auto Scaling, "
            "CloudWatch Logs and Systems Manager (ssm, ssmmessages, ec2messages)"
        )


def interface_quota_near(fleet: ResolvedFleet) -> Warnings:
    """Many cards on many nodes are more interfaces than an account has by default."""
    quota = Quota.of("network-interfaces")
    if unresolved(fleet.size.maximum):
        return
    count = fleet.size.maximum * fleet.interfaces_per_node
    if count > (quota.first or 0):
        yield (
            f"{fleet.size.maximum} nodes have {count} network interfaces, more than {quota.first}, the default of the "
            f"quota {quota}"
        )


def spot_loses_jobs(fleet: ResolvedFleet) -> Warnings:
    """One node that is taken back ends the job of all."""
    if fleet.capacity.kind is FleetCapacityKind.SPOT:
        yield (
            "Spot nodes are taken back with two minutes' notice, and a job on all nodes ends with the first; "
            "let it save often"
        )


def block_without_times(fleet: ResolvedFleet) -> Warnings:
    """A group whose capacity block has not started, or is over, launches in vain until somebody looks."""
    capacity = fleet.capacity
    if capacity.kind is FleetCapacityKind.CAPACITY_BLOCK and capacity.ends is None:
        yield (
            "the Auto Scaling group launches in vain before the capacity block starts and after it ends: give its "
            "'starts' and 'ends', as describe-capacity-reservations shows them"
        )


def image_not_built(fleet: ResolvedFleet) -> Warnings:
    """Nodes of an image that its pipeline has not built yet do not start."""
    image, nodes = fleet.image, fleet.size.minimum
    if image.follow and image.ami_id is None and not unresolved(nodes) and nodes > 0:
        yield (
            f"{nodes} nodes start with the stack, from an image that is not there before its pipeline ran once: "
            "build it while deploying, or deploy with 0 nodes, run the build command, and ask for nodes then"
        )


def unknown_versions(fleet: ResolvedFleet) -> Warnings:
    """A Deep Learning AMI with a kernel that FSx publishes no Lustre client for, or that no source names."""
    facts = image_facts(fleet.image.name)
    if fleet.lustre is None:
        return
    if facts is not None:
        yield from judge_lustre(facts, "'image'").unknown
    elif fleet.image.name in dlami_names():
        yield (
            f"no source says which kernel {fleet.image.name!r} has, so whether FSx publishes a Lustre client for it is "
            "seen when a node starts"
        )


WARNINGS: dict[str, Callable[[ResolvedFleet], Warnings]] = {
    "lustre-in-other-zone": lustre_in_other_zone,
    "zone-without-type": zone_without_type,
    "no-way-out": no_way_out,
    "interface-quota": interface_quota_near,
    "spot-loses-jobs": spot_loses_jobs,
    "block-without-times": block_without_times,
    "image-not-built": image_not_built,
    "unknown-versions": unknown_versions,
}
"""Every warning by its id, which is API."""
