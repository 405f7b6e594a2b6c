"""What a deployment file names as existing at AWS: found in its text, and made up for an AWS on this machine."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from cdk_trainyard.deployment._document import read_document
from cdk_trainyard.deployment._load import read_text
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.environment import ACCOUNT
from cdk_trainyard.local.strings import strings


def content(deployment: Path) -> Mapping[str, Any]:
    """Return what a deployment file says; nothing when it cannot be read, which the app says in the first command.

    Args:
        deployment: The file.
    """
    try:
        return read_document(read_text(deployment), str(deployment)).data
    except ConfigurationError:
        return {}


def arns(value: Any) -> Iterator[str]:
    """Yield every ARN in a deployment file."""
    return (text for text in strings(value) if text.startswith("arn:"))


def key_pairs(value: Any) -> Iterator[str]:
    """Yield the name of every SSH key pair in a deployment file."""
    if isinstance(value, Mapping):
        yield from (str(inner) for key, inner in value.items() if key == "key_pair")
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from key_pairs(inner)


def account_of(file: Mapping[str, Any], named: list[str]) -> str:
    """Return the account that the deployment is for, as far as the file tells: its own words, or else its ARNs.

    Args:
        file: What the file says.
        named: The ARNs in it.
    """
    numbers = [str(file["account"])] if "account" in file else [arn.split(":")[4] for arn in named]
    return next(filter(None, numbers), ACCOUNT)


def make_existing(aws: LocalAws, named: list[str], *, quiet: bool = False) -> None:
    """Make up what the deployment names as existing; say what cannot be.

    Args:
        aws: Where.
        named: The ARNs.
        quiet: Whether nothing goes to standard output.
    """
    click.echo("\n== Making up what exists already", err=quiet)
    for arn in named:
        try:
            aws.add_existing(arn)
            click.echo(arn, err=quiet)
        except ValueError as problem:
            click.echo(f"not made up: {problem}", err=quiet)
