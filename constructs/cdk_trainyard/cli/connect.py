"""``trainyard connect FILE [NODE|GROUP]``: a session on a node, without typing ids."""

import os
from pathlib import Path

import click

from cdk_trainyard.cli._deployed import opened
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._sessions import meant, plugin


@click.command("connect")
@click.argument("file", type=FILE)
@click.argument("name", required=False, metavar="[NODE|GROUP]")
def command(file: Path, name: str | None) -> None:
    """Open a session on a node, without typing ids.

    It is Session Manager's. NODE is an id, a name in Slurm or an address; of a GROUP the first node that runs. Without
    either the controller, the head node or the master.
    """
    load(file)
    found = plugin()
    of = opened(file)
    nodes = meant(of, [name] if name is not None else [])
    from cdk_trainyard.operations import OperationError
    from cdk_trainyard.operations.sessions import call, called, first, start

    try:
        node = first(nodes)
        program = start(of.account, found, call(node.target), called=called(node))
    except OperationError as error:
        raise Wrong(str(error)) from None
    click.echo(f"{called(node)}: exit ends the session", err=True)
    os.execve(found.path, program.words, program.environment)  # noqa: S606  the plugin, which has the terminal from here
