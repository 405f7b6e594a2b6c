"""``trainyard events FILE``: what has happened, as one time line, with the first cause of what failed."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cdk_trainyard.cli import _tables
from cdk_trainyard.cli._deployed import AS_JSON, Opened, opened, said, tell_refused
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE
from cdk_trainyard.cli._progress import working

if TYPE_CHECKING:
    from cdk_trainyard.operations import Event, Listing, TimeLine

_MOST: Final = timedelta(days=3650)
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


class Since(click.ParamType[timedelta]):
    """How long ago something was: ``30m``, ``6h``, ``2d``."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read it."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([1-9][0-9]{0,5})([mhd])", str(value))
        length = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None
        if length is None or length > _MOST:
            self.fail(f"{value!r} is not a time like 30m, 6h or 2d, ten years at most", param, ctx)
        return length


SINCE = click.option(
    "--since", type=Since(), default="1d", show_default=True, metavar="TIME", help="How far back: 30m, 6h, 2d."
)


@click.command("events")
@click.argument("file", type=FILE)
@SINCE
@click.option("--all", "everything", is_flag=True, help="Every resource of every stack, too.")
@AS_JSON
def command(file: Path, since: timedelta, everything: bool, as_json: bool) -> None:
    """Show what has happened, and the first cause of what failed.

    Events of CloudFormation, of clusters and groups, and failures in the provisioning logs of nodes, in one time line.
    """
    of = opened(file)
    from cdk_trainyard.operations import TimeLine

    if not of.deployed.stacks:
        _ = of.systems  # refuses: there is nothing
    with working("asking for events"):
        found = _read(of, datetime.now(UTC) - since)
    line = TimeLine.of(event for event in found.rows if everything or not event.is_step)
    if as_json:
        click.echo(said({"cause": [line.cause] if line.cause else [], "events": line.events}, found.refused))
        return
    tell_refused(found.refused)
    if not line.events and found.is_partial:
        raise Wrong(f"AWS did not tell what has happened to {of.deployment.name}")
    if not line.events:
        raise Wrong(f"nothing has happened to {of.deployment.name} since then: --since looks further back")
    click.echo("\n".join(_lines(line)))


def _lines(line: "TimeLine") -> Iterator[str]:
    if line.cause is not None:
        yield f"first cause: {_when(line.cause)} {line.cause.source}, {line.cause.subject}\n  {line.cause.text}\n"
    yield events_table(line.events, _tables.width())


def events_table(events: "Sequence[Event]", columns: int | None) -> str:
    """Return events as a table.

    Args:
        events: The events.
        columns: How many columns of text a line may have; None: any number.
    """
    rows = [(_when(each), "failed" if each.failed else "", each.source, each.subject, each.text) for each in events]
    return _tables.table(("WHEN", "", "SOURCE", "OF", "WHAT"), rows, columns)


def _read(of: Opened, since: datetime) -> "Listing[Event]":
    from cdk_trainyard.operations import Listing, events_of

    found = events_of(of.account, of.deployed, of.known, since)
    return Listing(rows=found.rows, refused=(*of.deployed.refused, *found.refused))


def _when(event: "Event") -> str:
    return event.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
