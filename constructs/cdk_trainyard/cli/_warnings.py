"""What constructs warn of in a cloud assembly: the cdk CLI tells it in words of its own, which change."""

import re
from pathlib import Path
from typing import Final

import click

from cdk_trainyard.assembly_metadata import entries_of

_WARNING: Final = "aws:cdk:warning"
_ID: Final = re.compile(r" \[ack: [^\]]*\]$")


def tell_warnings(assembly: Path) -> None:
    """Say on standard error what constructs warn of, each with its path.

    Args:
        assembly: The folder that the CLI wrote.
    """
    for path, text in entries_of(assembly, _WARNING):
        click.echo(f"warning: {path}: {_ID.sub('', text)}", err=True)
