"""Apps that cdk-nag 2 looks at, run with .venv-nag2 first on the path: says what it finds, as JSON.

Argument: a deployment file, of which one app does not know what is acknowledged, and one is told.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

from aws_cdk import App, Aspects
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks

from cdk_trainyard.acknowledgments import for_cdk_nag_2
from cdk_trainyard.deployment import Deployment
from stacks import build_stacks


def found(deployment: Path, *, told: bool) -> list[str]:
    """Return the rules that find something in a deployment file's app."""
    app = App(analytics_reporting=False)
    build_stacks(app, Deployment.load(deployment))
    for pack in (AwsSolutionsChecks(), NIST80053R5Checks()):
        Aspects.of(app).add(pack)
    if told:
        for_cdk_nag_2(app)
    texts = [str(message.entry.data) for stack in app.synth().stacks for message in stack.messages]
    return [text.partition(": ")[0] for text in texts if text.startswith(("AwsSolutions-", "NIST.800.53.R5-"))]


file = Path(sys.argv[1])
said = {"version": version("cdk-nag"), "untold": found(file, told=False), "told": found(file, told=True)}
sys.stdout.write(json.dumps(said))
