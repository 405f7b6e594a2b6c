"""What is to be done, as a value: the calls, what they do to whom, and what is lost by it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cdk_trainyard.account import Account, Answer, Call, Why

_SUBJECTS: Final = ("NodeIds", "NodeLogicalIds", "InstanceIds", "InstanceId", "AutoScalingGroupName", "ClusterName")
"""The parameters that say to whom a call does something, the most exact first."""
_FAILED: Final = {"Failed": "NodeId", "FailedNodeLogicalIds": "NodeLogicalId"}
"""The members of an answer that say to whom nothing was done, each with the member that names one."""
_IN_USE: Final = "InUse"
"""How the codes end of nodes to which something else is done: ``InstanceIdInUse``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one node or group.

    Attributes:
        subject: The node or group.
        done: Whether the account took it.
        text: Why not. Empty: it did.
        busy: Whether it did not because somebody else, or AWS, changes it at the moment.
    """

    subject: str
    done: bool
    text: str = ""
    busy: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """What is to be done; nothing is done before `make`.

    Attributes:
        what: What, in words: ``reboot i-1 of workers``.
        calls: The calls, in their order.
        loses: What is lost by it, a sentence each.
        then: What happens after the calls.
    """

    what: str
    calls: tuple[Call, ...]
    loses: tuple[str, ...]
    then: str

    def commands(self, region: str) -> list[str]:
        """Return the AWS CLI's commands that do the same.

        Args:
            region: The Region.
        """
        return [call.command(region) for call in self.calls]


def make(account: Account, action: Action) -> Iterator[Outcome]:
    """Make the calls of an action, one after the other; what one of them does not take leaves the others.

    Args:
        account: The account.
        action: The action.
    """
    for call in action.calls:
        yield from _outcomes(account.ask(call))


def _outcomes(answer: Answer) -> Iterator[Outcome]:
    if (refusal := answer.refusal) is not None:
        for each in _subjects(answer.call):
            yield Outcome(subject=each, done=False, text=str(refusal), busy=refusal.why is Why.BUSY)
        return
    failed = {row[key]: row for member, key in _FAILED.items() for row in answer.items(member)}
    for each in _subjects(answer.call):
        if row := failed.get(each):
            code = str(row.get("ErrorCode") or row.get("Code"))
            yield Outcome(subject=each, done=False, text=f"{code}: {row['Message']}", busy=code.endswith(_IN_USE))
        else:
            yield Outcome(subject=each, done=True)


def _subjects(call: Call) -> Iterator[str]:
    name = next(name for name in _SUBJECTS if name in call.parameters)
    value = call.parameters[name]
    yield from ([value] if isinstance(value, str) else value)
