"""Deploy a deployment file with the real cdk CLI to the local AWS, and show what exists then.

``python -m tools.demo deployments/X.yaml [--stack TrainingStack]``

What the file names by its ARN exists already at AWS: a certificate, a secret, a key; so does an SSH key pair. Here
they are made up first.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.environment import ACCOUNT, DEFAULT_REGION
from tools import inventory

CDK = Path(__file__).parent.parent / "bin" / "cdk"
LIMITS = """
== What this does not prove
Stacks, change sets and every resource above were made through the services' own APIs, on 127.0.0.1. No account was
touched. Whether AWS has the capacity and you the quota, how long nodes take, and whether EFA, Neuron devices and GPUs
work on them: only an account can show that. Nothing has run on a node; what nodes may call, `make rehearse` shows.

== With an account
{before}cdk deploy {stack} -c deployment={deployment}"""
YOURS = "First let the file name yours instead of what was made up above: {named}.\n"


def step(title: str) -> None:
    """Say what happens next."""
    print(f"\n== {title}", flush=True)


def cdk(aws: LocalAws, *arguments: str) -> None:
    """Run the cdk CLI against the local AWS; its output is the progress that a user sees."""
    done = subprocess.run([str(CDK), *arguments], env=aws.environment, check=False)
    if done.returncode:
        sys.exit(f"cdk {arguments[0]} failed, as shown above")


def arns(value: Any) -> Iterator[str]:
    """Yield every ARN in a deployment file."""
    if isinstance(value, str) and value.startswith("arn:"):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from arns(inner)


def key_pairs(value: Any) -> Iterator[str]:
    """Yield the name of every SSH key pair in a deployment file."""
    if isinstance(value, dict):
        yield from (str(inner) for key, inner in value.items() if key == "key_pair")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from key_pairs(inner)


def account_of(file: dict[str, Any], named: list[str]) -> str:
    """Return the account that the deployment is for, as far as the file tells: its own words, or else its ARNs."""
    numbers = [str(file["account"])] if "account" in file else [arn.split(":")[4] for arn in named]
    return next(filter(None, numbers), ACCOUNT)


def make_existing(aws: LocalAws, named: list[str]) -> None:
    """Make up what the deployment names as existing; say what cannot be."""
    step("Making up what exists already")
    for arn in named:
        try:
            aws.add_existing(arn)
            print(arn)
        except ValueError as problem:
            print(f"not made up: {problem}")


@dataclass(frozen=True)
class Deployed:
    """What was deployed: the local AWS, the file's content, and what of it had to be made up."""

    aws: LocalAws
    file: dict[str, Any]
    named: list[str]


@contextmanager
def deployed(deployment: Path, *stacks: str) -> Iterator[Deployed]:
    """Start a local AWS, and deploy stacks of a deployment file to it, with what they need."""
    # what is wrong with the file is for the app to say, in the first cdk command
    read = yaml.safe_load(deployment.read_text()) if deployment.is_file() else {}
    file: dict[str, Any] = read if isinstance(read, dict) else {}
    region = file.get("region", DEFAULT_REGION)

    step(f"Starting the local AWS, region {region}")
    named = list(dict.fromkeys(arns(file)))
    account = account_of(file, named)
    named += [f"arn:aws:ec2:{region}:{account}:key-pair/{name}" for name in dict.fromkeys(key_pairs(file))]
    with LocalAws(region=region, account=account) as aws:
        print(f"{aws.endpoint}, account {aws.account}")
        if named:
            make_existing(aws, named)
        step("cdk bootstrap")
        cdk(aws, "bootstrap", f"aws://{aws.account}/{region}", "-c", f"deployment={deployment}")
        step(f"cdk deploy {' '.join(stacks)} -c deployment={deployment}")
        cdk(aws, "deploy", *stacks, "-c", f"deployment={deployment}", "--require-approval", "never")
        yield Deployed(aws, file, named)


def main() -> None:
    """Deploy and show."""
    parser = argparse.ArgumentParser(prog="python -m tools.demo", description=__doc__)
    parser.add_argument("deployment", type=Path)
    parser.add_argument("--stack", default="TrainingStack")
    options = parser.parse_args()
    with deployed(options.deployment, options.stack) as made:
        os.environ.update(made.aws.environment)
        step("What exists now, read back from each service")
        print("\n".join(inventory.lines(made.file["name"], made.aws.region)))
    before = YOURS.format(named=", ".join(arn.split(":", 5)[5].split("/")[0].split(":")[0] for arn in made.named))
    print(LIMITS.format(before=before if made.named else "", stack=options.stack, deployment=options.deployment))


if __name__ == "__main__":
    main()
