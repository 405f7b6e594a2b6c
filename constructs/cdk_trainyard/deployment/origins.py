"""Says of constructs which line of the deployment file asked for them, and which of the library made them."""

from collections.abc import Iterator
from typing import Final

from aws_cdk import Stack
from constructs import IConstruct

from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.origin import MADE, ORIGIN, WRITTEN

_SECTIONS: Final = {
    "Accounting": ("cluster", "slurm", "accounting"),
    "AlertRules": ("monitoring",),
    "Alerts": ("alerts",),
    "Buckets": ("storage", "buckets"),
    "Compilation": ("serving", "compile"),
    "Door": ("serving", "load_balancer"),
    "Environment": ("monitoring",),
    "Grafana": ("monitoring", "grafana"),
    "Images": ("cluster", "image"),
    "Lustre": ("storage", "lustre"),
    "Master": ("cluster", "master"),
    "Metrics": ("monitoring",),
    "Monitoring": ("serving", "monitoring"),
    "NodeHealth": ("serving", "node_health"),
    "WebAcl": ("serving", "load_balancer", "web_acl"),
}
"""Id of a stack's child to what of the file asks for it; what the file does not say is its section's."""
_PARTS: Final = {"training": "cluster"}
"""Part of a deployment to its section, where they differ."""
_LIBRARY: Final = "cdk_trainyard."


def say_origins(app: IConstruct, deployment: Deployment) -> None:
    """Add metadata to the stacks of a deployment, and to the constructs of this library in them.

    Args:
        app: The app.
        deployment: What its stacks were made from.
    """
    for stack in app.node.children:
        if isinstance(stack, Stack):
            part = stack.stack_name.removeprefix(f"{deployment.name}-")
            section = (_PARTS.get(part, part),)
            _say(stack, deployment.locate(*section))
            for child in stack.node.children:
                place = deployment.locate(*_SECTIONS.get(child.node.id, section))
                for construct in _of_library(child):
                    _say(construct, place)


def _of_library(construct: IConstruct) -> Iterator[IConstruct]:
    if type(construct).__module__.startswith(_LIBRARY):
        yield construct
        for child in construct.node.children:
            yield from _of_library(child)


def _say(construct: IConstruct, place: str) -> None:
    kind = type(construct)
    made = f"{kind.__module__}:{kind.__init__.__code__.co_firstlineno}"
    construct.node.add_metadata(ORIGIN, {WRITTEN: place, MADE: made})
