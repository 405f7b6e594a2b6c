"""What is wrong with files, said for people, for GitHub's workflow commands, for SARIF readers and as JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.report.sarif import SCHEMA

_RULE: Final = "deployment-file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One problem, or one warning.

    Attributes:
        file: The file.
        line: The line, counted from one. None: the file as a whole.
        column: The column, counted from one.
        text: What is wrong, or may surprise.
        warning: The id of the warning. None: it is a problem.
    """

    file: str
    line: int | None
    column: int | None
    text: str
    warning: str | None = None


def as_text(findings: Sequence[Finding]) -> str:
    """Return a line for each problem, ``file:line:column: text``, and for each warning, with that word.

    Args:
        findings: The problems and the warnings.
    """
    return "".join(
        f"{each.file}{f':{each.line}:{each.column}' if each.line else ''}: {'warning: ' if each.warning else ''}"
        f"{each.text}\n"
        for each in findings
    )


def as_github(findings: Sequence[Finding]) -> str:
    """Return GitHub's workflow commands, which become annotations of a pull request.

    Args:
        findings: The problems and the warnings.
    """
    return "".join(
        f"::{'warning' if each.warning else 'error'} file={_property(each.file)}"
        f"{f',line={each.line},col={each.column}' if each.line else ''}::{_data(each.text)}\n"
        for each in findings
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_json(findings: Sequence[Finding]) -> str:
    """Return the problems as data, and the warnings.

    Args:
        findings: The problems and the warnings.
    """
    problems = [
        {name: value for name, value in asdict(each).items() if name != "warning"}
        for each in findings
        if not each.warning
    ]
    warnings = [asdict(each) for each in findings if each.warning]
    return json.dumps({"problems": problems, "warnings": warnings}, indent=2) + "\n"


def as_sarif(findings: Sequence[Finding]) -> str:
    """Return a SARIF 2.1.0 log of one run.

    Args:
        findings: The problems and the warnings.
    """
    import cdk_trainyard

    driver = {
        "name": "trainyard check",
        "version": cdk_trainyard.__version__,
        "rules": [{"id": _RULE, "shortDescription": {"text": "A deployment file describes what can be deployed."}}],
    }
    run = {"tool": {"driver": driver}, "results": [*map(_result, findings)], "columnKind": "unicodeCodePoints"}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: Finding) -> dict[str, Any]:
    file = Path(finding.file)
    place: dict[str, Any] = {"artifactLocation": {"uri": file.as_uri() if file.is_absolute() else file.as_posix()}}
    if finding.line:
        place["region"] = {"startLine": finding.line, "startColumn": finding.column}
    return {
        "ruleId": _RULE,
        "ruleIndex": 0,
        "level": "warning" if finding.warning else "error",
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
