"""A deployment as its user meets it: a file that changes, the real cdk CLI, and the local AWS that it deploys to."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.support import ROOT

CDK = ROOT / "bin" / "cdk"
BOOTSTRAPPED = "/cdk-bootstrap/hnb659fds/version"
STACKS = ("network", "storage", "training", "serving")


class Environment:
    """A deployment file that changes, and the cdk CLI that deploys it."""

    def __init__(self, aws: LocalAws, source: Path, folder: Path) -> None:
        self.aws = aws
        self.content = yaml.safe_load(source.read_text())
        self.path = folder / source.name
        self.folder = folder
        self.assemblies: dict[str, Path] = {}
        self.region = self.content["region"]

    def client(self, service: str) -> Any:
        return self.aws.client(service, self.region)

    def cdk(self, *arguments: str, code: int = 0) -> str:
        """Run the CLI on the present content; return everything that it printed.

        It runs the app on a content that is new, and takes what the app has made of one that was there before.
        """
        said = yaml.safe_dump(self.content, sort_keys=False)
        self.path.write_text(said)
        made, new = self.assemblies.get(said), self.folder / f"cdk-{len(self.assemblies)}.out"
        app = ["--app", str(made)] if made else ["-c", f"deployment={self.path}", "--output", str(new)]
        run = subprocess.run(
            [str(CDK), *arguments, *app],
            cwd=ROOT,
            env=self.aws.environment | {"JSII_NODE": os.environ["JSII_NODE"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert run.returncode == code, run.stdout
        if (new / "manifest.json").exists() and "Subprocess exited with error" not in run.stdout:
            self.assemblies[said] = new
        return re.sub(r"\x1b\[[0-9;]*m", "", run.stdout)

    def deploy(self, stack: str = "TrainingStack", *, code: int = 0) -> str:
        if not self.client("ssm").get_parameters(Names=[BOOTSTRAPPED])["Parameters"]:
            self.cdk("bootstrap", f"aws://{self.aws.account}/{self.region}")  # its assembly is deployed
        return self.cdk("deploy", stack, "--require-approval", "never", code=code)

    def destroy(self) -> None:
        self.cdk("destroy", "--all", "--force")
        assert self.statuses(*STACKS) == {"GONE"}

    def stack(self, part: str) -> dict[str, Any]:
        """Return the stack of the deployment that ends in ``part``."""
        name = f"{self.content['name']}-{part}"
        (found,) = self.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
        return dict(found)

    def outputs(self, part: str) -> dict[str, str]:
        return {output["OutputKey"]: output["OutputValue"] for output in self.stack(part)["Outputs"]}

    def status(self, part: str) -> str:
        try:
            return str(self.stack(part)["StackStatus"])
        except ClientError:
            return "GONE"

    def statuses(self, *parts: str) -> set[str]:
        return {self.status(part) for part in parts}
