"""``trainyard check FILE…``: every rule of deployment files, without CDK, Node or AWS."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load, written
from cdk_trainyard.cli._formats import FORMATS, Finding
from cdk_trainyard.monitoring.promql import UNREAD, can_parse

if TYPE_CHECKING:
    from cdk_trainyard.deployment.model import Deployment


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@click.option(
    "--format",
    "form",
    metavar="NAME",
    type=click.Choice([*FORMATS]),
    default="text",
    help="text (the default), github, sarif or json.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
def command(files: tuple[Path, ...], form: str) -> int:
    """Check deployment files: every rule, without CDK, Node or AWS.

    What is wrong is said with file, line and column, all mistakes at once. Where nothing is, what may surprise is
    said as warnings.
    """
    found = [finding for file in files for finding in findings(file)]
    click.echo(FORMATS[form](found), nl=False)
    return 1 if any(each.warning is None for each in found) else 0


def findings(file: Path) -> list[Finding]:
    """Return what is wrong with a deployment file, or what may surprise where nothing is.

    Args:
        file: The file.
    """
    try:
        deployment = load(file)
    except Wrong as wrong:
        return [_finding(file, line) for line in wrong.message.splitlines()]
    if deployment.monitoring and deployment.monitoring.own_alarms and not can_parse():
        click.echo(f"{written(file)}: {UNREAD}", err=True)
    return list(dict.fromkeys(_warnings(file, deployment)))


def _warnings(file: Path, deployment: "Deployment") -> Iterator[Finding]:
    from cdk_trainyard.deployment.warnings import warnings

    for each in warnings(deployment):
        place = deployment.document.place(each.at) if deployment.document else None
        line, column = (place.line, place.column) if place else (None, None)
        yield Finding(file=written(file), line=line, column=column, text=each.text, warning=each.slug)


def _finding(file: Path, line: str) -> Finding:
    """Take a problem apart: ``file:line:column: text``, or ``file: text``."""
    found = re.fullmatch(r"(?::(\d+):(\d+))?: (.*)", line.removeprefix(written(file)))
    place, text = (found.group(1, 2), found[3]) if found else ((None, None), line)
    return Finding(
        file=written(file),
        line=int(place[0]) if place[0] else None,
        column=int(place[1]) if place[1] else None,
        text=text,
    )
