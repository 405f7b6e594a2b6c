"""What runs on nodes in the stacks of a deployment: a row for each kind, its code imported when there is one."""

from collections.abc import Iterator
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Final

from cdk_trainyard.account import Account
from cdk_trainyard.deployment.orchestrators import orchestrators
from cdk_trainyard.operations.deployed import Deployed
from cdk_trainyard.operations.protocol import OperationError, System


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A kind of what runs on nodes.

    Attributes:
        part: The part of a deployment whose stack it is in.
        type: The CloudFormation type of which it has at least one.
        system: Its class, as ``module:name``.
    """

    part: str
    type: str
    system: str


_SERVICE: Final = Row(part="serving", type="AWS::ECS::Service", system="cdk_trainyard.operations.service:Service")


def _rows() -> list[Row]:
    """Return a row for each orchestrator whose nodes are looked after here, and that of what serves."""
    training = (
        Row(part="training", type=each.resource, system=each.system)
        for each in orchestrators().values()
        if each.resource is not None and each.system is not None
    )
    return [*training, _SERVICE]


def systems_of(account: Account, deployed: Deployed) -> list[System]:
    """Return what runs on nodes in the stacks of a deployment.

    Args:
        account: The account.
        deployed: The stacks.

    Raises:
        OperationError: There is none: not deployed, not yet, or CloudFormation may not be asked.
    """
    found = list(_found(account, deployed))
    if not found:
        raise OperationError("\n".join(_why_none(account, deployed)))
    return found


def _found(account: Account, deployed: Deployed) -> Iterator[System]:
    for row in _rows():
        stack = deployed.stacks.get(row.part)
        if stack and stack.ids(row.type):
            yield resolve_name(row.system)(account, stack)


def _why_none(account: Account, deployed: Deployed) -> Iterator[str]:
    parts = [part for part in dict.fromkeys(row.part for row in _rows()) if part in deployed.stacks]
    nodes = "" if deployed.refused else "; it has no nodes"  # who was not told of resources does not know
    for part in parts:
        stack = deployed.stacks[part]
        reason = f": {stack.reason}" if stack.reason else ""
        yield f"{stack.name} is {stack.status}{reason}{nodes}"
    yield from dict.fromkeys(f"{answer.call.permission}: {answer.refusal}" for answer in deployed.refused)
    if not parts and not deployed.refused:
        yield f"nothing of {deployed.name} that has nodes exists in {account.region}"
