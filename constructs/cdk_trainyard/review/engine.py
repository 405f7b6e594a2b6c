"""AWS's own CloudFormation validation as a library: templates in, findings out; no CDK."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final

NAME: Final = "TemplateValidation"
"""What findings of it are called in ``validation-report.json``."""
IGNORED_RULES: Final = {
    "W3005": "a DependsOn that a reference already implies: CDK writes both, and both are right",
}
"""Rules that are no findings for any template that CDK writes, with the reason."""

SEVERITIES: Final = {"FATAL": "error", "ERROR": "error", "WARN": "warning"}
"""The engine's severities, as CDK's reports call them."""


def engine_version() -> str:
    """Return the engine's version."""
    return version("cloudformation-validate")


def start_engine() -> Any:
    """Compile the rules, which takes a fifth of a second and leaves Python free to work."""
    from cloudformation_validate import CelEngine  # noqa: PLC0415  only a validated synthesis pays for it

    return CelEngine()  # the same rules as its siblings, compiled in two thirds of their time


def diagnostics(rules: Any, template_path: str, region: str | None) -> Iterator[Any]:
    """Yield every finding of severity warning or worse about a template.

    Args:
        rules: The engine.
        template_path: The template's file.
        region: The stack's Region.
    """
    import cloudformation_validate as engine  # noqa: PLC0415  as above
    from cloudformation_validate.bindings_python import ValidateConfig  # noqa: PLC0415  as above

    config = ValidateConfig(
        exclude=engine.RuleFilterConfig(ids=sorted(IGNORED_RULES)),
        detail_level=engine.DetailLevel.STANDARD,
        severity_level=engine.Severity.WARN,
        pseudo_parameter_overrides=engine.PseudoParameterOverrides(region=region),
    )
    yield from rules.validate_template(template_path, config).diagnostics


def description(finding: Any) -> str:
    """Return what a finding says, with the property that it is about.

    Args:
        finding: The finding.
    """
    path = finding.property_path
    return (f"{path.removeprefix('Properties.')}: " if path else "") + str(finding.message)


def logical_id(finding: Any) -> str | None:
    """Return the resource that a finding is about; None where it is about none.

    Args:
        finding: The finding.
    """
    entity = finding.entity
    is_resource = entity is not None and entity.entity_type.name.upper() == "RESOURCE"
    return str(entity.logical_id) if is_resource else None
