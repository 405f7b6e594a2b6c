"""Progress of what takes longer than a moment: moving on a terminal, a line elsewhere; never on standard output."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """Say that something goes on until the block ends.

    Args:
        text: What goes on.

    Yields:
        A function that says how far it is, on a terminal.
    """
    if not sys.stderr.isatty():
        click.echo(text, err=True)
        yield lambda _far: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{text} …", spinner_style="none") as status:
        yield lambda far: status.update(f"{text}: {far} …")
