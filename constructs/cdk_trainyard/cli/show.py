"""``trainyard show FILE``: what exists, read back from each service's API, never from the template."""

import json
from pathlib import Path

import click

from cdk_trainyard.cli._deployed import AS_JSON, opened
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE
from cdk_trainyard.cli._progress import working


@click.command("show")
@click.argument("file", type=FILE)
@AS_JSON
def command(file: Path, as_json: bool) -> None:
    """Show what a deployment has made, read back from AWS."""
    of = opened(file)
    from botocore.exceptions import BotoCoreError, ClientError

    from cdk_trainyard.cli import inventory

    try:
        with working("asking for what the stacks hold"):
            found = dict(inventory.sections(of.account, of.deployed))
    except (BotoCoreError, ClientError) as error:
        raise Wrong(str(error)) from None
    if as_json:
        click.echo(json.dumps(inventory.data(found), indent=2))
    elif found:
        click.echo("\n".join(inventory.text(found)).lstrip("\n"))
    else:
        raise Wrong(
            f"nothing of {of.deployment.name} exists in {of.deployment.region}: 'trainyard deploy {file}' makes it"
        )
