"""What the names of a template stand for while a stack is deployed, and while a change set is planned."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.engine.intrinsics import NO_VALUE, evaluate
from cdk_trainyard.local.engine.parameters import resolve_dynamic
from cdk_trainyard.local.engine.records import attribute_of
from cdk_trainyard.local.engine.state import REGIONS, Deployed, Region, Stack
from cdk_trainyard.local.engine.template import Template
from cdk_trainyard.local.errors import ResourceFailed
from cdk_trainyard.local.partition import url_suffix


class NotYetKnown(Exception):  # noqa: N818  a state of things while planning, not an error
    """The value depends on a resource that does not exist yet."""


class StackScope:
    """The names of one stack's template.

    Attributes:
        resources: The resources that exist so far.
        imports: Names of the exports that were used.
        unknown: Logical ids whose values nobody knows yet; only while planning.
    """

    def __init__(
        self, region: Region, stack: Stack, template: Template, parameters: Mapping[str, Any], *, planning: bool = False
    ) -> None:
        """Evaluate ``template`` for ``stack``, with resolved ``parameters``."""
        self._region = region
        self._stack = stack
        self._template = template
        self._parameters = parameters
        self._conditions: dict[str, bool] = {}
        self._planning = planning
        self.resources: dict[str, Deployed] = {}
        self.imports: set[str] = set()
        self.unknown: set[str] = set()
        self._pseudo: dict[str, Any] = {
            "AWS::AccountId": region.account,
            "AWS::NoValue": NO_VALUE,
            "AWS::NotificationARNs": [],
            "AWS::Partition": region.partition,
            "AWS::Region": region.name,
            "AWS::StackId": stack.stack_id,
            "AWS::StackName": stack.name,
            "AWS::URLSuffix": url_suffix(region.partition),
        }

    def ref(self, name: str) -> Any:
        """Return the value of a parameter, of a pseudo parameter, or the physical id of a resource."""
        for known in (self._parameters, self._pseudo):
            if name in known:
                return known[name]
        return self._resource(name).physical_id

    def attribute(self, name: str, attribute: str) -> Any:
        """Return an attribute of a resource."""
        return attribute_of(self._region, self._stack, self._resource(name), attribute)

    def _resource(self, name: str) -> Deployed:
        if name in self.unknown:
            raise NotYetKnown(name)
        if name not in self.resources:
            raise ResourceFailed(f"Unresolved resource dependencies [{name}] in the template")
        return self.resources[name]

    def condition(self, name: str) -> bool:
        """Return whether a condition of the template holds."""
        if name not in self._conditions:
            declared = self._template.section("Conditions")
            if name not in declared:
                raise ResourceFailed(f"Template error: unresolved condition dependency {name}")
            self._conditions[name] = bool(evaluate(declared[name], self))
        return self._conditions[name]

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a mapping of the template."""
        found: Mapping[str, Any] = self._template.section("Mappings").get(name, {})
        return found

    def import_value(self, name: str) -> Any:
        """Return what another stack of the region exports."""
        self.imports.add(name)
        found = self._region.exports().get(name)
        if found is None:
            raise ResourceFailed(f"No export named {name} found. Rollback requested by user.")
        return found[1].value

    def stack_output(self, stack_name: str, output_name: str, region: str | None) -> Any:
        """Return an output of another stack, in this region or in another."""
        where = REGIONS.of(self._region.account, region) if region else self._region
        stack = where.find(stack_name)
        if stack is None or stack.deleted:
            raise ResourceFailed(f"Fn::GetStackOutput: stack {stack_name} does not exist in {where.name}")
        if output_name not in stack.outputs:
            raise ResourceFailed(f"Fn::GetStackOutput: stack {stack_name} has no output {output_name}")
        return stack.outputs[output_name].value

    def zones(self, region: str) -> list[str]:
        """Return the names of the availability zones of a region."""
        found = client("ec2", region).describe_availability_zones()["AvailabilityZones"]
        return [zone["ZoneName"] for zone in found]

    def dynamic(self, text: str) -> str:
        """Return ``text`` with its dynamic references resolved; while planning, as it is."""
        return text if self._planning else resolve_dynamic(text, self._region.name)

    def active(self) -> dict[str, Any]:
        """Return the declarations of the resources whose condition holds."""
        return {
            name: declaration
            for name, declaration in self._template.resources.items()
            if "Condition" not in declaration or self.condition(declaration["Condition"])
        }
