"""``trainyard reboot FILE NODE|GROUP…``."""

from pathlib import Path

import click

from cdk_trainyard.cli import _acting
from cdk_trainyard.cli._deployed import opened
from cdk_trainyard.cli._files import FILE


@click.command("reboot")
@click.argument("file", type=FILE)
@click.argument("names", nargs=-1, required=True, metavar="NODE|GROUP...")
@_acting.options
def command(file: Path, names: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Reboot nodes.

    NODE is an id, a name in Slurm or an address. It says what will be done and what is lost by it, and asks.
    """
    of = opened(file)
    actions = _acting.on_nodes(of, names, lambda system, nodes: system.reboot(nodes))
    return _acting.act(of, actions, yes=yes, as_json=as_json)
