"""``trainyard update-image FILE [GROUP…]``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdk_trainyard.cli import _acting
from cdk_trainyard.cli._deployed import Opened, opened
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.problems import either

if TYPE_CHECKING:
    from cdk_trainyard.operations import Action


@click.command("update-image")
@click.argument("file", type=FILE)
@click.argument("names", nargs=-1, metavar="[GROUP]...")
@_acting.options
def command(file: Path, names: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Give the nodes of groups the newest image.

    Without GROUP those of every group. It says what will be done and what is lost by it, and asks.
    """
    of = opened(file)
    return _acting.act(of, _actions(of, names), yes=yes, as_json=as_json)


def _actions(of: Opened, names: Sequence[str]) -> "list[Action]":
    from cdk_trainyard.operations import OperationError

    groups = {
        system: [group for condition in system.status().rows for group in condition.groups] for system in of.systems
    }
    known = [group.name for each in groups.values() for group in each]
    if unknown := [name for name in names if name not in known]:
        there = f"; its groups are {either(known)}" if known else ""
        raise Wrong(
            "\n".join(
                f"{of.deployment.name} has no group {name!r}{did_you_mean(name, known) or there}" for name in unknown
            )
        )
    try:
        return [
            system.update_image(wanted)
            for system, own in groups.items()
            if (wanted := [group for group in own if (group.name in names if names else not group.is_fixed)])
        ]
    except OperationError as error:
        raise Wrong(str(error)) from None
