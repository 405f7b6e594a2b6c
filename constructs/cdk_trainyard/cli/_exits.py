"""How commands end when they do not end well."""

from typing import IO, Any

import click

from cdk_trainyard.cli import MISSING


class Wrong(click.ClickException):
    """Something is wrong with a file, or with what was asked for: exit code 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it."""
        click.echo(self.format_message(), file=file, err=file is None)


class Missing(Wrong):
    """Something that the command needs is not there: exit code 3."""

    exit_code = MISSING
