"""The group of commands: a table of names, each imported when it is asked for."""

import errno
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import click

from cdk_trainyard.cli import INTERRUPTED
from cdk_trainyard.cli._extras import guarded


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A command.

    Attributes:
        module: Where it is, below this package; the object has the command's name.
        help: What it does, in one line.
        extras: The extras that it needs, in words.
    """

    module: str
    help: str
    extras: str = ""


COMMANDS: Final = {
    "init": Row(module="init", help="Begin a project of your own, in DIR or here.", extras="file"),
    "check": Row(module="check", help="Check deployment files: every rule, without CDK, Node or AWS.", extras="file"),
    "doctor": Row(module="doctor", help="Say what the account lacks for a deployment.", extras="file aws"),
    "synth": Row(module="synth", help="Synthesize a deployment, with every check.", extras="cli review"),
    "diff": Row(module="diff", help="Compare a deployment with what is deployed.", extras="cli review"),
    "deploy": Row(module="deploy", help="Deploy to the AWS account of your credentials.", extras="cli review"),
    "destroy": Row(
        module="destroy", help="Destroy stacks of a deployment; what holds data stays.", extras="cli review"
    ),
    "plan": Row(module="plan.command", help="Say what a change does to data and clusters.", extras="cli review"),
    "review": Row(module="review.command", help="Write what is synthesized as a page to judge.", extras="cli review"),
    "prices": Row(module="prices.command", help="Ask AWS for its prices, for reviews.", extras="local"),
    "dashboards": Row(
        module="dashboards", help="Write dashboards of Grafana on the metrics of clusters.", extras="dashboards"
    ),
    "show": Row(module="show", help="Show what a deployment has made, read back from AWS.", extras="cli aws"),
    "status": Row(
        module="status",
        help="Show how a deployment is: stacks, groups, file systems, alarms, last events.",
        extras="cli aws",
    ),
    "nodes": Row(module="nodes", help="Show the nodes of a deployment, whatever runs them.", extras="cli aws"),
    "connect": Row(module="connect", help="Open a session on a node, without typing ids.", extras="cli aws"),
    "ssh-config": Row(module="ssh_config", help="Let ssh reach the nodes of a deployment, by name.", extras="cli aws"),
    "exec": Row(module="exec", help="Run a command on every node of a group, side by side.", extras="cli aws"),
    "submit": Row(module="submit", help="Copy a job to the cluster, and submit it to Slurm.", extras="cli aws"),
    "scale": Row(module="scale", help="Give a group another number of nodes.", extras="cli aws review"),
    "events": Row(
        module="events", help="Show what has happened, and the first cause of what failed.", extras="cli aws"
    ),
    "logs": Row(
        module="logs", help="Show what nodes log: their set-up, and what watches their health.", extras="cli aws"
    ),
    "costs": Row(module="costs", help="Show what a deployment has cost, by service.", extras="cli aws"),
    "reboot": Row(module="reboot", help="Reboot nodes.", extras="cli aws"),
    "replace": Row(module="replace", help="Put other machines in the place of nodes.", extras="cli aws"),
    "update-image": Row(module="update_image", help="Give the nodes of groups the newest image.", extras="cli aws"),
    "demo": Row(
        module="demo", help="Deploy to an AWS on this machine, and show what exists.", extras="cli local review"
    ),
    "rehearse": Row(
        module="rehearse",
        help="Run a deployment's real scripts on nodes with real Slurm, here.",
        extras="rehearsal",
    ),
    "contract": Row(
        module="contract.command",
        help="Ask ParallelCluster's own validators, without an account.",
        extras="cli review",
    ),
    "local": Row(module="local", help="An AWS on 127.0.0.1 for the real cdk CLI.", extras="local"),
}
"""Name to command, in the order of the help."""

_OBJECT: Final = "command"
_NOBODY_READS: Final = frozenset({errno.EPIPE, errno.EIO})
"""What writing to a pipe, and to a terminal, is answered when it has been closed."""
_NARROW: Final = 52


class Commands(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        row = COMMANDS.get(cmd_name)
        if row is None:
            return None
        command: click.Command = getattr(import_module(f"{__package__}.{row.module}"), _OBJECT)
        return guarded(command, cmd_name, row.extras)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and what they do, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.help) for name, row in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; a name that nobody knows is answered with those like it."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        import cdk_trainyard

        click.echo(f"trainyard {cdk_trainyard.__version__}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 right, 1 something is wrong with the file or with what was asked for, 2 the command line is "
    "wrong, 3 something that is needed is missing (an extra, Node, cdk, credentials), 130 interrupted.",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def trainyard() -> None:
    """Machines that train and serve large models, from one deployment file."""


def _width() -> int | None:
    """Return the width of help on a narrow terminal, for which click has none; None elsewhere."""
    columns = shutil.get_terminal_size().columns
    return columns - 2 if columns < _NARROW else None


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: What stands after ``trainyard``.
    """
    try:
        code: Any = trainyard.main(
            list(arguments), prog_name="trainyard", standalone_mode=False, terminal_width=_width()
        )
    except click.Abort:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        if error.errno not in _NOBODY_READS or error.filename:
            raise
        # nobody reads any more: what is left to write is dropped, or the interpreter would fail when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code if isinstance(code, int) else 0
