"""Findings of rule packs and validators, merged where two say the same, each with its place and its reason."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from cdk_trainyard.report.assembly import Assembly, Resource, trimmed
from cdk_trainyard.report.origins import Origins, origin_of

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
        part: The property that it is about: ``InstanceGroups.1.InstanceType``. Default - the whole resource.
        key: The resource, as far as it is one of the assembly.
        type: Its type, as far as it is known.
        reason: Why it is accepted. Nothing: it is open.
        written: Where its app or its deployment file asks for it, as far as the assembly says.
        made: What of a library makes the resource, as far as the assembly says.
    """

    tools: tuple[str, ...]
    rules: tuple[str, ...]
    severity: str
    text: str
    place: str
    part: str = ""
    key: str = ""
    type: str = ""
    reason: str = ""
    written: str = ""
    made: str = ""

    @property
    def is_open(self) -> bool:
        """Whether nobody has accepted it."""
        return not self.reason


def findings_of(assembly: Assembly) -> list[Finding]:
    """Return the findings of an assembly's ``validation-report.json``.

    Args:
        assembly: The assembly.
    """
    found = [
        finding
        for report in _reports(assembly)
        for accepted, violation in _violations(report)
        for finding in _each(str(report.get("pluginName", "?")), violation, accepted=accepted)
    ]
    return merged(found, assembly)


def tools_of(assembly: Assembly) -> list[str]:
    """Return the tools whose findings an assembly has.

    Args:
        assembly: The assembly.
    """
    return sorted({str(each.get("pluginName", "?")) for each in _reports(assembly)})


def libraries_of(assembly: Assembly) -> list[str]:
    """Return the libraries of the constructs that an assembly's findings are about, with their versions.

    Args:
        assembly: The assembly.
    """
    constructs = (
        each
        for report in _reports(assembly)
        for _, violation in _violations(report)
        for each in violation.get("violatingConstructs") or []
    )
    named = ((str(each.get("constructFqn", "")).partition(".")[0], each.get("libraryVersion")) for each in constructs)
    return sorted({f"{library} {version}" for library, version in named if library and isinstance(version, str)})


def _reports(assembly: Assembly) -> list[Mapping[str, Any]]:
    reports = (assembly.validation or {}).get("pluginReports")
    return reports if isinstance(reports, list) else []


def _violations(report: Mapping[str, Any]) -> Iterator[tuple[bool, Mapping[str, Any]]]:
    """Yield what a tool says, and whether it is accepted."""
    for accepted, name in ((False, "violations"), (True, "suppressedViolations")):
        yield from ((accepted, violation) for violation in report.get(name) or [])


def _each(tool: str, violation: Mapping[str, Any], *, accepted: bool) -> Iterator[Finding]:
    for construct in violation.get("violatingConstructs") or [{}]:
        resource = construct.get("cloudFormationResource") or {}
        yield Finding(
            tools=(tool,),
            rules=(str(violation.get("ruleName", "?")),),
            severity=severity_of(str(violation.get("severity", ""))),
            text=_text(str(violation.get("description", ""))),
            place=str(construct.get("constructPath") or resource.get("logicalId") or "the app"),
            part=part_of(next(iter(resource.get("propertyPaths") or []), "")),
            reason=str(violation.get("reason") or "no reason is given") if accepted else "",
        )


def part_of(said: Any) -> str:
    """Return a property as `Finding` has it.

    Args:
        said: As a tool says it: names and numbers, in a list or with dots between them, behind ``Properties``.
    """
    path = ".".join(map(str, said)) if isinstance(said, list) else str(said or "")
    return path.partition("Properties.")[2]


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
    known = assembly.origins
    placed = [_placed(each, by_path.get(trimmed(each.place)), known) for each in findings]
    found: dict[tuple[str, str, str, str], Finding] = {}
    accepted: dict[tuple[str, str], str] = {}
    lines: dict[tuple[str, str, str], str] = {}
    for finding in sorted(placed, key=lambda each: (each.is_open, not each.part)):
        place, meaning = finding.place, _meaning(finding)
        if meaning not in finding.rules:  # what another tool has accepted for this place is accepted
            reason = accepted.setdefault((place, meaning), finding.reason)
        else:
            reason = finding.reason
        # what is said of a resource that another says of a property of it, is said of the property
        first = lines.setdefault((place, meaning, reason), finding.written)
        same = (place, meaning, reason, finding.written if finding.part else first)
        found[same] = _together(found[same], finding) if same in found else finding
    return sorted(
        found.values(), key=lambda each: (not each.is_open, SEVERITIES.index(each.severity), each.place, each.rules)
    )


