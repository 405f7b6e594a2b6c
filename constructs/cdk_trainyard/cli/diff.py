"""``trainyard diff FILE [STACK…]``: what a deployment would change, as the cdk CLI says it."""

from pathlib import Path
from typing import Final

import click

from cdk_trainyard.cli import _cdk
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._progress import working
from cdk_trainyard.cli._stacks import app_with

_NOISE: Final = ("start: ", "success: ", "Hold on while we create")


@click.command("diff")
@click.argument("file", type=FILE)
@click.argument("stacks", nargs=-1, metavar="[STACK]...")
@click.option("--fail", is_flag=True, help="Exit code 1 when anything would change.")
@click.option("--security-only", is_flag=True, help="Only permissions and networks.")
def command(file: Path, stacks: tuple[str, ...], fail: bool, security_only: bool) -> None:
    """Compare a deployment with what is deployed."""
    load(file)
    cdk = _cdk.find()
    flags = [*(["--fail"] if fail else []), *(["--security-only"] if security_only else [])]
    with (
        app_with(stacks, cdk, *_cdk.app_words(file)) as app,
        working(f"comparing {file} with what is deployed"),
    ):
        done = cdk.run("diff", *(stacks or ("*",)), *app, *flags)
    click.echo("\n".join(line for line in done.lines if not line.startswith(_NOISE)))
    if done.code:
        raise Wrong("there are differences" if fail else "cdk diff failed, as shown above")
