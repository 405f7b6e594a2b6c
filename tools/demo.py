"""Deploy a deployment file with the real cdk CLI to the local AWS, and show what exists then.

``python -m tools.demo deployments/X.yaml [--stack TrainingStack]``
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import yaml

from cdk_trainyard.local import LocalAws
from tools import inventory

CDK = Path(__file__).parent.parent / "bin" / "cdk"
LIMITS = """
== What this does not prove
Stacks, change sets and every resource above were made through the services' own APIs, on 127.0.0.1. No account was
touched. Whether AWS has the capacity and you the quota, what IAM will allow at run time, how long nodes take, and
whether EFA, Neuron devices and GPUs work on them: only an account can show that. Nothing has run on a node.

== With an account
cdk deploy {stack} -c deployment={deployment}"""


def step(title: str) -> None:
    """Say what happens next."""
    print(f"\n== {title}", flush=True)


def cdk(aws: LocalAws, *arguments: str) -> None:
    """Run the cdk CLI against the local AWS; its output is the progress that a user sees."""
    done = subprocess.run([str(CDK), *arguments], env=aws.environment, check=False)
    if done.returncode:
        sys.exit(f"cdk {arguments[0]} failed, as shown above")


def main() -> None:
    """Deploy and show."""
    parser = argparse.ArgumentParser(prog="python -m tools.demo", description=__doc__)
    parser.add_argument("deployment", type=Path)
    parser.add_argument("--stack", default="TrainingStack")
    options = parser.parse_args()
    # what is wrong with the file is for the app to say, in the first cdk command
    file = yaml.safe_load(options.deployment.read_text()) if options.deployment.is_file() else {}
    region = (file if isinstance(file, dict) else {}).get("region", "us-east-1")

    step(f"Starting the local AWS, region {region}")
    with LocalAws(region=region) as aws:
        print(f"{aws.endpoint}, account {aws.account}")
        step("cdk bootstrap")
        cdk(aws, "bootstrap", f"aws://{aws.account}/{region}", "-c", f"deployment={options.deployment}")
        step(f"cdk deploy {options.stack} -c deployment={options.deployment}")
        cdk(aws, "deploy", options.stack, "-c", f"deployment={options.deployment}", "--require-approval", "never")
        os.environ.update(aws.environment)
        step("What exists now, read back from each service")
        print("\n".join(inventory.lines(file["name"], region)))
    print(LIMITS.format(stack=options.stack, deployment=options.deployment))


if __name__ == "__main__":
    main()
