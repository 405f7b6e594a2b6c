"""``trainyard synth FILE [STACK…]``: CloudFormation templates, with every check."""

import json
from pathlib import Path
from typing import Any

import click

from cdk_trainyard.cli import _cdk
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._folders import make_output
from cdk_trainyard.cli._progress import working
from cdk_trainyard.cli._stacks import refuse_unknown
from cdk_trainyard.cli._warnings import tell_warnings

_STACK = "aws:cloudformation:stack"
_NONE_MATCHES = "No stacks match the name(s)"


@click.command("synth")
@click.argument("file", type=FILE)
@click.argument("stacks", nargs=-1, metavar="[STACK]...")
@click.option("-o", "--output", type=Path, default=Path("cdk.out"), show_default=True, help="The folder to write.")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Show what the cdk CLI says.")
def command(file: Path, stacks: tuple[str, ...], output: Path, as_json: bool, verbose: bool) -> None:
    """Synthesize a deployment, with every check.

    The app is that of the project in this folder (cdk.json), else the one that the package brings.
    """
    synthesize(file, output, stacks or ("*",), verbose=verbose)
    made = written(output)
    if as_json:
        click.echo(json.dumps({"output": str(output), "stacks": made}, indent=2))
        return
    click.echo(f"{output}:")
    for name, stack in made.items():
        click.echo(f"  {name} ({stack['stack_name']}): {stack['template']}")


def synthesize(file: Path, output: Path, stacks: tuple[str, ...] = ("*",), *, verbose: bool = False) -> None:
    """Synthesize stacks of a deployment file, and say what they warn of.

    Args:
        file: The file.
        output: The folder to write.
        stacks: Their ids, or patterns.
        verbose: Whether what the CLI says is shown.

    Raises:
        Wrong: The file or what it describes is refused, or the folder takes no files.
    """
    load(file)
    cdk = _cdk.find()
    make_output(output)
    words = ["synth", *stacks, "--quiet", "--output", str(output), *_cdk.app_words(file)]
    if verbose:
        if cdk.show(*words):
            raise Wrong("cdk synth failed, as shown above")
        return
    with working(f"synthesizing {file}"):
        done = cdk.run(*words)
    if done.code:
        if any(_NONE_MATCHES in line for line in done.lines):
            refuse_unknown(stacks, [*written(output)])
        raise Wrong("\n".join(done.lines))
    tell_warnings(output)


def written(output: Path) -> dict[str, Any]:
    """Return the stacks of a cloud assembly by their ids.

    Args:
        output: Its folder.
    """
    artifacts = json.loads((output / "manifest.json").read_text(encoding="utf-8"))["artifacts"]
    return {
        name: {
            "stack_name": each["properties"].get("stackName", name),
            "environment": each["environment"],
            "template": each["properties"]["templateFile"],
        }
        for name, each in artifacts.items()
        if each["type"] == _STACK
    }
