"""``trainyard status FILE``: how a deployment is."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cdk_trainyard.cli import _tables
from cdk_trainyard.cli._deployed import AS_JSON, Opened, opened, said, tell_refused
from cdk_trainyard.cli._files import FILE
from cdk_trainyard.cli.events import events_table

if TYPE_CHECKING:
    from cdk_trainyard.operations import Condition, Status


SINCE: Final = timedelta(days=1)
"""How far back the last events are looked for."""


@click.command("status")
@click.argument("file", type=FILE)
@AS_JSON
@click.option("--watch", is_flag=True, help="Say it again whenever it has changed, until Ctrl-C.")
@click.option("--every", type=click.FloatRange(1), default=30, show_default=True, help="Seconds between two looks.")
def command(file: Path, as_json: bool, watch: bool, every: float) -> None:
    """Show how a deployment is: stacks, groups, file systems, alarms, last events."""
    shown = ""
    while True:
        status = _read(opened(file))
        text = _json(status) if as_json else "\n".join(_lines(status))
        if text != shown:
            click.echo(f"\n{text}" if shown else text)
            tell_refused(() if as_json else status.refused)
            shown = text
        if not watch:
            return
        time.sleep(every)


def _read(of: Opened) -> "Status":
    from cdk_trainyard.operations import Status

    return Status.read(
        of.account, of.deployed, of.known if of.deployed.stacks else of.systems, datetime.now(UTC) - SINCE
    )


def _json(status: "Status") -> str:
    rows = {name: getattr(status, name) for name in ("stacks", "conditions", "file_systems", "alarms", "events")}
    return said(rows, status.refused)


def _lines(status: "Status") -> Iterator[str]:
    columns = _tables.width()
    stacks = [(stack.name, stack.status, stack.reason) for stack in status.stacks]
    yield _tables.table(("STACK", "STATE", "WHY"), stacks, columns)
    for condition in status.conditions:
        yield f"\n{condition.kind} {condition.name}: {condition.state}"
        if condition.failure:
            yield f"  {condition.failure}"
        if condition.groups:
            yield _tables.table(("GROUP", "NODES", "TYPE", "STATE"), [*_groups(condition)], columns)
    if status.file_systems:
        systems = [(row.id, row.kind, f"{row.size_gib} GiB", row.state, row.failure) for row in status.file_systems]
        yield "\n" + _tables.table(("FILE SYSTEM", "KIND", "SIZE", "STATE", "WHY"), systems, columns)
    if status.alarms:
        alarms = [(row.name, row.state, row.reason) for row in status.alarms]
        yield "\n" + _tables.table(("ALARM", "STATE", "WHY"), alarms, columns)
    if status.events:
        yield "\n" + events_table(status.events, columns)


def _groups(condition: "Condition") -> Iterator[tuple[str, ...]]:
    for group in condition.groups:
        nodes = str(group.present) if group.wanted is None else f"{group.present} of {group.wanted}"
        yield group.name, nodes, group.type, group.state
