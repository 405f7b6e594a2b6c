"""``trainyard scale FILE GROUP N``: another number of nodes, in the file and then in the account."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from cdk_trainyard.cli._deployed import Opened, opened, tell_refused
from cdk_trainyard.cli._exits import Missing, Wrong
from cdk_trainyard.cli._files import FILE, load, said
from cdk_trainyard.errors import ConfigurationError


@click.command("scale")
@click.argument("file", type=FILE)
@click.argument("group", metavar="GROUP")
@click.argument("count", type=click.IntRange(0), metavar="N")
@click.option("--min", "least", type=click.IntRange(0), metavar="N", help="Always so many nodes; of a queue.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-v", "--verbose", is_flag=True, help="Show what the cdk CLI says: every event.")
def command(file: Path, group: str, count: int, least: int | None, yes: bool, verbose: bool) -> None:
    """Give a group another number of nodes.

    The number is changed in the file, and nothing else of it; the plan is shown, and the file deployed. What a rule or
    the plan refuses leaves the file as it was. GROUP of a fleet is worker; of ParallelCluster it is a queue, and N its
    most nodes.
    """
    deployment = load(file)
    from cdk_trainyard.cli import deploy
    from cdk_trainyard.cli.plan.command import planned, shown
    from cdk_trainyard.deployment.resizing import resized
    from cdk_trainyard.report.updates import Effect

    text = file.read_bytes().decode()
    try:
        changed, before = resized(text, str(file), deployment, group, count, least)
    except ConfigurationError as error:
        raise Wrong("\n".join(said(file, problem) for problem in error.problems)) from None
    if changed == text:
        click.echo(f"{file}: {group} has {count} nodes already")
        return
    if not yes and not sys.stdin.isatty():
        raise click.UsageError(f"scale {group} to {count} deploys {file}, and there is nobody to ask: add --yes")
    with _beside(file, changed) as candidate:
        _judge(file, candidate)
        _warn(opened(file), group, before, count)
        rows = planned(file, candidate)
        click.echo(shown(rows))
        worst = max((row.effect for row in rows), default=Effect.FREE)
        if worst is Effect.UNKNOWN:
            raise Missing(f"{file}: it is as it was: nobody can say what the change does to a cluster")
        if worst >= Effect.REFUSED:
            raise Wrong(f"{file}: it is as it was: the plan refuses the change, or loses what is there")
        if not yes and not click.confirm(
            f"change {group} from {before} to {count} nodes, and deploy {file}?", err=True
        ):
            raise Wrong("nothing was changed")
        candidate.replace(file.resolve())
    click.echo(f"{file}: {group} has {count} nodes, and had {before}; it is deployed now", err=True)
    deploy.deployed(file, (), as_json=False, verbose=verbose)


@contextmanager
def _beside(file: Path, text: str) -> Iterator[Path]:
    """Write a file beside another, where the folders that it names are, and leave nothing of it."""
    place = file.resolve()
    with NamedTemporaryFile(
        "wb", dir=place.parent, prefix=f".{place.stem}.", suffix=place.suffix, delete=False
    ) as written:
        written.write(text.encode())
    candidate = Path(written.name)
    try:
        candidate.chmod(place.stat().st_mode & 0o777)
        yield candidate
    finally:
        candidate.unlink(missing_ok=True)


def _judge(file: Path, candidate: Path) -> None:
    try:
        load(candidate)
    except Wrong as error:
        raise Wrong(f"{error.message.replace(str(candidate), str(file))}\n{file} is as it was") from None


def _warn(of: Opened, group: str, before: int, count: int) -> None:
    """Say what the account has beside the file, which deploying changes as well; refuse while somebody deploys."""
    from cdk_trainyard.operations import Listing

    if not of.deployed.stacks:
        return
    if changing := [f"{stack.name} is {stack.status}" for stack in of.deployed.stacks.values() if stack.changes]:
        raise Wrong(f"{of.file} is as it was: {', '.join(changing)}: somebody deploys it at the moment")
    conditions = Listing.joined(system.status() for system in of.systems)
    tell_refused(conditions.refused)
    found = next((row for each in conditions.rows for row in each.groups if row.name == group), None)
    wanted = found.wanted if found else None
    if wanted is None and found and found.present > before:  # Slurm says how many there are, between two numbers
        wanted = found.present
    if wanted not in {None, before}:
        click.echo(
            f"{group} wants {wanted} nodes in the account and {before} in {of.file}: somebody has scaled it beside the "
            f"file; deploying makes them {count}",
            err=True,
        )
    if count < (wanted if wanted is not None else before):
        click.echo(f"which nodes of {group} go, AWS chooses: jobs on them end", err=True)
