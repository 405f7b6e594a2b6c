"""What CloudFormation remembers: stacks with their resources and events, change sets, exports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import RLock
from typing import Any
from uuid import uuid4

from moto.utilities.utils import get_partition

from cdk_trainyard.local.engine.template import EMPTY, Template
from cdk_trainyard.local.errors import ApiError, validation_error
from cdk_trainyard.local.state import Store

STACK_TYPE = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """A resource as the stack knows it. Immutable: a change makes a new one, and a rollback returns to the old.

    Attributes:
        logical_id: Name in the template.
        type_name: ``AWS::EC2::VPC``.
        properties: Evaluated, with the stack's tags and a made-up name where it needed one.
        physical_id: What ``Ref`` returns.
        result: What the creating call answered.
        status: Its last event.
        made_up: Properties that the engine added to those of the template.
        declaration: The template's own words: policies, metadata.
    """

    logical_id: str
    type_name: str
    properties: Mapping[str, Any]
    physical_id: str
    result: Mapping[str, Any]
    status: str
    made_up: Mapping[str, Any]
    declaration: Mapping[str, Any]
    updated: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A line of a stack's history."""

    event_id: str
    logical_id: str
    physical_id: str
    type_name: str
    status: str
    reason: str | None
    timestamp: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """An output of a stack, exported when ``export_name`` is set."""

    key: str
    value: str
    description: str | None
    export_name: str | None


@dataclass(kw_only=True, slots=True)
class Stack:
    """A stack, deployed or deleted.

    Attributes:
        parameters: As they were given; an SSM parameter is still its name.
        resolved: Parameter values as the template sees them.
        imports: Names of the exports that the stack uses.
        pending: What a failed operation without rollback left to undo.
    """

    stack_id: str
    name: str
    account: str
    region: str
    created: datetime
    status: str = "REVIEW_IN_PROGRESS"
    reason: str | None = None
    template: Template = EMPTY
    parameters: dict[str, Any] = field(default_factory=dict)
    resolved: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    resources: dict[str, Deployed] = field(default_factory=dict)
    outputs: dict[str, Output] = field(default_factory=dict)
    imports: frozenset[str] = frozenset()
    events: list[Event] = field(default_factory=list)
    updated: datetime | None = None
    deleted: datetime | None = None
    role: str | None = None
    protected: bool = False
    parent: str | None = None
    drift: dict[str, Any] = field(default_factory=dict)
    pending: Any = None

    @property
    def in_progress(self) -> bool:
        """Whether an operation runs."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    @property
    def exports(self) -> dict[str, Output]:
        """The exported outputs by export name."""
        return {output.export_name: output for output in self.outputs.values() if output.export_name}

    def note(self, status: str, reason: str | None = None) -> None:
        """Add an event of the stack itself, which is its status from then on."""
        self._add(self.name, self.stack_id, STACK_TYPE, status, reason)
        self.status, self.reason = status, reason

    def note_resource(
        self, logical_id: str, physical_id: str, type_name: str, status: str, reason: str | None = None
    ) -> None:
        """Add an event of one of the resources."""
        self._add(logical_id, physical_id, type_name, status, reason)

    def _add(self, logical_id: str, physical_id: str, type_name: str, status: str, reason: str | None) -> None:
        now = datetime.now(UTC)
        if self.events:  # the CLI sorts events by their millisecond
            now = max(now, self.events[-1].timestamp + timedelta(milliseconds=1))
        event = Event(
            event_id=f"{logical_id}-{uuid4()}",
            logical_id=logical_id,
            physical_id=physical_id,
            type_name=type_name,
            status=status,
            reason=reason,
            timestamp=now,
        )
        self.events.append(event)


@dataclass(kw_only=True, slots=True)
class ChangeSet:
    """A change set: what is wanted, and what would change."""

    change_set_id: str
    name: str
    stack: Stack
    kind: str
    template: Template
    parameters: dict[str, Any]
    tags: dict[str, str]
    role: str | None
    description: str | None
    created: datetime
    changes: list[dict[str, Any]] = field(default_factory=list)
    status: str = "CREATE_COMPLETE"
    reason: str | None = None
    execution: str = "AVAILABLE"


class Region:
    """CloudFormation in one account and region."""

    def __init__(self, account: str, region: str) -> None:
        """Start without stacks."""
        self.account = account
        self.name = region
        self.partition: str = get_partition(region)
        self.stacks: dict[str, Stack] = {}
        self.change_sets: dict[str, ChangeSet] = {}
        self.lock = RLock()

    def arn(self, resource: str) -> str:
        """Return the ARN of something of CloudFormation's."""
        return f"arn:{self.partition}:cloudformation:{self.name}:{self.account}:{resource}"

    @property
    def living(self) -> list[Stack]:
        """The stacks that have not been deleted."""
        return [stack for stack in self.stacks.values() if not stack.deleted]

    def find(self, name_or_id: str) -> Stack | None:
        """Return a stack by id, deleted or not, or by name when it lives."""
        by_name = (stack for stack in self.living if stack.name == name_or_id)
        return self.stacks.get(name_or_id) or next(by_name, None)

    def get(self, name_or_id: str) -> Stack:
        """Return a stack by id or name, or say that it does not exist."""
        stack = self.find(name_or_id)
        if stack is None:
            raise validation_error(f"Stack with id {name_or_id} does not exist")
        return stack

    def begin(self, name: str) -> Stack:
        """Return a new, empty stack."""
        if any(stack.name == name for stack in self.living):
            raise ApiError("AlreadyExistsException", f"Stack [{name}] already exists")
        stack = Stack(
            stack_id=self.arn(f"stack/{name}/{uuid4()}"),
            name=name,
            account=self.account,
            region=self.name,
            created=datetime.now(UTC),
        )
        self.stacks[stack.stack_id] = stack
        return stack

    def exports(self) -> dict[str, tuple[Stack, Output]]:
        """Return every export of the region: its stack and its output."""
        return {name: (stack, output) for stack in self.living for name, output in stack.exports.items()}

    def importers(self, export_name: str) -> list[str]:
        """Return the names of the stacks that import ``export_name``."""
        return sorted(stack.name for stack in self.living if export_name in stack.imports)

    def change_set(self, name_or_id: str, stack: str | None) -> ChangeSet | None:
        """Return a change set by id, or the newest of that name and stack."""
        if name_or_id in self.change_sets:
            return self.change_sets[name_or_id]
        for found in reversed(self.change_sets.values()):
            if found.name == name_or_id and stack in (None, found.stack.name, found.stack.stack_id):
                return found
        return None


REGIONS: Store[Region] = Store(Region)
