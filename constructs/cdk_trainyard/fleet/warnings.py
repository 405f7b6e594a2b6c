"""What may go wrong with a fleet without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Iterator

from cdk_trainyard.fleet.capacity import FleetCapacityKind
from cdk_trainyard.fleet.quotas import interface_quota
from cdk_trainyard.fleet.resolved import ResolvedFleet
from cdk_trainyard.fleet.rules_fleet import lustre_elsewhere
from cdk_trainyard.instances import catalogue_date, is_zone_id, zone_ids
from cdk_trainyard.tokens import unresolved

Warnings = Iterator[str]


def lustre_in_other_zone(fleet: ResolvedFleet) -> Warnings:
    """A file system in another zone: it works, slower, and every byte is billed twice."""
    for other in lustre_elsewhere(fleet):
        if fleet.lustre and not fleet.lustre.efa_enabled:
            yield (
                f"the nodes in {fleet.network.zone} mount a file system in {other}: what crosses between zones is "
                f"slower, and billed by the GB in each direction (Data Transfer within the Region, EC2 on-demand "
                f"pricing); put the file system into {fleet.network.zone}"
            )


def zone_without_type(fleet: ResolvedFleet) -> Warnings:
    """An instance type that its zone is not known to offer; the data have a date, so this is no error."""
    zone, region = fleet.network.zone, fleet.region
    if region is None or unresolved(zone) or not zone_ids(region):
        return
    for kind in fleet.types:
        offered = kind.offered_in(region)
        if kind.zones and (not offered or (is_zone_id(zone) and zone not in offered)):
            where = f"{zone}, only in {', '.join(offered)}" if offered else region
            yield (
                f"{kind.name} is not known to be offered in {where} (data of {catalogue_date()}); "
                f"check before you deploy"
            )


def no_way_out(fleet: ResolvedFleet) -> Warnings:
    """Without NAT the nodes need endpoints of what their set-up asks."""
    if not fleet.network.has_nat:
        yield (
            "without NAT the nodes reach only services with an endpoint: their set-up asks S3, EC2, Auto Scaling, "
            "CloudWatch Logs and Systems Manager (ssm, ssmmessages, ec2messages)"
        )


def interface_quota_near(fleet: ResolvedFleet) -> Warnings:
    """Many cards on many nodes are more interfaces than an account has by default."""
    quota, value = interface_quota()
    if unresolved(fleet.size.maximum):
        return
    count = fleet.size.maximum * fleet.interfaces_per_node
    if count > value:
        yield (
            f"{fleet.size.maximum} nodes have {count} network interfaces, more than {value}, the default of the quota "
            f"{quota}"
        )


def spot_loses_jobs(fleet: ResolvedFleet) -> Warnings:
    """One node that is taken back ends the job of all."""
    if fleet.capacity.kind is FleetCapacityKind.SPOT:
        yield (
            "Spot nodes are taken back with two minutes' notice, and a job on all nodes ends with the first; "
            "let it save often"
        )


WARNINGS: dict[str, Callable[[ResolvedFleet], Warnings]] = {
    "lustre-in-other-zone": lustre_in_other_zone,
    "zone-without-type": zone_without_type,
    "no-way-out": no_way_out,
    "interface-quota": interface_quota_near,
    "spot-loses-jobs": spot_loses_jobs,
}
"""Every warning by its id, which is API."""
