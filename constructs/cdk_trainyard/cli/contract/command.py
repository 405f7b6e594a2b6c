"""``trainyard contract FILE…``: ParallelCluster's own schema, validators and renderer judge what would be deployed.

Its validators run as far as they need no account.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cdk_trainyard.cli._files import FILE, written
from cdk_trainyard.cli._folders import scratch_folder

if TYPE_CHECKING:
    from cdk_trainyard.cli.contract.collect import Found


@click.command("contract")
@click.argument("given", nargs=-1, metavar="FILE...", type=FILE)
@click.option("--install", is_flag=True, help="Make the environment with ParallelCluster's own program first.")
@click.option("--json", "as_json", is_flag=True, help="Say the verdicts as JSON.")
def command(given: tuple[Path, ...], install: bool, as_json: bool) -> int:
    """Ask ParallelCluster's own validators, without an account.

    FILE is a deployment file, or a folder that cdk synth wrote. Exit code 1 when a configuration is refused.
    """
    from cdk_trainyard.cli.contract import ask

    if install:
        ask.install()
    if not given:
        if install:
            return 0
        raise click.UsageError("Missing argument 'FILE...'.")
    files, found, verdicts, skipped = _judged(given)
    if as_json:
        rows = [
            {"file": written(file), "stack": one.stack, "logical_id": one.logical_id, **verdict}
            for file, one, verdict in zip(files, found, verdicts, strict=True)
        ]
        click.echo(json.dumps({"clusters": rows, "not_asked": skipped}, indent=2))
    else:
        for one, verdict in zip(found, verdicts, strict=True):
            click.echo("\n".join(report(one, verdict)))
        click.echo(
            f"not asked, for it takes an account: {', '.join(skipped)}"
            if found
            else "no ParallelCluster configuration in what was given"
        )
    return 1 if any(verdict["errors"] for verdict in verdicts) else 0


def _judged(given: tuple[Path, ...]) -> "tuple[list[Path], list[Found], list[dict[str, Any]], list[str]]":
    from cdk_trainyard.cli.assemblies import load
    from cdk_trainyard.cli.contract.ask import ask

    with scratch_folder() as directory:
        sides = [(one, load(one, directory / str(number))) for number, one in enumerate(given)]
    pairs = [(one, each) for one, side in sides for each in side.clusters]
    if not pairs:
        return [], [], [], []
    found = [each for _, each in pairs]
    answers = ask({"checks": [question(one) for one in found]})
    return [one for one, _ in pairs], found, answers["checks"], answers["skipped"]


def question(one: "Found") -> dict[str, Any]:
    """Return the question about a configuration.

    Args:
        one: The configuration.
    """
    return {"name": one.name, "config": one.config, "subnets": one.subnets, "render": True}


def report(one: "Found", verdict: dict[str, Any]) -> list[str]:
    """Return ParallelCluster's verdict on a configuration, for people.

    Args:
        one: The configuration.
        verdict: The verdict.
    """
    lines = [f"{one.stack}/{one.logical_id} (cluster {one.name}): {'refused' if verdict['errors'] else 'taken'}"]
    lines += [f"  {kind[:-1]}: {line}" for kind in ("errors", "warnings") for line in verdict[kind]]
    if verdict["unknown_instance_types"]:
        lines.append(f"  validators not run: EC2's answers lack {', '.join(verdict['unknown_instance_types'])}")
    if rendered := verdict.get("rendered"):
        lines.append(f"  renders {sum(rendered.values())} resources of {len(rendered)} types")
    return lines
