"""Day two of a deployment: what its stacks hold, its nodes, why something failed, and what is done about it. No CDK."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.operations.action import Action, Outcome, make
    from cdk_trainyard.operations.deployed import Deployed, Resource, Stack
    from cdk_trainyard.operations.events import events_of
    from cdk_trainyard.operations.logs import Line, Streams
    from cdk_trainyard.operations.protocol import Condition, Group, Listing, Node, OperationError, System, named
    from cdk_trainyard.operations.status import Alarm, FileSystem, Status
    from cdk_trainyard.operations.systems import systems_of
    from cdk_trainyard.operations.timeline import Event, TimeLine
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "Action",
    "Alarm",
    "Condition",
    "Deployed",
    "Event",
    "FileSystem",
    "Group",
    "Line",
    "Listing",
    "Node",
    "OperationError",
    "Outcome",
    "Resource",
    "Stack",
    "Status",
    "Streams",
    "System",
    "TimeLine",
    "events_of",
    "make",
    "named",
    "systems_of",
]
