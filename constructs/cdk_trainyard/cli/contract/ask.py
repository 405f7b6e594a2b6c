"""Puts questions to ParallelCluster's own environment: its programs pin another CDK than ours."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import click

import cdk_trainyard
from cdk_trainyard.cli._cdk import node
from cdk_trainyard.cli._exits import Missing, Wrong
from cdk_trainyard.cli._folders import make_kept, scratch_folder
from cdk_trainyard.cli._signals import running, waited
from cdk_trainyard.places import cache_folder
from cdk_trainyard.project import project_folder

VARIABLE: Final = "TRAINYARD_PCLUSTER_PYTHON"
"""Names the Python of an environment that has ParallelCluster's own program."""
_CHECKS: Final = "cdk_trainyard.cli.contract.inside.checks"


def python() -> Path:
    """Return the Python of ParallelCluster's own environment.

    Raises:
        Missing: There is none.
    """
    if named := os.environ.get(VARIABLE):
        found = shutil.which(named)
        if found is None:
            raise Missing(f"{VARIABLE} must name a Python that can be run, got {named!r}")
        return Path(found)
    for place in (project_folder() / ".venv-pcluster" / "bin" / "python", _made()):
        if place.exists():
            return place
    raise Missing(
        "ParallelCluster's own program is asked, in an environment of its own, and there is none: "
        f"'trainyard contract --install' makes it in {_made().parents[1]}; or {VARIABLE} names the Python of one"
    )


def install() -> None:
    """Make the environment, from the locked requirements that the package brings.

    Raises:
        Wrong: pip cannot.
    """
    folder = _made().parents[1]
    locked = project_folder() / "requirements" / "pcluster.txt"
    click.echo(f"making {folder} (about a minute, once)", err=True)
    make_kept(folder.parent)
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        pip = [str(_made()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "--require-hashes", "--requirement", str(locked)])
    except BaseException:  # a signal, too: half of it would be taken for an environment
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _run(words: list[str]) -> None:
    with running(words, group=True, stdin=subprocess.DEVNULL) as process:
        if waited(process):
            raise Wrong("the environment cannot be made, as shown above")


def _made() -> Path:
    return cache_folder() / "pcluster" / "bin" / "python"


def ask(requests: dict[str, Any]) -> dict[str, Any]:
    """Return ParallelCluster's answers.

    Args:
        requests: ``checks`` and ``plans``, as ``inside.checks`` takes them.

    Raises:
        Missing: There is no environment to ask.
        Wrong: The question could not be put.
    """
    program = python()
    with scratch_folder() as directory:
        # of this package's environment it sees this package alone
        (directory / "cdk_trainyard").symlink_to(Path(cdk_trainyard.__file__).parent, target_is_directory=True)
        source, target = directory / "requests.json", directory / "answers.json"
        source.write_text(json.dumps(requests), encoding="utf-8")
        words = [str(program), "-m", _CHECKS, str(source), str(target)]
        own = environment() | {"PYTHONPATH": str(directory)}
        silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        try:
            with running(words, group=True, cwd=directory, env=own, **silent) as process:
                code = waited(process)
        except OSError as error:
            raise Missing(f"{program} cannot be run: {error.strerror}") from None
        if code or not target.exists():
            raise Wrong(f"ParallelCluster's own program failed{', as shown above' if code else ''}: {program}")
        return dict(json.loads(target.read_text(encoding="utf-8")))


def environment() -> dict[str, str]:
    """Return the variables of ParallelCluster's environment: no account is in reach."""
    # it renders its templates with CDK v1, which finds Node by the path
    found = Path(node())
    own = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "JSII_"))}
    return own | {
        "PATH": f"{found.parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "JSII_NODE": str(found),
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
