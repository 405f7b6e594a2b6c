"""How commands act: they say what will be done and what is lost by it, ask, do it, and say what became of each."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cdk_trainyard.cli._deployed import Opened, chosen, opened, tell_refused
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE

if TYPE_CHECKING:
    from cdk_trainyard.operations import Action, Node, Outcome, System


def options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of those that act."""
    function = click.option("--json", "as_json", is_flag=True, help="Say what became of each as JSON.")(function)
    return click.option("-y", "--yes", is_flag=True, help="Do not ask.")(function)


def command(name: str, does: str, wanted: "Callable[[System, Sequence[Node]], Action]") -> click.Command:
    """Return a command that does something to nodes.

    Args:
        name: Its name.
        does: What it does, in a sentence.
        wanted: Makes the action.
    """
    how = "NODE is an id, a name in Slurm or an address. It says what will be done and what is lost by it, and asks."

    @click.command(name, help=f"{does}\n\n{how}")
    @click.argument("file", type=FILE)
    @click.argument("names", nargs=-1, required=True, metavar="NODE|GROUP...")
    @options
    def made(file: Path, names: tuple[str, ...], yes: bool, as_json: bool) -> int:
        of = opened(file)
        return act(of, on_nodes(of, names, wanted), yes=yes, as_json=as_json)

    return made


def on_nodes(of: Opened, names: Sequence[str], wanted: "Callable[[System, Sequence[Node]], Action]") -> "list[Action]":
    """Return what is to be done to nodes, an action for each system that has any of them.

    Args:
        of: The deployment.
        names: The nodes, or their groups.
        wanted: Makes the action.

    Raises:
        Wrong: There are no such nodes, or it cannot be done to one.
    """
    from cdk_trainyard.operations import OperationError

    systems = of.systems
    found = chosen(of, names, systems)
    tell_refused(found.refused)
    try:
        return [
            wanted(system, own)
            for system in systems
            if (own := [node for node in found.rows if node.system == system.kind])
        ]
    except OperationError as error:
        raise Wrong(str(error)) from None


def act(of: Opened, actions: "Sequence[Action]", *, yes: bool, as_json: bool) -> int:
    """Say what will be done, ask, do it, and say what became of each node or group.

    Args:
        of: The deployment.
        actions: What is to be done.
        yes: Whether nobody is asked.
        as_json: Whether it is said as JSON.

    Returns:
        The exit code: 1 where something was not taken.

    Raises:
        UsageError: There is nobody to ask.
        Wrong: The answer is no, or there is nothing to do.
    """
    from cdk_trainyard.operations import make

    if not actions:
        raise Wrong("there is nothing to which it could be done")
    for action in actions:
        click.echo("\n".join(_lines(action, of.deployment.region)), err=True)
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("nothing was done: there is nobody to ask; add --yes")
        if not click.confirm("go on?", err=True):
            raise Wrong("nothing was done")
    outcomes = [outcome for action in actions for outcome in make(of.account, action)]
    if as_json:
        click.echo(json.dumps({"outcomes": [asdict(outcome) for outcome in outcomes]}, indent=2))
    else:
        for outcome in outcomes:
            click.echo(_line(outcome))
        if any(outcome.done for outcome in outcomes):
            click.echo("\n".join(dict.fromkeys(action.then for action in actions)), err=True)
    if any(outcome.busy for outcome in outcomes):
        click.echo("\n".join(_going_on(of)), err=True)
    return 0 if all(outcome.done for outcome in outcomes) else 1


def _lines(action: "Action", region: str) -> list[str]:
    return [
        action.what,
        "this loses:",
        *(f"  - {each}" for each in action.loses),
        "the same with the AWS CLI:",
        *(f"  {command}" for command in action.commands(region)),
    ]


def _going_on(of: Opened) -> Iterator[str]:
    """Yield what is done to a deployment by others: what its stacks and groups are about to become."""
    from cdk_trainyard.operations import Listing

    yield f"somebody else, or AWS, is at work on it; 'trainyard events {of.file}' says since when:"
    for condition in Listing.joined(system.status() for system in of.systems).rows:
        yield f"  {condition.kind} {condition.name}: {condition.state}"
        yield from (f"  {group.name}: {group.state}" for group in condition.groups if group.state)
    yield from (f"  {stack.name}: {stack.status}" for stack in of.deployed.stacks.values() if stack.changes)


def _line(outcome: "Outcome") -> str:
    return f"{outcome.subject}: {'taken' if outcome.done else outcome.text}"
