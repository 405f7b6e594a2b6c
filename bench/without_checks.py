"""The app without its checks; with a number, that many instance groups of compute in the cluster."""

import gc
import json
import os
import sys
import tempfile
from pathlib import Path

gc.disable()  # as app.py does

import yaml
from aws_cdk import App

from cdk_trainyard.deployment import Deployment
from stacks import build_stacks


def grown(deployment: str, groups: int) -> Path:
    """Return a copy of the deployment file with ``groups`` groups of compute."""
    content = yaml.safe_load(Path(deployment).read_text())
    members = content["cluster"]["groups"]
    worker = members.pop("worker-group-1")
    members |= {f"worker-group-{number}": worker for number in range(1, groups + 1)}
    path = Path(tempfile.mkdtemp(prefix="cdk-trainyard-bench-")) / "grown.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


app = App()
source = json.loads(os.environ["CDK_CONTEXT_JSON"])["deployment"]
build_stacks(app, Deployment.load(grown(source, int(sys.argv[1])) if len(sys.argv) > 1 else source))
app.synth()
