"""Progress of what takes longer than a moment: moving on a terminal, a line elsewhere; never on standard output."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console


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
    with drawing() as console, console.status(f"{text} …", spinner_style="none") as status:
        yield lambda far: status.update(f"{text}: {far} …")


@contextmanager
def drawing() -> Iterator["Console"]:
    """Yield a console on standard error; no thread that draws there is left when the block has ended.

    One that still wrote when the interpreter ends would abort it, and rich does not wait for its own.
    """
    import threading

    from rich.console import Console

    before = {*threading.enumerate()}
    try:
        yield Console(stderr=True)
    finally:
        for thread in {*threading.enumerate()} - before:
            if type(thread).__module__.startswith("rich."):
                thread.join()
