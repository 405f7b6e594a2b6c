"""The library works in an app that runs cdk-nag 2, which knows its acknowledgments when it is told."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.review
NAG_2 = ROOT / ".venv-nag2"


def test_cdk_nag_2_finds_what_is_acknowledged_until_it_is_told() -> None:
    assert (NAG_2 / "cdk_nag").exists(), "make test sets it up; alone: make .venv-nag2/.ready"
    command = [sys.executable, "-m", "tests.review.nag_2", "deployments/hyperpod-cpu-ddp.yaml"]
    path = os.pathsep.join([str(NAG_2), *sys.path])
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["version"].startswith("2.")
    assert {each.partition("-")[0] for each in said["untold"]} == {"AwsSolutions", "NIST.800.53.R5"}
    assert said["told"] == []


def test_the_lock_has_both() -> None:
    """cdk-nag 2 and what an app with constructs alone needs were resolved together, and fit what the tests run on."""
    locked, here = (
        dict(re.findall(r"^([\w-]+)==(\S+)", (ROOT / "requirements" / name).read_text(), re.MULTILINE))
        for name in ("nag2.txt", "dev.txt")
    )
    assert locked.pop("cdk-nag").startswith("2.")
    assert [locked[name] for name in ("aws-cdk-lib", "constructs", "jsii")] == [
        here[name] for name in ("aws-cdk-lib", "constructs", "jsii")
    ]
