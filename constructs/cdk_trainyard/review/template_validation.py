"""AWS's own CloudFormation validation, run natively as a CDK validation plugin.

CDK has the same engine built in as WebAssembly. The native build is four times faster, and it starts in a thread of its
own while the app is built. The plugin does not take the built-in's name: under that name CDK turns errors into warnings
and a crash of the plugin into silence.
"""

import atexit
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jsii
from aws_cdk import (
    IPolicyValidationContext,
    IPolicyValidationPlugin,
    PolicyValidationPluginReport,
    PolicyViolatingResource,
    PolicyViolation,
)

from cdk_trainyard.review.engine import (
    NAME,
    SEVERITIES,
    description,
    diagnostics,
    engine_version,
    logical_id,
    start_engine,
)


@jsii.implements(IPolicyValidationPlugin)
class TemplateValidation:
    """Validates every template of an app with the ``cloudformation-validate`` package: errors and warnings.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-validate.html
    """

    def __init__(self) -> None:
        self._starting: Future[Any] | None = _start()
        atexit.register(self._let_go)

    @property
    def name(self) -> str:
        """The name in ``validation-report.json``, and the prefix of acknowledgments: ``TemplateValidation::W3010``."""
        return NAME

    @property
    def version(self) -> str:
        """The engine's version."""
        return engine_version()

    @property
    def rule_ids(self) -> list[str] | None:
        """Not reported: listing the rules would load the engine before it is needed."""
        return None

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """Report every finding of severity warning or worse; any error fails the synthesis."""
        starting = self._starting or _start()
        self._let_go()
        violations = list(_violations(starting.result(), context))
        return PolicyValidationPluginReport(
            success=all(violation.severity != "error" for violation in violations), violations=violations
        )

    def _let_go(self) -> None:
        self._starting = None  # the engine must not outlive Python


def _start() -> Future[Any]:
    return ThreadPoolExecutor(1).submit(start_engine)


def _violations(rules: Any, context: IPolicyValidationContext) -> Iterator[PolicyViolation]:
    for stack in context.stack_templates:
        for finding in diagnostics(rules, stack.template_path, stack.region):
            yield _violation(finding, stack.template_path)


def _violation(finding: Any, template_path: str) -> PolicyViolation:
    path = finding.property_path
    return PolicyViolation(
        rule_name=finding.rule_id,
        description=description(finding),
        severity=SEVERITIES[finding.severity.name],
        fix=finding.suggested_fix,
        violating_resources=[
            PolicyViolatingResource(
                resource_logical_id=logical_id(finding),
                template_path=template_path,
                locations=[path] if path else [],
            )
        ],
    )
