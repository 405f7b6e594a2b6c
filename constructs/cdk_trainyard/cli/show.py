"""``trainyard show FILE``: what exists, read back from each service's API, never from the template."""

import json
from pathlib import Path

import click

from cdk_trainyard.cli._cdk import NO_CREDENTIALS
from cdk_trainyard.cli._exits import Missing, Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._progress import working


@click.command("show")
@click.argument("file", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Say it as JSON.")
def command(file: Path, as_json: bool) -> None:
    """Show what a deployment has made, read back from AWS."""
    deployment = load(file)
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

    from cdk_trainyard.cli import inventory

    try:
        if boto3.Session().get_credentials() is None:
            raise Missing(NO_CREDENTIALS)
        with working(f"asking AWS about {deployment.name} in {deployment.region}"):
            found = dict(inventory.sections(deployment.name, deployment.region))
    except (NoCredentialsError, PartialCredentialsError):
        raise Missing(NO_CREDENTIALS) from None
    except ClientError as error:
        refused = error.response["Error"]["Code"] in _NOT_LET_IN
        raise (Missing(f"{error}\n{NO_CREDENTIALS}") if refused else Wrong(str(error))) from None
    except BotoCoreError as error:
        raise Wrong(str(error)) from None
    if as_json:
        click.echo(json.dumps(inventory.data(found), indent=2))
    elif found:
        click.echo("\n".join(inventory.text(found)).lstrip("\n"))
    else:
        raise Wrong(f"nothing of {deployment.name} exists in {deployment.region}: 'trainyard deploy {file}' makes it")


_NOT_LET_IN = {"ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "SignatureDoesNotMatch", "AuthFailure"}
