"""What may go wrong with a service without being wrong: said once, at synthesis. Pure."""

from collections.abc import Iterator, Sequence

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.tokens import unresolved


def zone_without_type(known: InstanceType, zones: Sequence[str | None], region: str) -> Iterator[str]:
    """Hosts in a zone that is not known to offer their type; the data have a date, so this is no error."""
    named = [zone for zone in zones if zone is not None and not unresolved(zone)]
    if not unresolved(region) and (warning := known.offer_warning(region, named)):
        yield warning


def no_route_to_internet(*, has_nat: bool) -> Iterator[str]:
    """Without NAT the hosts need endpoints of what they and their agents ask."""
    if not has_nat:
        yield (
            "without NAT the hosts reach only services with an endpoint: they ask ECS (ecs, ecs-agent, ecs-telemetry), "
            "ECR, CloudWatch Logs and Systems Manager, and an image of another registry is out of reach"
        )
