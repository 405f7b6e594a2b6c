"""``trainyard rehearse FILE``: nodes with real systemd and real Slurm on this machine, and commands for them."""

import os
from pathlib import Path
from typing import Any, Final

import click

from cdk_trainyard.cli import MISSING, _cdk
from cdk_trainyard.cli._files import FILE, load

_UNAVAILABLE: Final = 69
"""What the rehearsal says where a machine cannot boot nodes."""
_FOR_PROGRAMS: Final = ("nodes", "check")
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Say it as JSON.")
_WHICH = click.option("--rehearsal", type=int, metavar="PID", help="Which one, when several run.")


class _WithDefault(click.Group):
    """A group whose command ``run`` may be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``run`` before a file."""
        first = next((word for word in args if not word.startswith("-")), None)
        if first is not None and first not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group("rehearse", cls=_WithDefault)
def command() -> None:
    """Run a deployment's real scripts on nodes with real Slurm, here.

    'trainyard rehearse FILE' is 'trainyard rehearse run FILE'. Nodes boot for root on Debian; elsewhere the job alone
    is rehearsed.
    """


@command.command("run")
@click.argument("file", type=FILE)
@click.option("--max-nodes", type=click.IntRange(1), metavar="N", help="Boot at most N nodes (8; of a fleet 3).")
@click.option("--scripts", type=click.Path(path_type=Path), metavar="DIR", help="Rehearse this folder of scripts.")
@click.option("--auto-resume", is_flag=True, help="srun offers --auto-resume, from a stand-in.")
@click.option("--asked", type=click.Path(path_type=Path), metavar="FILE", help="Write what nodes asked for, as JSON.")
@click.option("--json", is_flag=True, help="Say the report as JSON; progress goes to standard error.")
@click.option("--no-job", is_flag=True, help="End when every node is idle in Slurm.")
@click.option("--keep", is_flag=True, help="Keep the nodes until Ctrl-C, for the other commands.")
@_WHICH
def _run(file: Path, **options: Any) -> int:
    """Rehearse a deployment file."""
    load(file)
    cdk = _cdk.find()
    os.environ.update(cdk.own)
    os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], str(Path(cdk.program).parent)])
    if not Path("cdk.json").is_file():
        os.environ |= {"CDK_APP": _cdk.own_app(), "CDK_VERSION_REPORTING": "false"}
    words = ["run", str(file)]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        words += [flag] if value is True else [f"{flag}={value}"] if value not in (None, False) else []
    return _main(*words)


def _add(name: str, text: str, *arguments: str) -> None:
    def act(rehearsal: int | None, as_json: bool = False, **words: str) -> int:
        chosen = ["--json"] * as_json + ([f"--rehearsal={rehearsal}"] if rehearsal else [])
        return _main(name, *(words[argument] for argument in arguments), *chosen)

    made = _AS_JSON(_WHICH(act)) if name in _FOR_PROGRAMS else _WHICH(act)
    for argument in reversed(arguments):
        made = click.argument(argument, metavar=argument.upper())(made)
    command.command(name, help=text)(made)


for _name, _text, *_arguments in (
    ("shell", "Open a shell on a node.", "node"),
    ("logs", "Show what the scripts of a node wrote.", "node"),
    ("crash", "Cut a node's power.", "node"),
    ("replace", "Replace a node by a new instance.", "node"),
    ("scale", "Change the number of nodes in a group.", "group", "n"),
    ("nodes", "List the nodes of the rehearsal that runs."),
    ("environment", "Print what another terminal sets to reach it."),
    ("down", "End every rehearsal, and remove what others left."),
    ("build-image", "Build the node image and the job's Python environment."),
    ("install", "Install the packages that this machine lacks, with its own apt."),
    ("check", "Say what this machine lacks."),
):
    _add(_name, _text, *_arguments)


def _main(*words: str) -> int:
    from cdk_trainyard.rehearsal.__main__ import main

    code = main(words)
    return MISSING if code == _UNAVAILABLE else code
