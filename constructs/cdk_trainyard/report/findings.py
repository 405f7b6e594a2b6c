"""Findings of rule packs and validators, merged where two say the same, each with its place and its reason."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from cdk_trainyard.report.assembly import Assembly

SEVERITIES: Final = ("error", "warning", "info")
"""The worst first."""
_LIKE: Final = {"fatal": "error", "critical": "error", "high": "error", "warn": "warning", "medium": "warning"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What a tool says about a place.

    Attributes:
        tools: The tools that say so.
        rules: Their rules.
        severity: ``error``, ``warning`` or ``info``.
        text: What is wrong.
        place: Construct path, or logical id.
        key: The resource, as far as it is one of the assembly.
        type: Its type, as far as it is known.
        reason: Why it is accepted. Nothing: it is open.
    """

    tools: tuple[str, ...]
    rules: tuple[str, ...]
    severity: str
    text: str
    place: str
    key: str = ""
    type: str = ""
    reason: str = ""

    @property
    def is_open(self) -> bool:
        """Whether nobody has accepted it."""
        return not self.reason


def findings_of(assembly: Assembly) -> list[Finding]:
    """Return the findings of an assembly's ``validation-report.json``.

    Args:
        assembly: The assembly.
    """
    reports = (assembly.validation or {}).get("pluginReports")
    found: list[Finding] = []
    for report in reports if isinstance(reports, list) else []:
        tool = str(report.get("pluginName", "?"))
        for accepted, name in ((False, "violations"), (True, "suppressedViolations")):
            for violation in report.get(name) or []:
                found += _each(tool, violation, accepted=accepted)
    return merged(found, assembly)


def tools_of(assembly: Assembly) -> list[str]:
    """Return the tools whose findings an assembly has.

    Args:
        assembly: The assembly.
    """
    reports = (assembly.validation or {}).get("pluginReports")
    return sorted({str(each.get("pluginName", "?")) for each in reports}) if isinstance(reports, list) else []


def _each(tool: str, violation: Mapping[str, Any], *, accepted: bool) -> Iterator[Finding]:
    for construct in violation.get("violatingConstructs") or [{}]:
        resource = construct.get("cloudFormationResource") or {}
        yield Finding(
            tools=(tool,),
            rules=(str(violation.get("ruleName", "?")),),
            severity=severity_of(str(violation.get("severity", ""))),
            text=_text(str(violation.get("description", ""))),
            place=str(construct.get("constructPath") or resource.get("logicalId") or "the app"),
            reason=str(violation.get("reason") or "no reason is given") if accepted else "",
        )


def _text(description: str) -> str:
    """Return a description without cdk-nag's list of control ids, which is longer than the sentence."""
    return description.partition(" - (Control ID")[0].strip()


def severity_of(said: str) -> str:
    """Return a tool's severity as one of `SEVERITIES`.

    Args:
        said: What the tool calls it.
    """
    low = said.lower()
    return low if low in SEVERITIES else _LIKE.get(low, "info")


def merged(findings: Iterable[Finding], assembly: Assembly) -> list[Finding]:
    """Return findings with their resources; those of one place and one meaning are one. The worst first.

    Args:
        findings: The findings.
        assembly: What they are about.
    """
    by_path = {each.path: each for each in assembly.resources.values()}
    found: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        path = _trimmed(finding.place)
        resource = by_path.get(path)
        placed = replace(
            finding, place=path, key=resource.key if resource else "", type=resource.type if resource else ""
        )
        same = (path, _meaning(placed), placed.reason)
        found[same] = _together(found[same], placed) if same in found else placed
    return sorted(
        found.values(), key=lambda each: (not each.is_open, SEVERITIES.index(each.severity), each.place, each.rules)
    )


def _together(one: Finding, other: Finding) -> Finding:
    return replace(
        one,
        tools=tuple(dict.fromkeys((*one.tools, *other.tools))),
        rules=tuple(dict.fromkeys((*one.rules, *other.rules))),
        severity=min(one.severity, other.severity, key=SEVERITIES.index),
    )


_MEANINGS: Final = {
    "AwsSolutions-S1": "access log of a bucket",
    "S3BucketLoggingEnabled": "access log of a bucket",
    "CKV_AWS_18": "access log of a bucket",
    "AwsSolutions-S10": "TLS only",
    "S3BucketSSLRequestsOnly": "TLS only",
    "AwsSolutions-ELB2": "access log of a load balancer",
    "ELBLoggingEnabled": "access log of a load balancer",
    "CKV_AWS_91": "access log of a load balancer",
    "AwsSolutions-VPC7": "flow logs",
    "VPCFlowLogsEnabled": "flow logs",
    "CKV_AWS_66": "retention of logs",
    "CloudWatchLogGroupRetentionPeriod": "retention of logs",
    "CKV_AWS_158": "key of logs",
    "CloudWatchLogGroupEncrypted": "key of logs",
}
"""Rules of several packs that say the same. Source: RULES.md of cdk-nag 3.0.2 and checkov 3.3.30's list of policies."""


def _meaning(finding: Finding) -> str:
    rule = finding.rules[0]
    return _MEANINGS.get(rule.removeprefix("NIST.800.53.R5-"), rule)


def _trimmed(path: str) -> str:
    parts = path.strip("/").split("/")
    while len(parts) > 1 and parts[-1] in {"Resource", "Default"}:
        parts.pop()
    return "/".join(parts)
