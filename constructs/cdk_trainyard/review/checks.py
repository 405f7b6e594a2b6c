"""The checks that every synthesis of this project's app runs."""

from aws_cdk import Stage, Validations
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks

from cdk_trainyard.review.template_validation import TemplateValidation


def attach_checks(app: Stage) -> None:
    """Let ``app.synth()`` run cdk-nag (AwsSolutions and NIST 800-53 R5) and AWS's template validation.

    An error of any of them makes ``app.synth()`` raise; templates and ``validation-report.json`` are written all the
    same. CDK's built-in template validation is the same engine as WebAssembly, at over a second and 380 MB a process:
    switch it off with ``CDK_VALIDATION=false`` in the environment before ``aws_cdk`` is imported.

    Args:
        app: The app, or a stage of it.
    """
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), NIST80053R5Checks(app), TemplateValidation())
