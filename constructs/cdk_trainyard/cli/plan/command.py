"""``trainyard plan OLD NEW``: what an update would do, before it is deployed.

One table for ParallelClusters (by ParallelCluster's own update policies, in its own environment), HyperPod clusters,
storage and everything else (by CloudFormation's provider schemas).
"""

import json
import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdk_trainyard.cli import MISSING
from cdk_trainyard.cli._exits import Missing
from cdk_trainyard.cli._files import FILE
from cdk_trainyard.cli._folders import scratch_folder
from cdk_trainyard.cli.plan.rows import ordered, table
from cdk_trainyard.report.updates import Effect, PlanRow

if TYPE_CHECKING:
    from cdk_trainyard.cli.assemblies import Side


@click.command("plan")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Say the changes as JSON.")
def command(old: Path, new: Path, as_json: bool) -> int:
    """Say what a change does to data and clusters.

    OLD and NEW are deployment files, or folders that cdk synth wrote. Exit code 1 when data or a cluster would be
    lost, or when the update would be refused; 3 when a ParallelCluster cannot be compared.
    """
    rows = planned(old, new)
    worst = max((row.effect for row in rows), default=Effect.FREE)
    if as_json:
        click.echo(json.dumps({"worst": worst.name.lower(), "changes": [*map(_data, ordered(rows))]}, indent=2))
    else:
        click.echo(shown(rows))
        if worst >= Effect.UNKNOWN:
            click.echo(f"\n{_end(worst, {row.effect for row in rows})}")
    if worst >= Effect.REFUSED:
        return 1
    return MISSING if worst is Effect.UNKNOWN else 0


def _end(worst: Effect, effects: Collection[Effect]) -> str:
    lost = "data or a cluster would be lost"
    if worst is Effect.LOST:
        return f"the update would be refused; once it goes through, {lost}" if Effect.REFUSED in effects else lost
    rest = "a cluster was not compared" if Effect.UNKNOWN in effects else "nothing would be lost"
    return f"the update would be refused; {rest}" if worst is Effect.REFUSED else rest


def planned(old: Path, new: Path) -> list[PlanRow]:
    """Return what a change does.

    Args:
        old: A deployment file, or a folder that cdk synth wrote.
        new: The same of after the change.

    Raises:
        Wrong: One of them is neither, or is refused.
    """
    from cdk_trainyard.cli.assemblies import load
    from cdk_trainyard.cli.plan.stacks import plan_stacks
    from cdk_trainyard.report.updates import plan_templates

    with scratch_folder() as directory:
        before, after = (load(given, directory / side) for side, given in (("old", old), ("new", new)))
    rows, before, after = plan_stacks(before, after)
    whole = {row.where for row in rows}  # stacks of which there is no more to say
    return [
        *rows,
        *_of_clusters(before, after),
        *(row for row in plan_templates(before.stacks, after.stacks) if row.where.partition("/")[0] not in whole),
    ]


def _of_clusters(before: "Side", after: "Side") -> list[PlanRow]:
    """Return what happens to ParallelClusters, or that those that change were not compared."""
    from cdk_trainyard.cli.plan.parallelclusters import plan_clusters, uncompared

    try:
        return [*plan_clusters(before, after)]
    except Missing as error:
        return [*uncompared(before, after, error.message)]


def shown(rows: Sequence[PlanRow]) -> str:
    """Return changes as people read them.

    Args:
        rows: The changes.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return table(rows, width) if rows else "nothing changes"


def _data(row: PlanRow) -> dict[str, str]:
    return {"where": row.where, "what": row.what, "effect": row.effect.name.lower(), "remedy": row.remedy}
