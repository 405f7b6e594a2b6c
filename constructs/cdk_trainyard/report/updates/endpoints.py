"""Which change of an interface endpoint's subnets EC2 refuses.

EC2 answers ``DuplicateSubnetsInSameZone`` where an endpoint gets a second subnet of a zone
(terraform-aws-modules/terraform-aws-vpc#583, openshift/hypershift#8651, read 2026-11). That CloudFormation takes the
former one away first is documented nowhere, so the plan does not count on it.
"""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.report.nested import properties_of

Template = Mapping[str, Any]
Side = tuple[Template, Template]
"""Properties of the endpoint, and the resources of its stack by their ids."""

_REMEDY = (
    "EC2 takes no second subnet of a zone while the first is there, and CloudFormation is not known to remove that "
    "before: take subnets of zones that the endpoint is not in, "
    "or remove it in one deployment and add it in the next; until then nodes reach the service by NAT alone"
)


def endpoint_refusal(old: Side, new: Side) -> str:
    """Return why an endpoint cannot go to its new subnets, and what to do; nothing where it can.

    Args:
        old: How it was.
        new: How it is to be.
    """
    before, after = _subnets(*old), _subnets(*new)
    left = {zone for subnet, zone in before.items() if subnet not in after}
    entered = {zone for subnet, zone in after.items() if subnet not in before}
    return _REMEDY if left & entered else ""


def _subnets(properties: Template, resources: Template) -> dict[str, str]:
    """Return the zones of the subnets that are resources of the same stack, by their ids."""
    ids = [
        subnet["Ref"] for subnet in properties.get("SubnetIds", ()) if isinstance(subnet, Mapping) and "Ref" in subnet
    ]
    known = {name: properties_of(resources[name]) for name in ids if name in resources}
    zones = {name: each.get("AvailabilityZoneId", each.get("AvailabilityZone")) for name, each in known.items()}
    return {name: str(zone) for name, zone in zones.items() if zone is not None}
