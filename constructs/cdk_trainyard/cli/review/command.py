"""``trainyard review FILE|cdk.out``: what is synthesized, as one page that a person can judge."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, is_assembly
from cdk_trainyard.cli._folders import make_output, scratch_folder
from cdk_trainyard.cli.synth import synthesize
from cdk_trainyard.errors import ConfigurationError

if TYPE_CHECKING:
    from cdk_trainyard.report import Assembly

_OLD = timedelta(days=90)


@click.command("review")
@click.argument("given", metavar="FILE|CDK.OUT", type=FILE)
@click.option("-o", "--output", type=Path, default=Path("review"), show_default=True, help="The folder to write.")
@click.option("--against", metavar="FILE|CDK.OUT", type=FILE, help="Say what changes from this one.")
@click.option("--prices", metavar="FILE", type=FILE, help="Prices of your own; they go before what is known here.")
@click.option(
    "--markdown",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a short summary for a pull request, too.",
)
@click.option(
    "--fail-on",
    metavar="SEVERITY",
    type=click.Choice(["error", "warning", "info", "never"]),
    default="never",
    help="Exit code 1 for open findings of this severity or worse, and for data that the change would lose.",
)
@click.option(
    "--without",
    type=click.Choice(["cfn-lint", "checkov"]),
    metavar="PROGRAM",
    multiple=True,
    help="Do not ask cfn-lint, or checkov; may be given again. Default: each that is installed is asked.",
)
def command(
    given: Path,
    output: Path,
    against: Path | None,
    prices: Path | None,
    markdown: Path | None,
    fail_on: str,
    without: tuple[str, ...],
) -> int:
    """Write what is synthesized as a page to judge.

    It opens from disk and asks nothing of anybody; the same stands beside it as data. FILE is a deployment file, which
    is synthesized first, or a CloudFormation template in JSON or YAML; CDK.OUT is a folder that cdk synth wrote, of any
    app.
    """
    words = f"trainyard review {given}" + (f" --against {against}" if against else "")
    with scratch_folder() as directory:
        old = read(against, directory / "old") if against else None
        new = read(given, directory / "new")
        make_output(output)
        if markdown is not None:
            make_output(markdown.parent, "--markdown")
        try:
            found = _written(new, old, output, without, title=_title(given), prices=_prices(prices), command=words)
        except ConfigurationError as error:
            raise _wrong(error) from None
    _say(found)
    if markdown is not None:
        from cdk_trainyard.report.sarif import as_markdown

        markdown.write_text(as_markdown(found), encoding="utf-8")
    click.echo(f"{output / 'review.html'}")
    return 1 if fail_on != "never" and _is_bad(found, fail_on) else 0


def _written(
    new: "Assembly", old: "Assembly | None", output: Path, without: Sequence[str], **about: Any
) -> dict[str, Any]:
    """Write the review, with what every program says that is there to be asked."""
    from cdk_trainyard.cli.review.linters import asked
    from cdk_trainyard.cli.review.updates import ASKED, updates
    from cdk_trainyard.report import write_review

    answers = asked(new, without)
    rows, silent = updates(old, new) if old else ([], "")
    return write_review(
        new,
        output,
        against=old,
        findings=[finding for answer in answers for finding in answer.findings],
        tools=[answer.tool for answer in answers if not answer.failure],
        updates=rows,
        not_run={answer.tool: answer.failure for answer in answers if answer.failure}
        | ({ASKED: silent} if silent else {}),
        **about,
    )


def _say(found: Mapping[str, Any]) -> None:
    """Say what the page begins with."""
    click.echo(found["verdict"]["sentence"])
    click.echo(found["cost"]["sentence"])
    if _is_old(found["cost"]["date"]):
        click.echo(f"Prices are of {found['cost']['date']}; 'trainyard prices refresh REGION' asks AWS for today's.")
    if found["change"]:
        click.echo(found["change"]["sentence"])


def _is_old(day: str) -> bool:
    return bool(day) and datetime.now(UTC).date() - date.fromisoformat(day) > _OLD


def _prices(own: Path | None) -> list[Path]:
    """Return the files of prices: the user's own, then what ``trainyard prices refresh`` keeps."""
    from cdk_trainyard.cli.prices.command import kept_prices

    return [each for each in (own, kept_prices()) if each is not None and (each == own or each.is_file())]


def _is_bad(found: dict[str, Any], fail_on: str) -> bool:
    from cdk_trainyard.report.findings import SEVERITIES

    bad = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    is_lost = any(row["effect"] in {"lost", "refused"} for row in (found["change"] or {"rows": []})["rows"])
    return is_lost or any(found["verdict"]["open"].get(each) for each in bad)


def read(given: Path, workspace: Path) -> "Assembly":
    """Return what is synthesized.

    Args:
        given: A ``cdk.out`` folder, a template, or a deployment file.
        workspace: Where a deployment file is synthesized.

    Raises:
        Wrong: It is none of them.
    """
    from cdk_trainyard.report import read_assembly

    path = given
    if not is_assembly(given) and not _is_template(given):
        path = workspace / "cdk.out"
        try:
            synthesize(given, path)
        except Wrong:
            if not (path / "validation-report.json").is_file():
                raise  # what the checks refuse is what a review shows
    try:
        return read_assembly(path)
    except ConfigurationError as error:
        raise _wrong(error) from None


def _wrong(error: ConfigurationError) -> Wrong:
    return Wrong("\n".join(f"{error.path}: {problem}" for problem in error.problems))


def _is_template(given: Path) -> bool:
    """Whether a file is meant to be a template: what else it could be is a deployment file, which has no resources."""
    from cdk_trainyard.report.formats import is_template

    try:
        return given.is_file() and is_template(given)
    except PermissionError:  # who reads it as a deployment file says so
        return False


def _title(given: Path) -> str:
    return given.resolve().name.removesuffix(".template.json").removesuffix(given.suffix) if given.is_file() else ""
