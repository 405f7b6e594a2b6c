"""A rehearsal as its user starts it: a deployment file, the real cdk CLI, the local AWS, nodes, scripts, a job."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "cdk_trainyard.rehearsal"]
README = "constructs/cdk_trainyard/rehearsal/README.md"
ENVIRONMENT = os.environ | {"PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}


ON_CREATE = {"lifecycle": {"on_create": "on_create.sh"}}


def deployment(directory: Path, cluster: Mapping[str, object]) -> Path:
    """Return the default deployment with another lifecycle, and what else ``cluster`` says."""
    content = yaml.safe_load((ROOT / "deployments" / "hyperpod-cpu-ddp.yaml").read_text())
    del content["cluster"]["lifecycle"]
    path = directory / "deployment.yaml"
    path.write_text(yaml.safe_dump(content | {"cluster": content["cluster"] | cluster}))
    return path


def rehearse(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *words], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def assert_went_on(done: "subprocess.CompletedProcess[str]", said: str) -> None:
    """The job went on from a snapshot: the one of step 20, or a later one that was written before the power was cut."""
    found = re.search(said, done.stdout)
    assert found, done.stdout
    step = int(found[1])
    assert step >= 20
    assert step % 5 == 0
