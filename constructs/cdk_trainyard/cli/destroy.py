"""``trainyard destroy FILE [STACK…]``: stacks go; what holds data stays unless the file asks otherwise."""

import sys
from pathlib import Path

import click

from cdk_trainyard.cli import _cdk
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._stacks import app_with
from cdk_trainyard.cli.deploy import tell


@click.command("destroy")
@click.argument("file", type=FILE)
@click.argument("stacks", nargs=-1, metavar="[STACK]...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-v", "--verbose", is_flag=True, help="Show what the cdk CLI says: every event.")
def command(file: Path, stacks: tuple[str, ...], yes: bool, verbose: bool) -> None:
    """Destroy stacks of a deployment; what holds data stays.

    File systems, buckets, keys and databases stay unless the deployment file asks otherwise.
    """
    load(file)
    cdk = _cdk.find()
    chosen = ", ".join(stacks) or "every stack"
    if not yes and not sys.stdin.isatty():
        raise click.UsageError(f"destroying {chosen} cannot be undone, and there is nobody to ask: add --yes")
    with app_with(stacks, cdk, *_cdk.app_words(file)) as app:
        if not yes and not click.confirm(f"destroy {chosen} of {file}?", err=True):
            raise Wrong("nothing was changed")
        words = ["destroy", *(stacks or ("--all",)), *app, "--force"]
        tell(cdk, *words, verbose=verbose, quiet=False, resume=f"trainyard destroy {file}")
