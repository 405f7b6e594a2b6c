"""The CDK app: one deployment file in, stacks out. The cdk CLI runs it; ``-c deployment=FILE`` names the file.

A project's ``app.py`` calls `run` with its own stacks. ``python -m cdk_trainyard.app`` is the app without a project:
the stacks that the package brings, with the feature flags of its ``cdk.json``. It must be imported before CDK is.
"""

import atexit
import gc
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

gc.disable()  # a synthesis lives for two seconds, and collecting costs it a tenth of them
atexit.register(gc.freeze)  # or Python would search everything for garbage before it ends
# CDK's built-in template validation is the engine that attach_checks runs natively, at four times the price.
os.environ.setdefault("CDK_VALIDATION", "false")  # CDK reads it when it is imported

from aws_cdk import App

from cdk_trainyard.deployment.explanation import explain
from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.deployment.origins import say_origins
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.project import project_folder
from cdk_trainyard.review import attach_checks, unmatched_acknowledgments


def run(
    build_stacks: Callable[[App, Deployment], object],
    context: Mapping[str, Any] | None = None,
    outdir: str | None = None,
) -> None:
    """Synthesize the deployment that the context names, with every check; what is wrong ends the process.

    Args:
        build_stacks: Defines the stacks of a deployment.
        context: Context that the cdk CLI may override. Default - what the CLI gives.
        outdir: Where the cloud assembly goes. Default - where the CLI says.
    """
    app = App(context=context, outdir=outdir)
    attach_checks(app)
    deployment = None
    try:
        deployment = Deployment.load(app.node.get_context("deployment"))
        build_stacks(app, deployment)
        say_origins(app, deployment)
    except (ConfigurationError, RuntimeError) as error:  # what CDK refuses, jsii raises as a RuntimeError
        sys.exit(explain(error, deployment))
    try:
        assembly = app.synth()
    except RuntimeError as error:  # jsii knows no finer class; CDK has printed the findings
        sys.exit(str(error) if str(error).startswith("ValidationFailed") else traceback.format_exc())
    if problems := unmatched_acknowledgments(app, assembly.directory):
        sys.exit("\n".join(problems))


def main() -> None:
    """Synthesize with the stacks and the feature flags that the package brings."""
    folder = project_folder()
    sys.path.insert(0, str(folder))
    from stacks import build_stacks  # noqa: PLC0415  found once the folder is on the path

    run(build_stacks, json.loads((folder / "cdk.json").read_text(encoding="utf-8"))["context"])


if __name__ == "__main__":
    main()
