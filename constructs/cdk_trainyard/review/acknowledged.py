"""Acknowledgments that match no finding: they hide the next real one, so they are refused."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from aws_cdk import Stack, Validations
from constructs import IConstruct

from cdk_trainyard.assembly_metadata import entries_of

_REPORT = "validation-report.json"


def unmatched_acknowledgments(
    app: IConstruct, assembly_directory: str | Path, *, packs: Sequence[str] = ("AwsSolutions", "NIST.800.53.R5")
) -> list[str]:
    """Return one sentence for every acknowledgment in ``app`` that suppressed nothing in the last synthesis.

    Args:
        app: The app that was synthesized.
        assembly_directory: Where it was synthesized to (``cdk.out``).
        packs: The rule packs that ran; acknowledgments of others cannot be judged and are not looked at.
            Default - those of ``attach_checks``.
    """
    assembly = Path(assembly_directory)
    report = json.loads((assembly / _REPORT).read_text())
    suppressed = {  # where it was said, which may be above the resources that it is about
        (violation["acknowledgedId"], violation["acknowledgedAt"])
        for plugin in report["pluginReports"]
        for violation in plugin.get("suppressedViolations", [])
    }
    return [
        f"{path}: the acknowledgment of {rule} matches no finding; remove it, or put it on the resource it is about"
        for path, rule in _acknowledgments(app, assembly)
        if rule.startswith(tuple(f"{pack}::" for pack in packs)) and (rule, path) not in suppressed
    ]


def _acknowledgments(app: IConstruct, assembly: Path) -> Iterator[tuple[str, str]]:
    key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY
    for construct in _outside_stacks(app):
        for entry in construct.node.metadata:
            if entry.type == key:
                yield from ((construct.node.path, rule) for rule in entry.data)
    yield from _in_stacks(assembly, key)


def _outside_stacks(scope: IConstruct) -> Iterator[IConstruct]:
    if not Stack.is_stack(scope):
        yield scope
        for child in scope.node.children:
            yield from _outside_stacks(child)


def _in_stacks(assembly: Path, key: str) -> Iterator[tuple[str, str]]:
    return ((path, rule) for path, rules in entries_of(assembly, key) for rule in rules)
