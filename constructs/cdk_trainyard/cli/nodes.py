"""``trainyard nodes FILE``: the nodes of a deployment, whatever runs them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdk_trainyard.cli import _tables
from cdk_trainyard.cli._deployed import AS_JSON, age, chosen, opened, said, tell_refused
from cdk_trainyard.cli._files import FILE

if TYPE_CHECKING:
    from cdk_trainyard.operations import Node

_HEADS = ("ID", "GROUP", "TYPE", "STATE", "HEALTH", "ADDRESS", "SLURM", "ZONE", "AGE")


@click.command("nodes")
@click.argument("file", type=FILE)
@click.argument("names", nargs=-1, metavar="[NODE|GROUP]...")
@AS_JSON
def command(file: Path, names: tuple[str, ...], as_json: bool) -> None:
    """Show the nodes of a deployment, whatever runs them.

    NODE is an id, a name in Slurm or an address. Without NODE and GROUP all nodes.
    """
    found = chosen(opened(file), names)
    if as_json:
        click.echo(said({"nodes": found.rows}, found.refused))
    else:
        click.echo(_tables.table(_HEADS, [*map(_cells, found.rows)], _tables.width()))
        tell_refused(found.refused)


def _cells(node: "Node") -> tuple[str, ...]:
    return (
        *(node.id, node.group, node.type, node.state, node.health),
        *(node.address, node.slurm_name, node.zone, age(node.since)),
    )
