"""``trainyard demo`` from an empty folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent


def demo(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run ``trainyard demo --json`` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "cdk_trainyard", "demo", "--json", *words],
        cwd=folder,
        env=os.environ | {"PATH": os.pathsep.join([str(BIN), os.environ["PATH"]])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.cli
def test_what_exists_is_said_to_programs(tmp_path: Path) -> None:
    """Without a file and without a project: the stacks that the package brings, deployed by the real CLI."""
    done = demo(tmp_path, "--stack", "NetworkStack")
    assert done.returncode == 0, done.stderr
    (vpc,) = (row for row in json.loads(done.stdout)["Network"] if row["kind"] == "VPC")
    assert vpc["level"] == 0
    assert vpc["name"].startswith("vpc-")
    assert "== Starting the local AWS, region us-east-1" in done.stderr


@pytest.mark.cli
def test_an_unknown_stack_is_refused_before_anything_is_deployed(tmp_path: Path) -> None:
    done = demo(tmp_path, "--stack", "Networkstack")
    assert done.returncode == 1
    assert "there is no stack 'Networkstack', only NetworkStack, StorageStack, TrainingStack; " in done.stderr
    assert "cdk bootstrap" not in done.stderr
