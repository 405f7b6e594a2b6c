"""Creates, changes and deletes one resource at a time, and leaves the events that the CDK CLI prints."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from threading import RLock
from typing import Any

from cdk_trainyard.local.custom_resources.resource import CUSTOM
from cdk_trainyard.local.engine.records import as_resource, where_is
from cdk_trainyard.local.engine.state import STACK_TYPE, Deployed, Region, Stack
from cdk_trainyard.local.errors import ResourceFailed, describe
from cdk_trainyard.local.registry import type_of
from cdk_trainyard.local.resources.model import Host, Resource, ResourceType

_SERVICES = RLock()
"""One service call at a time: moto keeps its state in plain dicts. Lambdas and nested stacks run outside it."""

_KEPT = frozenset({"Retain"})
_KEPT_ONCE_CREATED = frozenset({"Retain", "RetainExceptOnCreate"})


class StepFailed(Exception):  # noqa: N818  reads as the event does
    """A step failed and its event is written.

    Attributes:
        left_behind: The resource that exists all the same, if any.
    """

    def __init__(self, message: str, left_behind: Deployed | None = None) -> None:
        """Carry the message of the event."""
        super().__init__(message)
        self.left_behind = left_behind


class Worker:
    """Works on the resources of one stack.

    Args:
        region: Where the stack is.
        stack: Whose resources they are.
        host: Deploys nested stacks.
    """

    def __init__(self, region: Region, stack: Stack, host: Host) -> None:
        self._region = region
        self._stack = stack
        self._host = host

    def create(
        self, logical_id: str, declaration: Mapping[str, Any], properties: Mapping[str, Any], made_up: Mapping[str, Any]
    ) -> Deployed:
        """Create a resource.

        Raises:
            StepFailed: The service refused; the event says why.
        """
        type_name = declaration["Type"]
        type_ = type_of(type_name)
        subject = Resource(where_is(self._region, self._stack, logical_id, type_name, self._host), properties)
        self._stack.note_resource(logical_id, "", type_name, "CREATE_IN_PROGRESS")
        try:
            with _turn(type_):
                subject.result = dict(type_.create(subject) or {})
                subject.id = _identity(type_, subject)
                self._stack.note_resource(
                    logical_id, subject.id, type_name, "CREATE_IN_PROGRESS", "Resource creation Initiated"
                )
                if type_.settle:
                    subject.result.update(type_.settle(subject) or {})
        except Exception as error:
            raise self._failed(subject, declaration, "CREATE", error, made_up) from error
        reason = _unheard(sorted([*(name for name in properties if name not in subject.taken), *subject.dropped]))
        self._stack.note_resource(logical_id, subject.id, type_name, "CREATE_COMPLETE", reason)
        return _record(subject, declaration, "CREATE_COMPLETE", made_up)

    def update(
        self,
        old: Deployed,
        declaration: Mapping[str, Any],
        properties: Mapping[str, Any],
        made_up: Mapping[str, Any],
    ) -> Deployed:
        """Change a resource in place; say in the event what of the change is not emulated.

        Raises:
            StepFailed: The service refused; the event says why.
        """
        type_ = type_of(old.type_name)
        subject = as_resource(self._region, self._stack, old, self._host)
        subject.previous, subject.properties = subject.properties, dict(properties)
        subject.update_policy = dict(declaration.get("UpdatePolicy") or {})
        changed = {name for name in {*properties, *old.properties} if properties.get(name) != old.properties.get(name)}
        self._stack.note_resource(old.logical_id, old.physical_id, old.type_name, "UPDATE_IN_PROGRESS")
        try:
            with _turn(type_):
                unheard = _change(type_, subject, changed)
        except Exception as error:
            raise self._failed(subject, declaration, "UPDATE", error, made_up) from error
        reason = f"local: update not emulated, left as it was: {', '.join(unheard)}" if unheard else None
        self._stack.note_resource(old.logical_id, subject.id, old.type_name, "UPDATE_COMPLETE", reason)
        return _record(subject, declaration, "UPDATE_COMPLETE", made_up)

    def delete(self, deployed: Deployed, *, policy: str = "DeletionPolicy", created_now: bool = False) -> None:
        """Delete a resource, unless ``policy`` in its declaration keeps it.

        Args:
            deployed: What to delete.
            policy: ``DeletionPolicy``, or ``UpdateReplacePolicy`` for what an update has replaced.
            created_now: The operation that is being rolled back created it.

        Raises:
            StepFailed: The service refused; the event says why.
        """
        logical_id, physical_id, type_name = deployed.logical_id, deployed.physical_id, deployed.type_name
        said = deployed.declaration.get(policy, "Delete")
        if said in (_KEPT if created_now else _KEPT_ONCE_CREATED):
            self._stack.note_resource(logical_id, physical_id, type_name, "DELETE_SKIPPED")
            return
        type_ = type_of(type_name)
        subject = as_resource(self._region, self._stack, deployed, self._host)
        self._stack.note_resource(logical_id, physical_id, type_name, "DELETE_IN_PROGRESS")
        try:
            with _turn(type_):
                type_.delete(subject)
        except Exception as error:
            message = describe(error)
            self._stack.note_resource(logical_id, physical_id, type_name, "DELETE_FAILED", message)
            raise StepFailed(message, deployed) from error
        reason = "local: no snapshot was taken" if said == "Snapshot" else None
        self._stack.note_resource(logical_id, physical_id, type_name, "DELETE_COMPLETE", reason)

    def _failed(
        self,
        subject: Resource,
        declaration: Mapping[str, Any],
        verb: str,
        error: Exception,
        made_up: Mapping[str, Any],
    ) -> StepFailed:
        message, where = describe(error), subject.where
        self._stack.note_resource(where.logical_id, subject.id, where.type_name, f"{verb}_FAILED", message)
        left_behind = _record(subject, declaration, f"{verb}_FAILED", made_up) if subject.id else None
        return StepFailed(message, left_behind)


def _identity(type_: ResourceType, subject: Resource) -> str:
    found = type_.identity(subject)
    if not found:
        raise ResourceFailed(f"local AWS: the service made the {type_.name} but answered no id")
    return str(found)


def _turn(type_: ResourceType) -> AbstractContextManager[object]:
    return nullcontext() if type_ is CUSTOM or type_.name == STACK_TYPE else _SERVICES


def _change(type_: ResourceType, subject: Resource, changed: set[str]) -> list[str]:
    """Run the steps that ``changed`` properties need, and return the names that no step heard of."""
    if type_.retag and "Tags" in changed:
        type_.retag(subject)
    rest = changed - ({"Tags"} if type_.retag else set())
    if rest and type_.update:
        subject.taken.clear()
        subject.result.update(type_.update(subject) or {})
        rest -= subject.taken
    return sorted([*rest, *subject.dropped])


def _unheard(names: Iterable[str]) -> str | None:
    listed = ", ".join(names)
    return f"local: not emulated, ignored: {listed}" if listed else None


def _record(subject: Resource, declaration: Mapping[str, Any], status: str, made_up: Mapping[str, Any]) -> Deployed:
    return Deployed(
        logical_id=subject.where.logical_id,
        type_name=subject.where.type_name,
        properties=dict(subject.properties),
        physical_id=subject.id,
        result=dict(subject.result),
        status=status,
        made_up=dict(made_up),
        declaration=dict(declaration),
        updated=datetime.now(UTC),
    )


def redeclared(deployed: Deployed, declaration: Mapping[str, Any]) -> Deployed:
    """Return an unchanged resource with the template's new words about it."""
    return replace(deployed, declaration=dict(declaration))
