"""``trainyard doctor FILE``: what the account lacks for a deployment, before it is deployed."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cdk_trainyard.cli import MISSING, _tables
from cdk_trainyard.cli._cdk import NO_CREDENTIALS, bootstrap_qualifier
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._progress import working

if TYPE_CHECKING:
    from cdk_trainyard.doctor import Finding


def _policy(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        from cdk_trainyard.doctor import policy

        click.echo(json.dumps(policy(), indent=2))
        ctx.exit()


@click.command("doctor")
@click.argument("file", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Say it as JSON.")
@click.option(
    "--policy",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_policy,
    help="Show the IAM policy that asking needs, and ask nothing.",
)
def command(file: Path, as_json: bool) -> int:
    """Say what the account lacks for a deployment.

    It reads, and changes nothing. Exit code 1 when something is short, 3 without credentials.
    """
    deployment, qualifier = load(file), bootstrap_qualifier()
    from cdk_trainyard.account import Account
    from cdk_trainyard.doctor import QUALIFIER, Verdict, diagnose

    with working(f"asking AWS what {deployment.name} needs in {deployment.region}") as say:
        answered: list[object] = []

        def heard(answer: object) -> None:
            answered.append(answer)
            say(f"{len(answered)} answers")

        found = diagnose(deployment, Account(deployment.region), heard, qualifier=qualifier or QUALIFIER)
    counts = Counter(finding.verdict for finding in found)
    if as_json:
        click.echo(json.dumps({"findings": [_data(each, deployment.region) for each in found]}, indent=2))
    else:
        click.echo("\n".join(_lines(found, deployment.region)))
        click.echo("\n" + ", ".join(f"{counts[each]} {each}" for each in Verdict if counts[each]))
    if found and found[0].verdict is Verdict.NOT_ASKED:
        click.echo(NO_CREDENTIALS, err=True)
        return MISSING
    return 1 if counts[Verdict.SHORT] else 0


def _lines(found: "Sequence[Finding]", region: str) -> Iterator[str]:
    """Yield what is wrong with the credentials, the table, and what to do, which may be copied line by line."""
    from cdk_trainyard.doctor import Verdict

    for finding in found:
        if finding.check == found[0].check and finding.verdict is not Verdict.OK:
            yield f"{finding.check}: {finding.needed} is needed: {finding.has or finding.verdict}\n"
    rows = [(each.verdict, each.check, each.needed, each.has, str(each.call or ""), each.at) for each in found]
    order = [*Verdict]
    rows.sort(key=lambda row: order.index(row[0]))
    yield _tables.table(("VERDICT", "CHECK", "NEEDED", "THE ACCOUNT HAS", "CALL", "FILE"), rows, _tables.width())
    remedies = [each for each in found if each.remedy]
    if remedies:
        yield f"\nWhat to do in {region}"
    for finding in remedies:
        yield f"\n{finding.verdict}: {finding.needed}\n{finding.remedy}"


def _data(finding: "Finding", region: str) -> dict[str, Any]:
    call = finding.call
    return {
        "check": finding.check,
        "needed": finding.needed,
        "has": finding.has,
        "verdict": finding.verdict,
        "call": str(call) if call else None,
        "permission": call.permission if call else None,
        "command": call.command(region) if call else None,
        "remedy": finding.remedy,
        "at": finding.at,
    }
