"""ARNs and names that stand in for those of resources which do not exist yet, so that policies can be judged."""

from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph, partition_of, references, replace_marks
from cdk_trainyard.report.stores import ACCESS, OTHER_ARNS, REF_IS_ARN

ACCOUNT: Final = "000000000000"
"""The account that is judged."""
_REGION: Final = "us-east-1"


class StandIns:
    """What resources are called in requests that are judged."""

    def __init__(self, graph: Graph) -> None:
        """Take an assembly.

        Args:
            graph: Its graph.
        """
        self.graph = graph

    def value(self, value: Any) -> Any:
        """Return a resolved value with stand-ins in place of what exists at deployment only.

        Args:
            value: The value.
        """
        if isinstance(value, str):
            return self._stood_in_text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, Mapping):
            return {name: self.value(each) for name, each in value.items()}
        return value

    def _stand_in_for(self, key: str, attribute: str) -> str:
        if key in self.graph.resources:
            return self.of(self.graph.resources[key], attribute)
        return {"AWS::AccountId": ACCOUNT, "AWS::Region": _REGION, "AWS::StackName": "stack"}.get(key, "unknown")

    def of(self, resource: Resource, attribute: str) -> str:
        """Return the ARN or the name that a resource has in requests that are judged here.

        Args:
            resource: The resource.
            attribute: The attribute; nothing is what `Ref` gives.
        """
        name = self._name(resource)
        if not attribute.endswith("Arn") and not (attribute == "" and resource.type in REF_IS_ARN):
            return name
        region = self.graph.region(resource) or _REGION
        service = [*resource.type.split("::"), "", ""][1].lower()
        other = OTHER_ARNS.get(resource.type, "arn:{partition}:{service}:{region}:{account}:{name}")
        form = ACCESS[resource.type].arn if resource.type in ACCESS else other
        return form.format(partition=partition_of(region), region=region, account=ACCOUNT, service=service, name=name)

    def role(self, resource: Resource) -> str:
        """Return the ARN of a role; of what makes its own elsewhere, that of one that it could have.

        Args:
            resource: The resource.
        """
        form = OTHER_ARNS["AWS::IAM::Role"]
        partition = partition_of(self.graph.region(resource) or _REGION)
        return form.format(partition=partition, account=ACCOUNT, name=self._name(resource))

    def _name(self, resource: Resource) -> str:
        """Return the name that the template gives a resource, or one that no other has."""
        given = self.graph.properties(resource).get(ACCESS[resource.type].named_by) if resource.type in ACCESS else None
        if isinstance(given, str) and not any(each.key in self.graph.resources for each in references(given)):
            return self._stood_in_text(given)
        return resource.key.replace("/", "-").lower()

    def _stood_in_text(self, text: str) -> str:
        return replace_marks(text, self._stand_in_for)
