"""``trainyard demo [FILE]``: the real cdk CLI deploys to an AWS on this machine, and what exists then is shown.

What the file names by its ARN exists already at AWS: a certificate, a secret, a key; so do an SSH key pair, and a
network that it names by its ids. Here they are made up first.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cdk_trainyard.cli import _cdk
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._folders import scratch_folder
from cdk_trainyard.cli._progress import working
from cdk_trainyard.cli._stacks import listed, refuse_unknown
from cdk_trainyard.project import project_folder

if TYPE_CHECKING:
    from cdk_trainyard.local import LocalAws

LIMITS = """
== What this does not prove
Stacks, change sets and every resource above were made through the services' own APIs, on 127.0.0.1. No account was
touched. Whether AWS has the capacity and you the quota, how long nodes take, and whether EFA, Neuron devices and GPUs
work on them: only an account can show that. Nothing has run on a node; what nodes may call, `trainyard rehearse` shows.

== With an account
{before}trainyard deploy {deployment} {stack}"""
YOURS = "First let the file name yours instead of what was made up above: {named}.\n"


@click.command("demo")
@click.argument("file", type=FILE, required=False)
@click.option(
    "--stack",
    "stacks",
    multiple=True,
    default=["TrainingStack"],
    show_default=True,
    help="The stack, with those that it stands on; given again: further ones.",
)
@click.option("--json", "as_json", is_flag=True, help="Say what exists as JSON; progress goes to standard error.")
def command(file: Path | None, stacks: tuple[str, ...], as_json: bool) -> None:
    """Deploy to an AWS on this machine, and show what exists.

    Without FILE: deployment.yaml here, else a small cluster that the package brings. A stack that fails leaves the
    others deployed; it is named at the end.
    """
    file = file or default_file()
    load(file)
    with deployed(file, *stacks, quiet=as_json) as made:
        os.environ.update(made.aws.environment)
        from cdk_trainyard.account import Account
        from cdk_trainyard.cli import inventory
        from cdk_trainyard.operations import Deployed as Stacks

        account = Account(made.aws.region)
        found = dict(inventory.sections(account, Stacks.read(account, made.file["name"])))
        if as_json:
            click.echo(json.dumps(inventory.data(found), indent=2))
        else:
            step("What exists now, read back from each service")
            click.echo("\n".join(inventory.text(found)))
            click.echo(_limits(file, stacks, made.named))
    if made.missing:
        raise Wrong(f"not deployed, as shown above: {', '.join(made.missing)}")


def _limits(file: Path, stacks: tuple[str, ...], named: list[str]) -> str:
    before = YOURS.format(named=", ".join(arn.split(":", 5)[5].split("/")[0].split(":")[0] for arn in named))
    return LIMITS.format(before=before if named else "", stack=" ".join(stacks), deployment=file)


def default_file() -> Path:
    """Return the file of the project in this folder, else one that the package brings."""
    own = Path("deployment.yaml")
    return own if own.is_file() else project_folder() / "deployments" / "hyperpod-cpu-ddp.yaml"


@dataclass(frozen=True)
class Deployed:
    """What was deployed: the local AWS, the file's content, what of it had to be made up, and which stacks failed."""

    aws: "LocalAws"
    file: Mapping[str, Any]
    named: list[str]
    missing: list[str]


@contextmanager
def deployed(deployment: Path, *stacks: str, quiet: bool = False) -> Iterator[Deployed]:
    """Start a local AWS, and deploy stacks of a deployment file to it, with what they need.

    Args:
        deployment: The file.
        stacks: The stacks.
        quiet: Whether nothing goes to standard output.
    """
    cdk = _cdk.find()  # before anything is started
    from cdk_trainyard.cli import _others
    from cdk_trainyard.cli._made_up import account_of, arns, content, key_pairs, make_existing, network
    from cdk_trainyard.local import LocalAws
    from cdk_trainyard.local.environment import DEFAULT_REGION

    file = content(deployment)
    region = file.get("region", DEFAULT_REGION)
    step(f"Starting the local AWS, region {region}", quiet)
    named = list(dict.fromkeys(arns(file)))
    account = account_of(file, named)
    at = f"arn:aws:ec2:{region}:{account}"
    named += [f"{at}:key-pair/{name}" for name in dict.fromkeys(key_pairs(file))]
    existing = [*named, *network(file.get("network"), at)]
    with LocalAws(region=region, account=account) as aws, scratch_folder() as assembly:
        click.echo(f"{aws.endpoint}, account {aws.account}", err=quiet)
        if existing:
            make_existing(aws, existing, quiet=quiet)
        cdk = cdk.within(aws.environment)
        with working(f"synthesizing {deployment}"):
            known = listed(cdk, *_cdk.app_words(deployment), "--output", str(assembly))
        refuse_unknown(stacks, [each["id"] for each in known])
        step("cdk bootstrap", quiet)
        app = ["--app", str(assembly)]
        project = app if Path("cdk.json").is_file() else []  # it may say how it is bootstrapped
        run = partial(_run, cdk, quiet)
        if run("bootstrap", f"aws://{aws.account}/{region}", *project):
            raise Wrong("cdk bootstrap failed, as shown above")
        step(f"cdk deploy {' '.join(stacks)} -c deployment={deployment}", quiet)
        yield Deployed(aws, file, named, _others.deploy(cdk, run, aws, stacks, app, str(assembly)))


def step(title: str, quiet: bool = False) -> None:
    """Say what happens next.

    Args:
        title: What.
        quiet: Whether nothing goes to standard output.
    """
    click.echo(f"\n== {title}", err=quiet)


def _run(cdk: _cdk.Cdk, quiet: bool, *words: str) -> int:
    """Run the cdk CLI against the local AWS; its output is the progress that a user sees."""
    return cdk.run(*words, tell=partial(click.echo, err=True)).code if quiet else cdk.show(*words)
