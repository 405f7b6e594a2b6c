"""What the stacks of a deployment hold, by CloudFormation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.identifiers import stack_name

PARTS: Final = ("network", "storage", "training", "serving")
"""What a deployment has a stack for: ``NAME-network`` and so on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A resource of a stack.

    Attributes:
        logical_id: Its logical id.
        type: Its CloudFormation type.
        id: Its physical id. Empty: it has none yet.
        status: Its status.
    """

    logical_id: str
    type: str
    id: str
    status: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack of a deployment.

    Attributes:
        part: What it is of the deployment: ``training``.
        name: Its name.
        id: Its ARN.
        status: Its status.
        reason: Why the status is what it is. Empty: CloudFormation does not say.
        outputs: Name to value.
        resources: What it holds; nothing where `Deployed.refused` says that it was not told.
    """

    part: str
    name: str
    id: str
    status: str
    reason: str
    outputs: Mapping[str, str]
    resources: tuple[Resource, ...]

    @property
    def changes(self) -> bool:
        """Whether CloudFormation changes it at the moment."""
        return self.status.endswith("_IN_PROGRESS")

    def ids(self, resource_type: str) -> list[str]:
        """Return the physical ids of the resources of a type that have one.

        Args:
            resource_type: The CloudFormation type.
        """
        return [resource.id for resource in self.resources if resource.type == resource_type and resource.id]


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """The stacks of a deployment in an account.

    Attributes:
        name: The deployment's name.
        stacks: What there is, by part; a part that is missing does not exist, or `refused` says otherwise.
        refused: What CloudFormation did not answer.
    """

    name: str
    stacks: Mapping[str, Stack]
    refused: tuple[Answer, ...] = ()

    @classmethod
    def read(cls, account: Account, name: str, parts: Iterable[str] = PARTS) -> Self:
        """Ask CloudFormation.

        Args:
            account: The account.
            name: The deployment's name.
            parts: The parts that are asked about. Default - all of them.
        """
        calls = {part: calls_of(stack_name(name, part)) for part in parts}
        answers = account.ask_all(call for pair in calls.values() for call in pair)
        said = {part: (answers[stack], answers[resources]) for part, (stack, resources) in calls.items()}
        return cls(
            name=name,
            stacks={
                part: _stack(part, found, resources)
                for part, (described, resources) in said.items()
                for found in described.items("Stacks")
            },
            refused=tuple(each for each in answers.values() if each.refusal is not None and not each.absent),
        )

    def ids(self, resource_type: str) -> list[str]:
        """Return the physical ids of the resources of a type, of all stacks.

        Args:
            resource_type: The CloudFormation type.
        """
        return [each for stack in self.stacks.values() for each in stack.ids(resource_type)]


def calls_of(stack: str) -> tuple[Call, Call]:
    """Return the calls that tell of a stack, and of what it holds.

    Args:
        stack: The stack's name.
    """
    parameters = {"StackName": stack}
    return (
        Call("cloudformation", "DescribeStacks", parameters),
        Call("cloudformation", "ListStackResources", parameters),
    )


def _stack(part: str, found: Mapping[str, Any], resources: Answer) -> Stack:
    return Stack(
        part=part,
        name=found["StackName"],
        id=found["StackId"],
        status=found["StackStatus"],
        reason=found.get("StackStatusReason", ""),
        outputs={row["OutputKey"]: row["OutputValue"] for row in found.get("Outputs", [])},
        resources=tuple(
            Resource(
                logical_id=row["LogicalResourceId"],
                type=row["ResourceType"],
                id=row.get("PhysicalResourceId", ""),
                status=row["ResourceStatus"],
            )
            for row in resources.items("StackResourceSummaries")
        ),
    )
