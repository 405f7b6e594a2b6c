"""Progress of what takes longer than a moment: moving on a terminal, a line elsewhere; never on standard output."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def working(text: str) -> Iterator[None]:
    """Say that something goes on until the block ends.

    Args:
        text: What goes on.
    """
    if not sys.stderr.isatty():
        click.echo(text, err=True)
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{text} …", spinner_style="none"):
        yield
