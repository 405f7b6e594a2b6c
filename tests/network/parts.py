"""What the tests of network share."""

from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.network import TrainingNetwork

REGION = "us-east-1"
ZONE = "us-east-1a"


def new_stack(region: str | None = REGION, *, app: App | None = None, name: str = "Stack") -> Stack:
    """Return a stack in a Region, in no account: nothing may be looked up."""
    return Stack(app or App(), name, env=Environment(region=region) if region else None)


def new_network(stack: Stack | None = None, **changes: Any) -> TrainingNetwork:
    """Return a legal network with changes."""
    return TrainingNetwork(stack or new_stack(), "Network", **{"zone": ZONE, **changes})


def resources(stack: Stack, kind: str) -> dict[str, Any]:
    """Return logical id to properties, of every resource of a type."""
    found = Template.from_stack(stack).find_resources(kind)
    return {name: resource.get("Properties", {}) for name, resource in found.items()}


def warnings(stack: Stack) -> list[str]:
    """Return the warnings of a stack."""
    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    return [str(entry.entry.data) for entry in found]
