"""What a resource type is: how the local AWS makes, changes, reads and deletes resources of it.

A type is a row in one of this package's tables. Its steps are calls of the service's own API on this very server, so
botocore checks the request, moto keeps the state, and boto3 shows it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Protocol
from uuid import uuid4

from cdk_trainyard.local.clients import call


class Host(Protocol):
    """What a step may ask of the engine that runs it."""

    def deploy_nested(self, resource: "Resource") -> dict[str, Any]:
        """Create or update the stack that a nested-stack resource stands for, and return its id and outputs."""

    def delete_nested(self, stack_id: str) -> None:
        """Delete the stack that a nested-stack resource stands for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Where:
    """Which resource of which stack, and where it lives."""

    account: str
    region: str
    partition: str
    stack_id: str
    stack_name: str
    logical_id: str
    type_name: str
    host: Host

    def arn(self, service: str, resource: str, *, region: str | None = None, account: str | None = None) -> str:
        """Return an ARN in this partition, region and account."""
        region = self.region if region is None else region
        return f"arn:{self.partition}:{service}:{region}:{self.account if account is None else account}:{resource}"


class Resource(Mapping[str, Any]):
    """One resource, as the steps of its type see it: a mapping of its properties, and who it is.

    It notes which properties the steps looked at, so that a stack event can name those nobody did.

    Attributes:
        where: Stack, region and account of the resource.
        properties: Evaluated properties; after an update, the new ones.
        previous: Properties before the update; empty otherwise.
        update_policy: The ``UpdatePolicy`` of its declaration.
        id: Physical id; empty until it is known.
        result: What the creating step answered, kept with the resource.
        taken: Names of the properties that steps looked at.
        dropped: Paths inside properties that no API knew.
    """

    def __init__(
        self,
        where: Where,
        properties: Mapping[str, Any],
        *,
        previous: Mapping[str, Any] = MappingProxyType({}),
        physical_id: str = "",
        result: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Take the properties as the template has them, evaluated."""
        self.where = where
        self.properties = dict(properties)
        self.previous = dict(previous)
        self.update_policy: dict[str, Any] = {}
        self.id = physical_id
        self.result = dict(result)
        self.taken: set[str] = set()
        self.dropped: list[str] = []

    def __getitem__(self, name: str) -> Any:
        """Return the property ``name``."""
        self.taken.add(name)
        return self.properties[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the properties."""
        return iter(self.properties)

    def __len__(self) -> int:
        """Return how many properties there are."""
        return len(self.properties)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the property ``name``, or ``default``."""
        self.taken.add(name)
        return self.properties.get(name, default)

    def pick(self, *names: str) -> dict[str, Any]:
        """Return those of ``names`` that are set."""
        self.taken.update(names)
        return {name: self.properties[name] for name in names if name in self.properties}

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a property that is true or false, however the template writes it."""
        return str(self.get(name, default)).lower() == "true"

    def changed(self, name: str) -> bool:
        """Return whether the update changes the property ``name``."""
        self.taken.add(name)
        return bool(self.properties.get(name) != self.previous.get(name))

    def call(self, service: str, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Call an operation in the resource's region; see `clients.call`."""
        return call(service, self.where.region, operation, parameters, self.dropped)


Step = Callable[[Resource], Mapping[str, Any] | None]
"""Does something for a resource; what a creating step returns is kept as ``result``."""

Read = Callable[[Resource], Mapping[str, Any] | None]
"""Returns live properties; ``None``, or the service's error that there is no such thing, when the resource is gone."""

Value = Callable[[Resource], Any]
"""Something about a resource: its physical id, an attribute, parameters of a call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Name:
    """The property that names a resource, for which CloudFormation makes up a value when it is not set."""

    property: str
    limit: int = 255
    lower: bool = False
    separator: str = "-"

    def make(self, where: Where) -> str:
        """Return a name as CloudFormation makes them: stack, logical id, random characters."""
        tail = uuid4().hex[:12] if self.lower else uuid4().hex[:12].upper()
        room = self.limit - len(tail) - 2 * len(self.separator)
        logical = where.logical_id[: max(room // 2, room - len(where.stack_name))]
        stack = where.stack_name[: room - len(logical)].rstrip("-")
        name = self.separator.join([stack, logical, tail])
        return name.lower() if self.lower else name


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceType:
    """A row of the tables: one CloudFormation type.

    Attributes:
        name: ``AWS::EC2::VPC``.
        create: Makes the resource; its answer becomes ``result``.
        identity: The physical id, once ``create`` has answered. ``Ref`` returns it.
        delete: Deletes the resource; what is gone already is no error.
        update: Changes it in place. Default - changes are not emulated, and the event says so.
        settle: Runs after ``create`` with the physical id known: further calls, and a last word on failure.
        retag: Changes the tags. Default - as ``update``.
        read: Live properties for drift detection. Default - the resource is NOT_CHECKED.
        attributes: Values of ``Fn::GetAtt``. Default - a property of that name.
        named: The property that CloudFormation fills when it is not set. Default - there is none.
        revised: What replaces a resource is the next revision under its name, which is in nobody's way.
        replace_also: Properties whose change replaces the resource, beside those of the provider schema.
    """

    name: str
    create: Step
    identity: Value
    delete: Step
    update: Step | None = None
    settle: Step | None = None
    retag: Step | None = None
    read: Read | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict)
    named: Name | None = None
    revised: bool = False
    replace_also: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What CloudFormation's provider schema says of a type; see ``facts.json``."""

    properties: frozenset[str]
    required: frozenset[str]
    create_only: tuple[str, ...]
    read_only: tuple[str, ...]


@lru_cache(maxsize=1)
def _facts() -> dict[str, Any]:
    text = files("cdk_trainyard.local.resources").joinpath("facts.json").read_text(encoding="utf-8")
    types: dict[str, Any] = json.loads(text)["types"]
    return types


@lru_cache(maxsize=512)
def facts_of(type_name: str) -> Facts | None:
    """Return the schema facts of a type, or ``None`` for custom resources, which have none."""
    row = _facts().get(type_name)
    if row is None:
        return None
    return Facts(
        properties=frozenset(row["properties"]),
        required=frozenset(row.get("required", ())),
        create_only=tuple(row.get("create_only", ())),
        read_only=tuple(row.get("read_only", ())),
    )


def replacing(type_: ResourceType, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the create-only properties that differ between ``old`` and ``new``: a change of them replaces."""
    facts = facts_of(type_.name)
    paths = [*(facts.create_only if facts else ()), *sorted(type_.replace_also)]
    return sorted({path.split("/")[0] for path in paths if _at(old, path) != _at(new, path)})


def _at(properties: Any, path: str) -> Any:
    value = properties
    for key in path.split("/"):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
