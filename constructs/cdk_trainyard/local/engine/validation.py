"""What is wrong with a template can be said before anything is created, and is."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdk_trainyard.local.engine.intrinsics import FUNCTIONS
from cdk_trainyard.local.engine.template import Template, depends_on, in_order, references
from cdk_trainyard.local.engine.unknown_types import not_emulated
from cdk_trainyard.local.errors import validation_error
from cdk_trainyard.local.registry import is_supported, type_of
from cdk_trainyard.local.resources.model import facts_of

_PSEUDO = "AWS::"


def check(template: Template) -> None:
    """Raise with every problem of ``template``: unknown types and properties, references to nothing, circles.

    Raises:
        ApiError: As CloudFormation refuses a change set.
    """
    resources = template.resources
    malformed = sorted(name for name, row in resources.items() if not isinstance(row, Mapping) or "Type" not in row)
    if malformed:
        raise validation_error(f"Template format error: {malformed} have no Type")
    unknown = {row["Type"]: name for name, row in resources.items() if not is_supported(row["Type"])}
    if unknown:
        raise validation_error(f"local AWS: {not_emulated(unknown)}")
    problems = [
        *_reference_problems(template),
        *(problem for name, row in resources.items() for problem in _property_problems(name, row)),
        *(f"local AWS: the function {name} is not emulated" for name in sorted(_unknown_functions(resources))),
    ]
    if problems:
        raise validation_error("; ".join(problems))
    in_order(resources)


def _property_problems(name: str, declaration: Mapping[str, Any]) -> Iterator[str]:
    facts, properties = facts_of(declaration["Type"]), declaration.get("Properties") or {}
    if facts is None or "Fn::Transform" in properties:
        return
    for extra in sorted(set(properties) - facts.properties):
        yield f"{name}: {declaration['Type']} has no property {extra}"
    for missing in sorted(facts.required - set(properties)):
        yield f"{name}: {declaration['Type']} needs the property {missing}"


def _reference_problems(template: Template) -> Iterator[str]:
    resources = template.resources
    names = {*resources, *template.section("Parameters")}
    places = [
        *((name, row.get("Properties")) for name, row in resources.items()),
        ("Outputs", template.section("Outputs")),
    ]
    for place, fragment in places:
        for name, attribute in references(fragment):
            if attribute is None and name not in names and not name.startswith(_PSEUDO):
                yield f"{place}: unresolved reference to {name}"
            elif attribute is not None and name not in resources:
                yield f"{place}: Fn::GetAtt refers to the undefined resource {name}"
            elif attribute is not None and not _has_attribute(resources[name], attribute):
                yield f"{place}: {resources[name]['Type']} has no attribute {attribute}, or it is not emulated"
    for name, row in resources.items():
        for other in depends_on(row):
            if other not in resources:
                yield f"{name}: DependsOn refers to the undefined resource {other}"


def _has_attribute(declaration: Mapping[str, Any], attribute: str) -> bool:
    known = type_of(declaration["Type"]).attributes
    return attribute in known or "*" in known or attribute in (declaration.get("Properties") or {})


def _unknown_functions(fragment: Any) -> set[str]:
    if isinstance(fragment, list):
        return {name for item in fragment for name in _unknown_functions(item)}
    if not isinstance(fragment, Mapping):
        return set()
    here = {key for key in fragment if key.startswith("Fn::") and key not in FUNCTIONS}
    return here | {name for inner in fragment.values() for name in _unknown_functions(inner)}
