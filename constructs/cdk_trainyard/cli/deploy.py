"""``trainyard deploy FILE [STACK…]``: one line for each stack, then what exists and how to connect."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from cdk_trainyard.cli import _cdk
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._folders import scratch_folder
from cdk_trainyard.cli._stacks import app_with, listening, synthesized
from cdk_trainyard.cli._warnings import tell_warnings

_CONNECT: Final = ("ConnectCommand", "SshCommand", "NodesCommand", "ResumeCommand", "CompileCommand", "CallWithCurl")
"""The outputs of stacks that are commands."""
_NOT_SHOWN: Final = ("Exports", "Quotas", "Prerequisites")
"""How the names of outputs begin that are for other stacks, and for before a deployment; ``--json`` has them."""


@click.command("deploy")
@click.argument("file", type=FILE)
@click.argument("stacks", nargs=-1, metavar="[STACK]...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before permissions and networks change.")
@click.option("--json", "as_json", is_flag=True, help="Say the outputs of the stacks as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Show what the cdk CLI says: every event.")
def command(file: Path, stacks: tuple[str, ...], yes: bool, as_json: bool, verbose: bool) -> None:
    """Deploy to the AWS account of your credentials.

    Without STACK every stack; with it, that stack and those that it stands on.
    """
    load(file)
    if not yes:
        require_somebody(f"deploy {file}")
    cdk = _cdk.find()
    with app_with(stacks, cdk, *_cdk.app_words(file)) as app:
        if not yes:
            ask(cdk, f"deploy {file}", *(stacks or ("*",)), *app)
        # what was asked about is what is deployed
        deployed(file, stacks, app=app if yes else synthesized(app), as_json=as_json, verbose=verbose)


def deployed(file: Path, stacks: Sequence[str], *, app: Sequence[str] = (), as_json: bool, verbose: bool) -> None:
    """Deploy, without a question, and say what it warns of, and what exists then.

    Args:
        file: The deployment file.
        stacks: Stacks. None of them: every stack.
        app: The CLI's words for the app, the folder of what is synthesized last. Default: those of the file.
        as_json: Whether the outputs are said as JSON.
        verbose: Whether what the CLI says is shown.

    Raises:
        Wrong: It failed; with what failed.
    """
    cdk, chosen = _cdk.find(), stacks or ("--all",)
    with scratch_folder() as folder:
        kept = folder / "outputs.json"
        app = app or (*_cdk.app_words(file), "--output", str(folder / "assembly"))
        words = [
            "deploy",
            *chosen,
            *app,
            "--require-approval",
            "never",
            "--outputs-file",
            str(kept),
        ]
        tell(cdk, *words, verbose=verbose, quiet=as_json, resume=f"trainyard deploy {file}")
        if not verbose:  # else the CLI has shown them
            tell_warnings(Path(app[-1]))
        outputs = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    click.echo(json.dumps(outputs, indent=2) if as_json else "\n".join(report(outputs)))


def require_somebody(what: str) -> None:
    """Refuse a question that nobody would hear.

    Args:
        what: What is asked for.

    Raises:
        UsageError: There is nobody to ask.
    """
    if not sys.stdin.isatty():
        raise click.UsageError(f"{what} changes permissions, and there is nobody to ask: add --yes")


def ask(cdk: _cdk.Cdk, what: str, *words: str) -> None:
    """Show what changes of permissions and networks, and ask whether to go on.

    Args:
        cdk: The CLI.
        what: What is asked for.
        words: Stacks and app.

    Raises:
        Wrong: The answer is no.
    """
    if cdk.show("diff", "--security-only", *words):
        raise Wrong("cdk diff failed, as shown above")
    if not click.confirm(f"{what}?", err=True):
        raise Wrong("nothing was changed")


def tell(cdk: _cdk.Cdk, *words: str, verbose: bool, quiet: bool, resume: str) -> None:
    """Run the CLI, and tell a line for each stack, or what the CLI says.

    Args:
        cdk: The CLI.
        words: Its arguments.
        verbose: Whether what the CLI says is shown.
        quiet: Whether nothing goes to standard output.
        resume: The command that goes on where an interrupt stopped.

    Raises:
        Wrong: It failed; with what failed.
    """
    try:
        if verbose and not quiet:
            if cdk.show(*words):
                raise Wrong(f"cdk {words[0]} failed, as shown above")
            return
        with listening() as stacks:

            def hear(line: str) -> None:
                stacks.hear(line)
                if verbose:
                    click.echo(line, err=True)

            done = cdk.run(*words, "--progress", "events", tell=hear)
    except KeyboardInterrupt:
        click.echo(
            f"\nNothing runs here any more. What CloudFormation was told to do goes on at AWS: {resume} goes on from "
            "there, and the CloudFormation console shows it.",
            err=True,
        )
        raise
    if done.code:
        said = stacks.failures or [line for line in done.lines if line.strip()][-20:]
        raise Wrong("\n".join([*said, f"cdk {words[0]} failed; --verbose shows everything"]))


def report(outputs: dict[str, dict[str, Any]]) -> list[str]:
    """Return what people read when stacks are there: their outputs, and how to connect.

    Args:
        outputs: Stack to name to value.
    """
    lines: list[str] = []
    connect: list[str] = []
    for stack, values in outputs.items():
        lines.append(f"\n{stack}")
        for name, value in values.items():
            if not name.startswith(_NOT_SHOWN):
                (connect if name in _CONNECT else lines).append(f"  {name}: {value}")
    return [*lines, *(["\nHow to connect", *connect] if connect else [])]
