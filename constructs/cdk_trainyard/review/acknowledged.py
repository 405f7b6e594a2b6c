"""Acknowledgments that match no finding: they hide the next real one, so they are refused."""

import json
from collections.abc import Sequence
from pathlib import Path

from aws_cdk import Validations
from constructs import IConstruct

from cdk_trainyard.acknowledgments import AWS_SOLUTIONS, NIST_800_53_R5

_REPORT = "validation-report.json"


def unmatched_acknowledgments(
    app: IConstruct, assembly_directory: str | Path, *, packs: Sequence[str] = (AWS_SOLUTIONS, NIST_800_53_R5)
) -> list[str]:
    """Return one sentence for every acknowledgment in ``app`` that suppressed nothing in the last synthesis.

    Args:
        app: The app that was synthesized.
        assembly_directory: Where it was synthesized to (``cdk.out``).
        packs: The rule packs that ran; acknowledgments of others cannot be judged and are not looked at.
            Default - those of ``attach_checks``.
    """
    report = json.loads((Path(assembly_directory) / _REPORT).read_text())
    suppressed = {
        (violation["acknowledgedId"], construct["constructPath"])
        for plugin in report["pluginReports"]
        for violation in plugin.get("suppressedViolations", [])
        for construct in violation["violatingConstructs"]
    }
    return [
        f"{path}: the acknowledgment of {rule} matches no finding; remove it, or put it on the resource it is about"
        for path, rule in _acknowledgments(app)
        if rule.startswith(tuple(f"{pack}::" for pack in packs)) and (rule, path) not in suppressed
    ]


def _acknowledgments(app: IConstruct) -> list[tuple[str, str]]:
    key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY
    return [
        (construct.node.path, rule)
        for construct in app.node.find_all()
        for entry in construct.node.metadata
        if entry.type == key and entry.data
        for rule in entry.data
    ]