def _placed(finding: Finding, resource: Resource | None, known: Origins) -> Finding:
    """Return a finding with what is known of its place; of a property that has no line of its own, it is of all."""
    place = trimmed(finding.place)
    origin = resource.origin if resource else origin_of(place, known)
    written = origin.of(finding.part)
    placed = replace(finding, place=place, written=written, made=origin.made)
    if written == origin.written:
        placed = replace(placed, part="")
    return replace(placed, key=resource.key, type=resource.type) if resource else placed


def _together(one: Finding, other: Finding) -> Finding:
    is_another = {*one.tools} & {*other.tools} and other.text not in one.text
    return replace(
        one,
        tools=tuple(dict.fromkeys((*one.tools, *other.tools))),
        rules=tuple(dict.fromkeys((*one.rules, *other.rules))),
        severity=min(one.severity, other.severity, key=SEVERITIES.index),
        text=f"{one.text}; {other.text}" if is_another else one.text,
        reason=one.reason if other.reason in one.reason else f"{one.reason}; {other.reason}",
    )


_SAME: Final = (
    ("AwsSolutions-S1", "S3BucketLoggingEnabled", "CKV_AWS_18"),
    ("AwsSolutions-S2", "S3BucketLevelPublicAccessProhibited", *(f"CKV_AWS_{number}" for number in (53, 54, 55, 56))),
    ("AwsSolutions-S10", "S3BucketSSLRequestsOnly"),
    ("S3BucketVersioningEnabled", "CKV_AWS_21"),
    ("AwsSolutions-ELB2", "ELBLoggingEnabled", "CKV_AWS_91"),
    ("ALBHttpDropInvalidHeaderEnabled", "CKV_AWS_131"),
    ("ELBv2ACMCertificateRequired", "CKV_AWS_2", "CKV_AWS_103"),
    ("AwsSolutions-VPC7", "VPCFlowLogsEnabled"),
    ("CloudWatchLogGroupRetentionPeriod", "CKV_AWS_66"),
    ("CloudWatchLogGroupEncrypted", "CKV_AWS_158"),
    ("LambdaConcurrency", "CKV_AWS_115"),
    ("LambdaDLQ", "CKV_AWS_116"),
    ("LambdaInsideVPC", "CKV_AWS_117"),
    ("SecretsManagerUsingKMSKey", "CKV_AWS_149"),
    ("AwsSolutions-RDS2", "RDSStorageEncrypted", "CKV_AWS_16"),
    ("AwsSolutions-RDS3", "RDSMultiAZSupport", "CKV_AWS_157"),
    ("RDSInstancePublicAccess", "CKV_AWS_17"),
    ("AwsSolutions-KMS5", "KMSBackingKeyRotationEnabled", "CKV_AWS_7"),
    ("SNSEncryptedKMS", "CKV_AWS_26"),
    ("AwsSolutions-DDB3", "DynamoDBPITREnabled", "CKV_AWS_28"),
)
"""Rules of several packs that say the same. Source: RULES.md of cdk-nag 3.0.2 and checkov 3.3.30's checks of
CloudFormation; cfn-lint and AWS's template validation have the same numbers (E3002 and F3002)."""
_MEANINGS: Final = {rule: f"as {same[0]}" for same in _SAME for rule in same}
_NUMBER: Final = re.compile(r"[EFWI](\d{4})")


def _meaning(finding: Finding) -> str:
    rule = finding.rules[0]
    number = _NUMBER.fullmatch(rule)
    return f"rule {number[1]}" if number else _MEANINGS.get(rule.removeprefix("NIST.800.53.R5-"), rule)
