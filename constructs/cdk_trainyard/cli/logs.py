"""``trainyard logs FILE NODE``: what a node logs."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cdk_trainyard.cli._deployed import Opened, chosen, opened, refuse_without_credentials, tell_refused
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE
from cdk_trainyard.cli.events import SINCE

if TYPE_CHECKING:
    from cdk_trainyard.account import Answer
    from cdk_trainyard.operations import Line, Streams

_LATE: Final = timedelta(minutes=2)
"""How much later than its time a line may arrive, and is still told while it is followed."""


@click.command("logs")
@click.argument("file", type=FILE)
@click.argument("names", nargs=-1, required=True, metavar="NODE|GROUP...")
@SINCE
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on, until Ctrl-C.")
@click.option("--every", type=click.FloatRange(0.1), default=3, show_default=True, help="Seconds between two looks.")
def command(file: Path, names: tuple[str, ...], since: timedelta, follow: bool, every: float) -> None:
    """Show what nodes log: their set-up, and what watches their health."""
    of = opened(file)
    streams = _streams(of, names)
    at, seen = datetime.now(UTC) - since, set[str]()
    while True:
        found, refused = _read(of, streams, at)
        lines = [line for line in found if line.id not in seen]
        for line in lines:
            click.echo(f"{line.at.strftime('%Y-%m-%dT%H:%M:%SZ')} {line.stream}  {line.text}")
        seen |= {line.id for line in lines}
        if not follow:
            break
        at = max(at, datetime.now(UTC) - _LATE)
        time.sleep(every)
    if not seen and refused:
        raise Wrong(f"AWS did not tell what {', '.join(names)} logged")
    if not seen:
        raise Wrong("nothing was logged since then: --since looks further back")


def _streams(of: Opened, names: tuple[str, ...]) -> "list[Streams]":
    from cdk_trainyard.operations import Listing

    systems = of.systems
    kinds = {system.kind: system for system in systems}
    found = chosen(of, names, systems)
    listing = Listing.joined(kinds[node.system].streams(node) for node in found.rows)
    tell_refused([*found.refused, *listing.refused])
    return list(listing.rows)


def _read(of: Opened, streams: "list[Streams]", since: datetime) -> "tuple[list[Line], list[Answer]]":
    from cdk_trainyard.operations.logs import read

    lines, refused = read(of.account, streams, since)
    refuse_without_credentials(refused)
    tell_refused(refused)
    return [*lines], [*refused]
