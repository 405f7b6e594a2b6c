"""Deploying a deployment file with the real cdk CLI, to the local AWS that this process was started in."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdk_trainyard.rehearsal._process import own_environment, watch
from cdk_trainyard.rehearsal.errors import RehearsalError


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembly:
    """A synthesized deployment.

    Attributes:
        directory: The cloud assembly.
        account: Account of its stacks.
        region: Region of its stacks.
    """

    directory: Path
    account: str
    region: str


def synthesize(file: Path, directory: Path) -> Assembly:
    """Synthesize a deployment file into ``directory``.

    Raises:
        RehearsalError: The file or the CLI is missing, or the app refused it; with what the app said.
    """
    if not file.is_file():
        raise RehearsalError(f"{file}: no such deployment file")
    _cdk(["synth", "*", "--quiet", f"--context=deployment={file}", f"--output={directory}"], lambda _line: None)
    account, region = environment_of(json.loads((directory / "manifest.json").read_text()))
    return Assembly(directory=directory, account=account, region=region)


def environment_of(manifest: dict[str, object]) -> tuple[str, str]:
    """Return account and region of the stacks in a cloud assembly's manifest.

    Raises:
        RehearsalError: The assembly has no stack, or stacks of several environments.
    """
    artifacts = manifest.get("artifacts")
    rows = artifacts.values() if isinstance(artifacts, dict) else ()
    found = {row["environment"] for row in rows if row.get("type") == "aws:cloudformation:stack"}
    if len(found) != 1:
        raise RehearsalError(f"a deployment to rehearse must stand in one environment, got {sorted(found) or 'none'}")
    account, region = found.pop().removeprefix("aws://").split("/")
    return account, region


def deploy(assembly: Assembly, say: Callable[[str], None]) -> None:
    """Bootstrap the environment and deploy every stack.

    Args:
        assembly: From ``synthesize``.
        say: Told of every stack that is there.

    Raises:
        RehearsalError: The CLI failed; with its last lines.
    """
    app = f"--app={assembly.directory}"
    _cdk(["bootstrap", app, "--quiet", f"aws://{assembly.account}/{assembly.region}"], lambda _line: None)

    def tell(line: str) -> None:
        if "✅" in line:
            say(line.replace("✅", "deployed").strip())

    _cdk(["deploy", app, "--all", "--require-approval=never", "--progress=events"], tell)


def _cdk(words: Sequence[str], tell: Callable[[str], None]) -> None:
    environment = own_environment(CDK_DISABLE_CLI_TELEMETRY="true", CI="true")
    command = ["cdk", *words, "--no-color", "--no-notices"]  # the project's own, first in PATH
    try:
        watch(command, tell, named=f"'cdk {words[0]}'", environment=environment)
    except FileNotFoundError as error:
        raise RehearsalError(
            "the cdk CLI is not in PATH: npm install --global aws-cdk@2, or put its folder there"
        ) from error
