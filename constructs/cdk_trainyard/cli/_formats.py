"""What is wrong with files, said for people, for GitHub's workflow commands, for SARIF readers and as JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

SARIF_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULE: Final = "deployment-file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One problem.

    Attributes:
        file: The file.
        line: The line, counted from one. None: the file as a whole.
        column: The column, counted from one.
        text: What is wrong.
    """

    file: str
    line: int | None
    column: int | None
    text: str


def as_text(findings: Sequence[Finding]) -> str:
    """Return a line for each problem: ``file:line:column: text``.

    Args:
        findings: The problems.
    """
    return "".join(
        f"{each.file}{f':{each.line}:{each.column}' if each.line else ''}: {each.text}\n" for each in findings
    )


def as_github(findings: Sequence[Finding]) -> str:
    """Return GitHub's workflow commands, which become annotations of a pull request.

    Args:
        findings: The problems.
    """
    return "".join(
        f"::error file={_property(each.file)}"
        f"{f',line={each.line},col={each.column}' if each.line else ''}::{_data(each.text)}\n"
        for each in findings
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_json(findings: Sequence[Finding]) -> str:
    """Return the problems as data.

    Args:
        findings: The problems.
    """
    return json.dumps({"problems": [asdict(each) for each in findings]}, indent=2) + "\n"


def as_sarif(findings: Sequence[Finding]) -> str:
    """Return a SARIF 2.1.0 log of one run.

    Args:
        findings: The problems.
    """
    import cdk_trainyard

    driver = {
        "name": "trainyard check",
        "version": cdk_trainyard.__version__,
        "rules": [{"id": _RULE, "shortDescription": {"text": "A deployment file describes what can be deployed."}}],
    }
    run = {"tool": {"driver": driver}, "results": [*map(_result, findings)], "columnKind": "unicodeCodePoints"}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: Finding) -> dict[str, Any]:
    file = Path(finding.file)
    place: dict[str, Any] = {"artifactLocation": {"uri": file.as_uri() if file.is_absolute() else file.as_posix()}}
    if finding.line:
        place["region"] = {"startLine": finding.line, "startColumn": finding.column}
    return {
        "ruleId": _RULE,
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": finding.text},
        "locations": [{"physicalLocation": place}],
    }


FORMATS: Final[Mapping[str, Callable[[Sequence[Finding]], str]]] = {
    "text": as_text,
    "github": as_github,
    "sarif": as_sarif,
    "json": as_json,
}
"""Name to form."""
