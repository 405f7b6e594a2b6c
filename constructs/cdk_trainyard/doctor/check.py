"""A check, and what the account has said to all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cdk_trainyard.account import Answer, Call, Refusal, Why
from cdk_trainyard.deployment.needs import PARTS
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.finding import Finding
from cdk_trainyard.identifiers import stack_name

QUALIFIER: Final = "hnb659fds"
"""Of the resources of ``cdk bootstrap``; an app may choose another. Source: CDK developer guide v2, "Customize CDK
bootstrapping"."""
IDENTITY = Call("sts", "GetCallerIdentity")
"""Who asks."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the account has said.

    Attributes:
        said: Its answers by their calls.
        qualifier: Of the bootstrap with which it is deployed. Default - the cdk CLI's own.
    """

    said: Mapping[Call, Answer] = field(default_factory=dict)
    qualifier: str = QUALIFIER

    def __getitem__(self, call: Call) -> Answer:
        """Return what was said to a call; of one that was not made, that it was not."""
        never = Refusal(why=Why.CREDENTIALS, code="", text="not asked")
        return self.said.get(call) or Answer(call=call, refusal=never)

    def items(self, call: Call, member: str) -> list[Any]:
        """Return a list of an answer; none where it was not answered."""
        return self[call].items(member)

    def refused(self, calls: Iterable[Call]) -> Answer | None:
        """Return the first of several calls that was not answered; None when all were.

        Args:
            calls: The calls; what one asks about may be absent, which is an answer.
        """
        return next((self[call] for call in calls if self[call].refusal and not self[call].absent), None)

    @property
    def caller(self) -> str:
        """ARN of who asks; empty: not known."""
        return str(self[IDENTITY].value.get("Arn", ""))

    @property
    def account(self) -> str:
        """Number of the account that is asked; empty: not known."""
        return str(self[IDENTITY].value.get("Account", ""))

    @property
    def partition(self) -> str:
        """Partition of the account."""
        return self.caller.split(":")[1] if self.caller else "aws"


def _nothing(_deployment: DeploymentSpec, _answers: Answers) -> Iterator[Call]:
    return iter(())


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One check of the doctor: the calls to AWS that it makes, and how answers become findings.

    Attributes:
        name: Its name in the table.
        asks: What it may ask, as ``"ec2 DescribeVpcs"``: its permissions follow.
        calls: The calls for a deployment.
        then: The calls that follow from the answers; asked until nothing more follows. Default - none.
        findings: What the answers mean.
    """

    name: str
    asks: tuple[str, ...]
    calls: Callable[[DeploymentSpec], Iterable[Call]]
    findings: Callable[[DeploymentSpec, Answers], Iterable[Finding]]
    then: Callable[[DeploymentSpec, Answers], Iterable[Call]] = _nothing

    @property
    def permissions(self) -> list[str]:
        """The actions of IAM that it needs."""
        named = (each.split() for each in self.asks)
        return sorted({Call(service, operation).permission for service, operation in named})


def stack_names(deployment: DeploymentSpec) -> list[str]:
    """Return the names that the stacks of a deployment have, those among them that it does not make.

    Args:
        deployment: The deployment.
    """
    return [stack_name(deployment.name, part) for part in PARTS]


def own_calls(deployment: DeploymentSpec) -> list[Call]:
    """Return the calls that tell what the deployment has made already.

    Args:
        deployment: The deployment.
    """
    return [own_call(name) for name in stack_names(deployment)]


def own_call(stack: str) -> Call:
    """Return the call that tells what a stack has made.

    Args:
        stack: Its name.
    """
    return Call("cloudformation", "ListStackResources", {"StackName": stack})


def own(deployment: DeploymentSpec, answers: Answers) -> frozenset[str]:
    """Return the physical ids of what the deployment has made already, which it does not need again.

    Args:
        deployment: The deployment.
        answers: What was said.
    """
    rows = (row for call in own_calls(deployment) for row in answers.items(call, "StackResourceSummaries"))
    return frozenset(str(row.get("PhysicalResourceId", "")) for row in rows)


def place(deployment: DeploymentSpec, *path: str | int) -> str:
    """Return where the file says something: ``file:line:column``; empty for a deployment made in Python.

    Args:
        deployment: The deployment.
        path: The keys from the top.
    """
    return deployment.document.at(path) if deployment.document else ""
