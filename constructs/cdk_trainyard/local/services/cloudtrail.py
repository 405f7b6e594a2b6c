"""CloudTrail's event history, which is empty: the CDK CLI asks for it when a deployment fails."""

from typing import Any

from moto.cloudtrail.responses import CloudTrailResponse

from cdk_trainyard.local.services.api import Request, install


def lookup_events(_request: Request) -> dict[str, Any]:
    """Return no events."""
    return {"Events": []}


def extend() -> None:
    """Give moto's CloudTrail what it lacks."""
    install(CloudTrailResponse, {"lookup_events": lookup_events})
