"""The cdk CLI stops at the first stack that fails; here the others are deployed all the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cdk_trainyard.cli._cdk import Cdk
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._stacks import id_of, listed

if TYPE_CHECKING:
    from cdk_trainyard.local import LocalAws

_THERE = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
Run = Callable[..., int]
"""Runs the CLI with words, and returns its exit code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stack:
    """A stack of the app, as ``cdk list`` knows it."""

    id: str
    name: str
    region: str
    stands_on: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any], region: str) -> "_Stack":
        """Return a stack of what the CLI lists; one without a Region is in ``region``."""
        own = row["environment"]["region"]
        return cls(
            id=row["id"],
            name=row["name"],
            region=region if own == "unknown-region" else own,
            stands_on=tuple(id_of(each) for each in row["dependencies"]),
        )


def deploy(cdk: Cdk, run: Run, aws: "LocalAws", stacks: Sequence[str], app: Sequence[str], assembly: str) -> list[str]:
    """Deploy stacks and what they stand on; where one fails, all that do not stand on it.

    Args:
        cdk: The CLI.
        run: Runs it and shows what it says.
        aws: Where.
        stacks: Ids of stacks, or patterns.
        app: The CLI's words for the app; it is synthesized into the assembly, or is there.
        assembly: Folder of the cloud assembly.

    Returns:
        What was not deployed: the id of each such stack, and on which one it stands that was not.

    Raises:
        Wrong: The app cannot be synthesized.
    """
    if not run("deploy", *stacks, *app, "--require-approval", "never"):
        return []
    try:
        rows = listed(cdk, *stacks, "--app", assembly)
    except Wrong:
        raise Wrong("cdk deploy failed, as shown above") from None
    waiting = [stack for row in rows if not _is_there(stack := _Stack.of(row, aws.region), aws)]
    missing: dict[str, str] = {}
    for stack in waiting:
        below = [each for each in stack.stands_on if each in missing]
        words = ("deploy", stack.id, "--exclusively", "--app", assembly, "--require-approval", "never")
        if below:
            missing[stack.id] = f"{stack.id} (stands on {' and '.join(below)})"
        elif len(waiting) == 1 or run(*words):  # a single one is the one that has failed
            missing[stack.id] = stack.id
    return list(missing.values())


def _is_there(stack: _Stack, aws: "LocalAws") -> bool:
    try:
        (found,) = aws.client("cloudformation", stack.region).describe_stacks(StackName=stack.name)["Stacks"]
    except ClientError:
        return False
    return found["StackStatus"] in _THERE
