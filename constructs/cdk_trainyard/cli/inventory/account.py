"""The services of one region, and the ids that a deployment's stacks hold."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from cdk_trainyard import account
from cdk_trainyard.operations import Deployed, instances


class Account:
    """What a deployment has made in one region.

    Attributes:
        region: The region.
    """

    def __init__(self, account: account.Account, deployed: Deployed) -> None:
        self.region = account.region
        self._account = account
        self._deployed = deployed

    def client(self, service: str) -> Any:
        """Return the service's client."""
        return self._account.client(service)

    def ids(self, resource_type: str) -> list[str]:
        """Return the physical ids of one CloudFormation type; AWS's own are named without ``AWS::``."""
        return self._deployed.ids(resource_type if resource_type.startswith("Custom::") else f"AWS::{resource_type}")

    def found(self, resource_type: str, service: str, operation: str, parameter: str, answer: str) -> Iterator[Any]:
        """Yield what ``operation`` says of the resources of one type; without any it is not asked.

        Args:
            resource_type: ``EC2::VPC``.
            service: boto3's name of the service.
            operation: The operation that describes them.
            parameter: Its parameter for their ids: without one it would tell of everybody's.
            answer: The member of its answer.
        """
        if ids := self.ids(resource_type):
            yield from getattr(self.client(service), operation)(**{parameter: ids})[answer]


def tag(resource: dict[str, Any], key: str) -> str:
    """Return one tag's value, or ``"-"``."""
    return instances.tag(resource, key) or "-"


class Row(NamedTuple):
    """What was found, one thing."""

    label: str
    name: str
    facts: tuple[str, ...]

    def __str__(self) -> str:
        """Lay it out in one line."""
        return f"{self.label:<18} {self.name}  {', '.join(self.facts)}".rstrip()


def row(label: str, name: object, *facts: object) -> Row:
    """Return a row: what it is, which one, what is known of it; what belongs to the row before is indented."""
    return Row(label, str(name), tuple(map(str, facts)))


def last(arn: str) -> str:
    """Return the last part of an ARN."""
    return arn.rsplit("/", 1)[-1]
