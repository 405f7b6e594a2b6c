"""One run of creating or updating a stack: in order, with replacement, clean-up and rollback."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cdk_trainyard.local.engine.intrinsics import NO_VALUE, evaluate
from cdk_trainyard.local.engine.parameters import resolve
from cdk_trainyard.local.engine.records import complete, where_is
from cdk_trainyard.local.engine.scope import StackScope
from cdk_trainyard.local.engine.state import Deployed, Output, Region, Stack
from cdk_trainyard.local.engine.template import Template, in_order
from cdk_trainyard.local.engine.worker import StepFailed, Worker, redeclared
from cdk_trainyard.local.errors import ApiError, ResourceFailed, describe
from cdk_trainyard.local.registry import type_of
from cdk_trainyard.local.resources.model import Host, ResourceType, replacing

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """What a stack shall become."""

    template: Template
    parameters: Mapping[str, Any]
    tags: Mapping[str, str]
    role: str | None = None


@dataclass(slots=True)
class _Journal:
    """What a run has done, for its clean-up or for its rollback."""

    created: list[Deployed] = field(default_factory=list)
    updated: list[tuple[Deployed, Deployed]] = field(default_factory=list)
    obsolete: list[tuple[Deployed, str]] = field(default_factory=list)


class Deployment:
    """Takes a stack to a target, or back to where it was.

    Args:
        region: Where the stack is.
        stack: The stack; for a creation, an empty one.
        target: What it shall become.
        host: Deploys nested stacks.
        keep_on_failure: Leave everything as it is after a failure, instead of rolling back.
    """

    def __init__(
        self, region: Region, stack: Stack, target: Target, host: Host, *, keep_on_failure: bool = False
    ) -> None:
        self._region = region
        self._stack = stack
        self._target = target
        self._host = host
        self._keep_on_failure = keep_on_failure
        self._creating = stack.status == "REVIEW_IN_PROGRESS"
        self._worker = Worker(region, stack, host)
        self._before = dict(stack.resources)
        self._words_before = (stack.template, stack.parameters, stack.tags)
        self._journal = _Journal()
        self._resolved: dict[str, Any] = {}

    def run(self) -> None:
        """Deploy; the outcome is the status of the stack."""
        self._stack.tags = dict(self._target.tags)
        self._stack.note("CREATE_IN_PROGRESS" if self._creating else "UPDATE_IN_PROGRESS", "User Initiated")
        _log.info("%s: %s", self._stack.name, self._stack.status)
        try:
            scope = self._apply()
            outputs = self._outputs(scope)
        except (StepFailed, ResourceFailed, ApiError) as error:
            self._fail(describe(error) if not isinstance(error, StepFailed) else str(error))
        except Exception as error:  # noqa: BLE001  the stack must not stay IN_PROGRESS
            _log.exception("the engine failed on stack %s", self._stack.name)
            self._fail(f"local AWS, a fault of the emulator: {describe(error)}")
        else:
            self._complete(scope, outputs)
        _log.info("%s: %s", self._stack.name, self._stack.status)

    def _apply(self) -> StackScope:
        template = self._target.template
        self._resolved = resolve(template, self._target.parameters, self._region.name)
        scope = StackScope(self._region, self._stack, template, self._resolved)
        self._check_rules(scope)
        active = scope.active()
        for name in in_order(active):
            scope.resources[name] = self._one(name, active[name], scope)
            self._stack.resources[name] = scope.resources[name]
        removed = [deployed for name, deployed in self._before.items() if name not in active]
        self._journal.obsolete.extend((deployed, "DeletionPolicy") for deployed in removed)
        return scope

    def _check_rules(self, scope: StackScope) -> None:
        for name, rule in self._target.template.section("Rules").items():
            if not evaluate(rule.get("RuleCondition", True), scope):
                continue
            for assertion in rule["Assertions"]:
                if not evaluate(assertion["Assert"], scope):
                    told = assertion.get("AssertDescription", "")
                    raise ResourceFailed(f"Template validation error: rule {name} does not hold. {told}".strip())

    def _one(self, name: str, declaration: Mapping[str, Any], scope: StackScope) -> Deployed:
        """Create, change, replace or keep one resource."""
        wanted = evaluate(declaration.get("Properties") or {}, scope)
        old = self._before.get(name)
        type_ = type_of(declaration["Type"])
        where = where_is(self._region, self._stack, name, declaration["Type"], self._host)
        tags = self._target.tags
        if old is None or old.type_name != declaration["Type"] or old.status == "CREATE_FAILED":
            return self._create(name, declaration, *complete(type_, where, wanted, tags, {}), old)
        full, made_up = complete(type_, where, wanted, tags, old.made_up)
        if full == old.properties:
            return redeclared(old, declaration)
        if not replacing(type_, old.properties, full):
            return self._update(old, declaration, full, made_up)
        if _name_is_taken(type_, wanted, old):
            message = (
                f"CloudFormation cannot update a stack when a custom-named resource requires replacing. "
                f"Rename {old.physical_id} and update the stack again."
            )
            self._stack.note_resource(name, old.physical_id, old.type_name, "UPDATE_FAILED", message)
            raise StepFailed(message)
        reason = "Requested update requires the creation of a new physical resource; hence creating one."
        self._stack.note_resource(name, old.physical_id, old.type_name, "UPDATE_IN_PROGRESS", reason)
        return self._create(name, declaration, *complete(type_, where, wanted, tags, {}), old)

    def _create(
        self,
        name: str,
        declaration: Mapping[str, Any],
        full: Mapping[str, Any],
        made_up: Mapping[str, Any],
        old: Deployed | None,
    ) -> Deployed:
        try:
            new = self._worker.create(name, declaration, full, made_up)
        except StepFailed as failure:
            if failure.left_behind:
                self._journal.created.append(failure.left_behind)
                self._stack.resources[name] = failure.left_behind
            raise
        self._journal.created.append(new)
        if old is not None:
            self._journal.obsolete.append((old, "UpdateReplacePolicy"))
        return new

    def _update(
        self, old: Deployed, declaration: Mapping[str, Any], full: Mapping[str, Any], made_up: Mapping[str, Any]
    ) -> Deployed:
        try:
            new = self._worker.update(old, declaration, full, made_up)
        except StepFailed as failure:
            if failure.left_behind:
                self._journal.updated.append((old, failure.left_behind))
            raise
        if new.physical_id == old.physical_id:
            self._journal.updated.append((old, new))
        else:  # a custom resource that answered an update with another id has replaced itself
            self._journal.created.append(new)
            self._journal.obsolete.append((old, "UpdateReplacePolicy"))
        return new

    def _outputs(self, scope: StackScope) -> dict[str, Output]:
        """Evaluate the outputs, and refuse to change an export that another stack uses."""
        outputs = {}
        for key, row in self._target.template.section("Outputs").items():
            if "Condition" in row and not scope.condition(row["Condition"]):
                continue
            value = evaluate(row["Value"], scope)
            if isinstance(value, list | Mapping):
                raise ResourceFailed(f"Template format error: Output {key} is malformed. The Value must be a string")
            outputs[key] = Output(
                key=key,
                value=str(value).lower() if isinstance(value, bool) else str(value),
                description=row.get("Description"),
                export_name=evaluate(row["Export"]["Name"], scope) if row.get("Export") else None,
            )
        exported = {output.export_name: output for output in outputs.values() if output.export_name}
        for name, (owner, _) in self._region.exports().items():
            if name in exported and owner is not self._stack:
                raise ResourceFailed(f"Export with name {name} is already exported by stack {owner.name}")
        for name, output in self._stack.exports.items():
            users = ", ".join(self._region.importers(name))
            kept = exported.get(name)
            if users and (kept is None or kept.value != output.value):
                verb = "deleted" if kept is None else "updated"
                raise ResourceFailed(f"Export {name} cannot be {verb} as it is in use by {users}")
        return outputs

    def _complete(self, scope: StackScope, outputs: dict[str, Output]) -> None:
        stack, target = self._stack, self._target
        stack.template, stack.parameters, stack.resolved = target.template, dict(target.parameters), self._resolved
        stack.role = target.role or stack.role
        stack.outputs, stack.imports, stack.pending = outputs, frozenset(scope.imports), None
        if not self._creating:
            stack.updated = datetime.now(UTC)
            stack.note("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
        created = list(self._before)
        for deployed, policy in sorted(
            self._journal.obsolete, key=lambda row: created.index(row[0].logical_id), reverse=True
        ):
            self._discard(deployed, policy)
        stack.resources = {name: scope.resources[name] for name in scope.resources}
        stack.note("CREATE_COMPLETE" if self._creating else "UPDATE_COMPLETE")

    def _discard(self, deployed: Deployed, policy: str) -> None:
        """Delete what is no longer wanted; CloudFormation notes a failure here and goes on."""
        try:
            self._worker.delete(deployed, policy=policy)
        except StepFailed as failure:
            _log.warning("%s: %s stays behind: %s", self._stack.name, deployed.physical_id, failure)

    def _fail(self, why: str) -> None:
        if self._keep_on_failure:
            self._stack.pending = self
            # what the next deployment starts from
            self._stack.template = self._target.template
            self._stack.parameters = dict(self._target.parameters)
            self._stack.note("CREATE_FAILED" if self._creating else "UPDATE_FAILED", why)
        else:
            self.roll_back(why)

    def roll_back(self, why: str | None) -> None:
        """Return to where the stack was: changes are undone, and what was created is deleted."""
        prefix = "ROLLBACK" if self._creating else "UPDATE_ROLLBACK"
        self._stack.note(f"{prefix}_IN_PROGRESS", why)
        failures = [failure for failure in map(self._undo, self._journal.updated) if failure]
        if not self._creating:
            self._stack.note("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
        stuck: dict[str, Deployed] = {}
        for deployed in reversed(self._journal.created):
            try:
                self._worker.delete(deployed, created_now=True)
            except StepFailed as failure:
                failures.append(str(failure))
                stuck[deployed.logical_id] = deployed
        # what a creation could not take back is still the stack's, and its to delete or to keep
        self._stack.resources = {**self._before, **(stuck if self._creating else {})}
        self._stack.template, self._stack.parameters, self._stack.tags = self._words_before
        self._stack.pending = None
        if failures:
            self._stack.note(f"{prefix}_FAILED", "; ".join(failures))
        else:
            self._stack.note(f"{prefix}_COMPLETE")

    def _undo(self, change: tuple[Deployed, Deployed]) -> str | None:
        old, new = change
        try:
            self._worker.update(new, old.declaration, old.properties, old.made_up)
        except StepFailed as failure:
            return str(failure)
        return None


def _name_is_taken(type_: ResourceType, wanted: Mapping[str, Any], old: Deployed) -> bool:
    """Return whether the resource that shall replace ``old`` would have to bear its name, while ``old`` is there."""
    if type_.named is None or type_.revised:
        return False
    return bool(wanted.get(type_.named.property, NO_VALUE) == old.properties.get(type_.named.property))
