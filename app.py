"""The CDK app: one deployment file in, stacks out. The cdk CLI runs it; ``-c deployment=FILE`` names the file."""

import gc
import os
import sys
import traceback

gc.disable()  # a synthesis lives for two seconds, and collecting costs it a tenth of them
# CDK's built-in template validation is the engine that attach_checks runs natively, at four times the price.
os.environ.setdefault("CDK_VALIDATION", "false")  # CDK reads it when it is imported

from aws_cdk import App

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from stacks import build_stacks


def main() -> None:
    """Synthesize the deployment that the context names, with every check."""
    app = App()
    attach_checks(app)
    deployment = None
    try:
        deployment = Deployment.load(app.node.get_context("deployment"))
        build_stacks(app, deployment)
    except ConfigurationError as error:
        sys.exit(explain(error, deployment))
    try:
        assembly = app.synth()
    except RuntimeError as error:  # jsii knows no finer class; CDK has printed the findings
        sys.exit(str(error) if str(error).startswith("ValidationFailed") else traceback.format_exc())
    if problems := unmatched_acknowledgments(app, assembly.directory):
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
    gc.freeze()  # or the interpreter would collect everything once more before it ends
