"""A deployment as its user meets it: a file that changes, the real cdk CLI, and the local AWS that it deploys to.

The CLI, and what CloudFormation does with the templates that the CLI would send, are two things: who tests the second
deploys by its API, in this process (`Environment.deploy`), with the assembly that the CLI makes to the byte.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.explanation import explain
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.local import LocalAws
from tests.deployed import delete, deploy_assembly
from tests.local.stacks import stack_names
from tests.support import OF_THE_CLI, ROOT, synthesize_here

CDK = ROOT / "bin" / "cdk"
STACKS = ("network", "storage", "training", "serving")
_TOOLKIT = "CDKToolkit"
_BOOTSTRAP = ROOT / "node_modules" / "aws-cdk" / "lib" / "api" / "bootstrap" / "bootstrap-template.yaml"


def bootstrap(client: Any) -> None:
    """Make what ``cdk bootstrap`` makes, of its own template; tests/local/test_cli.py runs the command."""
    if _TOOLKIT not in stack_names(client):
        template = _BOOTSTRAP.read_text()
        client.create_stack(StackName=_TOOLKIT, TemplateBody=template, Capabilities=["CAPABILITY_NAMED_IAM"])


class Environment:
    """A deployment file that changes, and what deploys it."""

    def __init__(self, aws: LocalAws, source: Path, folder: Path) -> None:
        self.aws = aws
        self.content = yaml.safe_load(source.read_text())
        self.path = folder / source.name
        self.folder = folder
        self.assemblies: dict[str, Path] = {}
        self.region = self.content["region"]

    def client(self, service: str) -> Any:
        return self.aws.client(service, self.region)

    # ---------------------------------------------------------------- with the CLI
    def cdk(self, *arguments: str, code: int = 0) -> str:
        """Run the CLI on what the present content becomes; return everything that it printed."""
        return self._run(*arguments, "--app", str(self.assembly()), code=code)

    def cdk_from_file(self, *arguments: str, code: int = 0) -> str:
        """Run the CLI, which runs the app on the present content; return everything that it printed."""
        said = self._write()
        folder = self.folder / f"app-{len(self.assemblies)}.out"
        printed = self._run(*arguments, "-c", f"deployment={self.path}", "--output", str(folder), code=code)
        if not code:
            self.assemblies[said] = folder
        return printed

    def create(self, stack: str = "TrainingStack", *, code: int = 0) -> str:
        """Deploy a stack with the CLI, which runs the app; return everything that it printed."""
        return self.cdk_from_file("deploy", stack, "--require-approval", "never", code=code)

    def diff(self, stack: str = "TrainingStack") -> str:
        """Return what the CLI says of what the present content changes."""
        return self.cdk("diff", stack, "--fail", code=1)

    def destroy_all(self) -> None:
        """Destroy everything with the CLI."""
        self.cdk("destroy", "--all", "--force")
        assert self.statuses(*STACKS) == {"GONE"}

    def _run(self, *arguments: str, code: int) -> str:
        bootstrap(self.client("cloudformation"))
        run = subprocess.run(
            [str(CDK), *arguments],
            cwd=ROOT,
            env=self.aws.environment | {"JSII_NODE": os.environ["JSII_NODE"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert run.returncode == code, run.stdout
        return re.sub(r"\x1b\[[0-9;]*m", "", run.stdout)

    # ---------------------------------------------------------------- in this process
    def deploy(self, stack: str = "TrainingStack") -> list[str]:
        """Deploy a stack and what it stands on, and return the names of the stacks in which something changed."""
        bootstrap(self.client("cloudformation"))
        return deploy_assembly(self.aws, self.region, self.assembly(), stack)

    def destroy(self, *parts: str) -> None:
        """Delete the deployment's stacks that end in these, or all of them."""
        name = self.content["name"]
        delete(self.client("cloudformation"), *(f"{name}-{part}" for part in parts or reversed(STACKS)))
        assert self.statuses(*parts or STACKS) == {"GONE"}

    def refusal(self) -> str:
        """Return what the app says of the present content, which it refuses."""
        self._write()
        with pytest.raises(ConfigurationError) as refused:
            Deployment.load(self.path)
        return explain(refused.value)

    def assembly(self) -> Path:
        """Return what the present content becomes in the CLI: what the app made of it there, or makes of it here."""
        said = self._write()
        if said not in self.assemblies:
            folder = self.folder / f"here-{len(self.assemblies)}.out"
            made = synthesize_here(self.path, folder, OF_THE_CLI, checked=False)
            assert made.returncode == 0, made.stderr
            self.assemblies[said] = folder
        return self.assemblies[said]

    def _write(self) -> str:
        said = yaml.safe_dump(self.content, sort_keys=False)
        self.path.write_text(said)
        return said

    # ---------------------------------------------------------------- what is there
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
