"""EventBridge's changes of a bus, which moto lacks."""

from typing import Any

from moto.events.models import events_backends
from moto.events.responses import EventsHandler

from cdk_trainyard.local.services.api import Request, install, remember


def update_event_bus(request: Request) -> dict[str, Any]:
    """Change a bus: what is not said is gone."""
    bus = events_backends[request.account][request.region].describe_event_bus(request["Name"])
    remember(
        bus,
        {
            "description": request.get("Description"),
            "kms_key_identifier": request.get("KmsKeyIdentifier"),
            "dead_letter_config": request.get("DeadLetterConfig"),
        },
    )
    return {"Arn": bus.arn, "Name": bus.name}


def extend() -> None:
    """Give moto's EventBridge what it lacks."""
    install(EventsHandler, {update_event_bus.__name__: update_event_bus})
