"""``trainyard init [DIR]``: a project of one's own, that synthesizes at once and is its owner's to change."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._folders import scratch_folder
from cdk_trainyard.cli._new import Choice, beginning, chosen_file, defaults, edited, project_name, shipped
from cdk_trainyard.cli._new_project import write


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What was asked for on the command line."""

    like: str | None
    orchestrator: str | None
    choice: Choice


_BEGIN: Final = [*defaults()]
"""What a project may begin with."""


@click.command("init")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path())
@click.option("--like", metavar="NAME", help="Begin with this shipped deployment; --list names them.")
@click.option("--orchestrator", type=click.Choice(_BEGIN), metavar="NAME", help=f"What runs jobs: {', '.join(_BEGIN)}.")
@click.option("--region", help="The Region.")
@click.option("--zone", help="The zone, by its id.")
@click.option("--instance-type", metavar="TYPE", help="What the nodes are that run jobs.")
@click.option("--count", type=click.IntRange(0), help="How many of them.")
@click.option("--force", is_flag=True, help="Write into a folder that is not empty.")
@click.option("--list", "show_list", is_flag=True, help="Name the shipped deployments.")
def command(
    folder: Path,
    like: str | None,
    orchestrator: str | None,
    region: str | None,
    zone: str | None,
    instance_type: str | None,
    count: int | None,
    force: bool,
    show_list: bool,
) -> None:
    """Begin a project of your own, in DIR or here.

    It is yours to change: app.py, cdk.json, stacks/, deployment.yaml, a requirements file and a test. On a terminal,
    what no option says is asked.
    """
    if show_list:
        for name, file in shipped().items():
            click.echo(f"{name}: {beginning(file)}")
        return
    if folder.exists() and not folder.is_dir():
        raise Wrong(f"{folder}: this is a file; name a folder")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise Wrong(f"{folder} is not empty: name another folder, or write into it with --force")
    choice = Choice(region=region, zone=zone, instance_type=instance_type, count=count)
    asked = _Asked(like=like, orchestrator=orchestrator, choice=choice)
    if like is None and orchestrator is None and choice == Choice() and sys.stdin.isatty():
        asked = _questions()
    base = chosen_file(asked.like, asked.orchestrator)
    text = edited(base, asked.choice, project_name(folder))
    _judge(text)
    try:
        written = write(folder, text)
    except OSError as error:
        raise Wrong(f"{folder} cannot be written: {error.strerror or error}") from None
    for name in written:
        click.echo(str(folder / name))
    within = "" if folder == Path() else f"cd {folder} && "
    click.echo(f"\nnext: {within}trainyard check deployment.yaml && trainyard demo")


def _questions() -> _Asked:
    """Ask for what a deployment begins with; the answers that are offered are those of a shipped file."""
    orchestrator = click.prompt("What runs jobs", type=click.Choice(_BEGIN), default=_BEGIN[0], err=True)
    offered = Choice.of(chosen_file(None, orchestrator))
    instance_type = click.prompt("Instance type of the nodes", default=offered.instance_type, err=True)
    count = click.prompt("How many", type=click.IntRange(0), default=offered.count, err=True)
    region = click.prompt("Region", default=offered.region, err=True)
    zone = click.prompt("Zone (empty: one that has the type)", default="", show_default=False, err=True) or None
    choice = Choice(region=region, zone=zone, instance_type=instance_type, count=count)
    return _Asked(like=None, orchestrator=orchestrator, choice=choice)


def _judge(text: str) -> None:
    """Refuse what was asked for where its deployment file would be wrong; nothing is written then."""
    from cdk_trainyard.deployment.model import Deployment
    from cdk_trainyard.errors import ConfigurationError

    with scratch_folder() as scratch:
        file = scratch / "deployment.yaml"
        file.write_text(text, encoding="utf-8")
        try:
            Deployment.load(file)
        except ConfigurationError as error:
            problems = [problem.replace(f"{scratch}/", "") for problem in error.problems]
            raise Wrong("\n".join([*problems, "nothing was written"])) from None
