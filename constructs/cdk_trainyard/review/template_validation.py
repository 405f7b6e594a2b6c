"""AWS's own CloudFormation validation, run natively as a CDK validation plugin.

CDK has the same engine built in as WebAssembly. The native build is four times faster, and it starts in a thread of its
own while the app is built. The plugin does not take the built-in's name: under that name CDK turns errors into warnings
and a crash of the plugin into silence.
"""

import atexit
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import jsii
from aws_cdk import (
    IPolicyValidationContext,
    IPolicyValidationPlugin,
    PolicyValidationPluginReport,
    PolicyViolatingResource,
    PolicyViolation,
)

IGNORED_RULES = {
    "W3005": "a DependsOn that a reference already implies: CDK writes both, and both are right",
}
"""Rules that are no findings for any template that CDK writes, with the reason."""

_SEVERITIES = {"FATAL": "error", "ERROR": "error", "WARN": "warning"}


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
        return "TemplateValidation"

    @property
    def version(self) -> str:
        """The engine's version."""
        return version("cloudformation-validate")

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
    return ThreadPoolExecutor(1).submit(_engine)


def _engine() -> Any:
    """Compile the rules, which takes a fifth of a second and leaves Python free to work."""
    from cloudformation_validate import CelEngine  # noqa: PLC0415  only a validated synthesis pays for it

    return CelEngine()  # the same rules as its siblings, compiled in two thirds of their time


def _violations(rules: Any, context: IPolicyValidationContext) -> Iterator[PolicyViolation]:
    import cloudformation_validate as engine  # noqa: PLC0415  as above
    from cloudformation_validate.bindings_python import ValidateConfig  # noqa: PLC0415  as above

    for stack in context.stack_templates:
        config = ValidateConfig(
            exclude=engine.RuleFilterConfig(ids=sorted(IGNORED_RULES)),
            detail_level=engine.DetailLevel.STANDARD,
            severity_level=engine.Severity.WARN,
            pseudo_parameter_overrides=engine.PseudoParameterOverrides(region=stack.region),
        )
        for finding in rules.validate_template(stack.template_path, config).diagnostics:
            yield _violation(finding, stack.template_path)


def _violation(finding: Any, template_path: str) -> PolicyViolation:
    entity, path = finding.entity, finding.property_path
    is_resource = entity is not None and entity.entity_type.name.upper() == "RESOURCE"
    return PolicyViolation(
        rule_name=finding.rule_id,
        description=(f"{path.removeprefix('Properties.')}: " if path else "") + finding.message,
        severity=_SEVERITIES[finding.severity.name],
        fix=finding.suggested_fix,
        violating_resources=[
            PolicyViolatingResource(
                resource_logical_id=entity.logical_id if is_resource else None,
                template_path=template_path,
                locations=[path] if path else [],
            )
        ],
    )
