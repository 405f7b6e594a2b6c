"""Values of synthesized templates written out: references between resources and stacks become plain names."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cdk_trainyard.reach.table import Region

Templates = Mapping[str, Mapping[str, Any]]
"""Stack → template."""


@dataclass(frozen=True)
class Writer:
    """Writes out what templates of one app say.

    Attributes:
        templates: The templates.
        region: Where they are deployed.
    """

    templates: Templates
    region: Region

    def write(self, value: Any, stack: str) -> Any:
        """Return a value with everything written out that can be; a resource becomes ``<stack>/<logical id>``.

        Args:
            value: What a template says.
            stack: The stack that says it.

        Raises:
            ValueError: It uses an intrinsic function that is not known here.
        """
        if isinstance(value, list):
            return [self.write(item, stack) for item in value]
        if not isinstance(value, Mapping):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name == "Ref":
                return self._reference(argument, stack)
            if name.startswith("Fn::"):
                return self._call(name, argument, stack)
        return {key: self.write(inner, stack) for key, inner in value.items()}

    def _reference(self, name: str, stack: str) -> Any:
        region = self.region
        pseudo = {
            "AWS::Region": region.name,
            "AWS::AccountId": region.account,
            "AWS::Partition": region.partition,
            "AWS::URLSuffix": region.suffix,
        }
        parameter = self.templates[stack].get("Parameters", {}).get(name)
        if parameter is not None:
            return parameter.get("Default", name)
        return pseudo.get(name, name if name.startswith("AWS::") else f"{stack}/{name}")

    def _call(self, name: str, argument: Any, stack: str) -> Any:
        match name:
            case "Fn::GetAtt":
                resource = argument[0] if isinstance(argument, list) else argument.partition(".")[0]
                return f"{stack}/{resource}"
            case "Fn::ImportValue":
                return self._import(self.write(argument, stack))
            case "Fn::Join":
                glue, parts = argument
                return glue.join(str(part) for part in self.write(parts, stack))
            case "Fn::Split":
                glue, text = argument
                return self.write(text, stack).split(glue)
            case "Fn::Select":
                index, choices = argument
                written = self.write(choices, stack)
                return written[int(index)] if isinstance(written, list) else written
            case "Fn::Base64" | "Fn::GetAZs" | "Fn::Sub" | "Fn::FindInMap" | "Fn::If" | "Fn::Cidr":
                return {name: argument}  # nothing that is read here depends on it
        raise ValueError(f"{stack}: {name} is not known here")

    def _import(self, export: str) -> Any:
        if export not in self._exports:
            raise ValueError(f"no stack exports {export!r}")
        stack, value = self._exports[export]
        return self.write(value, stack)

    @cached_property
    def _exports(self) -> Mapping[str, tuple[str, Any]]:
        return {
            self.write(output["Export"]["Name"], stack): (stack, output["Value"])
            for stack, template in self.templates.items()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }
