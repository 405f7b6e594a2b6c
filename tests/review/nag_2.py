"""An app that cdk-nag 2 looks at, run with .venv-nag2 first on the path: says what it finds, as JSON.

Argument: a deployment file; a second one lets it know what is acknowledged.
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

app = App(analytics_reporting=False)
build_stacks(app, Deployment.load(Path(sys.argv[1])))
for pack in (AwsSolutionsChecks(), NIST80053R5Checks()):
    Aspects.of(app).add(pack)
if sys.argv[2:]:
    for_cdk_nag_2(app)
texts = [str(message.entry.data) for stack in app.synth().stacks for message in stack.messages]
found = [text.partition(": ")[0] for text in texts if text.startswith(("AwsSolutions-", "NIST.800.53.R5-"))]
sys.stdout.write(json.dumps({"version": version("cdk-nag"), "found": found}))
