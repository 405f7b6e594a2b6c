"""``trainyard exec FILE GROUP -- CMD``: a command on every node of a group, side by side."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdk_trainyard.cli._deployed import opened
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._sessions import meant, plugin

if TYPE_CHECKING:
    from cdk_trainyard.operations import Node


@click.command("exec")
@click.argument("file", type=FILE)
@click.argument("name", metavar="NODE|GROUP")
@click.argument("words", nargs=-1, required=True, metavar="-- CMD...")
@click.option("--user", default="root", show_default=True, help="The user that runs it.")
def command(file: Path, name: str, words: tuple[str, ...], user: str) -> int:
    """Run a command on every node of a group, side by side.

    Each line of output has its node before it. A single word after -- is a line for the user's shell. Exit code 1 when
    the command failed on a node, or its end is not known.
    """
    load(file)
    found = plugin()
    of = opened(file)
    nodes = meant(of, [name])
    from cdk_trainyard.operations import OperationError
    from cdk_trainyard.operations.commands import Commands, line_of

    wide = max(len(_label(node)) for node in nodes)

    def heard(node: "Node", text: str) -> None:
        click.echo(f"{_label(node).ljust(wide)}  {text}".rstrip())

    failed = 0
    try:
        for ended in Commands(of.account, found).all(nodes, line_of(words), heard, user=user):
            if ended.code != 0:
                failed += 1
                why = ended.why or f"exit code {ended.code}"
                click.echo(f"{_label(ended.node).ljust(wide)}  {why}", err=True)
    except OperationError as error:
        raise Wrong(str(error)) from None
    if failed and len(nodes) > 1:
        click.echo(f"failed on {failed} of {len(nodes)} nodes", err=True)
    return 1 if failed else 0


def _label(node: "Node") -> str:
    """Return what a node is called before a line: its name in Slurm where it has one."""
    return node.slurm_name or node.id
