"""``trainyard costs FILE``: what a deployment has cost, by Cost Explorer."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cdk_trainyard.cli import _tables
from cdk_trainyard.cli._deployed import Opened, opened, tell_refused
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE
from cdk_trainyard.identifiers import PARALLELCLUSTER_TAG, PARALLELCLUSTER_TYPE, STACK_TAG

if TYPE_CHECKING:
    from cdk_trainyard.operations.costs import Cost

_CENT = Decimal("0.01")


@click.command("costs")
@click.argument("file", type=FILE)
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True, help="How many days, with today.")
@click.option("--tag", metavar="KEY=VALUE", help="A cost allocation tag of yours, instead of CloudFormation's.")
@click.option("--json", "as_json", is_flag=True, help="Say it as JSON.")
def command(file: Path, days: int, tag: str | None, as_json: bool) -> None:
    """Show what a deployment has cost, by service.

    Cost Explorer tells costs apart by tags that are activated for it, and takes 0.01 USD for each request.
    """
    of = opened(file)
    key, values = _tag(of, tag)
    until = datetime.now(UTC).date() + timedelta(days=1)
    from cdk_trainyard.operations.costs import costs_of

    found = costs_of(of.account, key, values, until - timedelta(days=days), until)
    tell_refused(found.refused)
    if not found.rows and found.is_partial:
        raise Wrong(f"AWS did not tell what {of.deployment.name} has cost")
    if not found.rows:
        why = "is it activated under Billing, Cost allocation tags?"
        raise Wrong(f"Cost Explorer tells of no costs with the tag {key} ({', '.join(values)}): {why}")
    total = {"total": str(sum(row.amount for row in found.rows)), "unit": found.rows[0].unit}
    click.echo(json.dumps({"costs": [*map(_data, found.rows)], **total}, indent=2) if as_json else _table(found.rows))


def _tag(of: Opened, tag: str | None) -> tuple[str, list[str]]:
    from cdk_trainyard.operations.costs import stacks_of

    if tag is None:
        for cluster in of.deployed.ids(PARALLELCLUSTER_TYPE):
            theirs = f"{PARALLELCLUSTER_TAG}={cluster}"
            click.echo(f"without the nodes of queues, which bear no stack's tag: --tag {theirs}", err=True)
        return STACK_TAG, stacks_of(of.deployed)
    key, equals, value = tag.partition("=")
    if not (key and equals and value):
        raise click.UsageError(f"--tag: {tag!r} is not KEY=VALUE")
    return key, [value]


def _data(cost: "Cost") -> dict[str, Any]:
    return {"service": cost.service, "amount": str(cost.amount), "unit": cost.unit, "is_estimated": cost.is_estimated}


def _table(rows: "tuple[Cost, ...]") -> str:
    estimated = "estimated: the bill is not closed"
    cells = [
        (row.service, f"{row.amount.quantize(_CENT)} {row.unit}", estimated if row.is_estimated else "") for row in rows
    ]
    whole = sum((row.amount for row in rows), Decimal(0)).quantize(_CENT)
    return _tables.table(("SERVICE", "COST", ""), [*cells, ("total", f"{whole} {rows[0].unit}", "")], _tables.width())
