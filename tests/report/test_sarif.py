"""Findings: merged, placed, and said to machines."""

import json
from typing import Any

import pytest

from cdk_trainyard.report import Finding, review
from cdk_trainyard.report.sarif import as_markdown, as_sarif


def violation(rule: str, *paths: str, severity: str = "error", reason: str = "") -> dict[str, Any]:
    given = {"reason": reason} if reason else {}
    constructs = [{"constructPath": path} for path in paths]
    description = f"About {rule} - (Control IDs: AC-4(21), and a hundred more)."
    return {
        "ruleName": rule,
        "description": description,
        "severity": severity,
        "violatingConstructs": constructs,
        **given,
    }


def plugin(name: str, *violations: Any, suppressed: Any = ()) -> dict[str, Any]:
    return {"pluginName": name, "violations": [*violations], "suppressedViolations": [*suppressed]}


@pytest.fixture
def found(assembly: Any) -> dict[str, Any]:
    """Two packs that say the same of a bucket, one open warning, and one that is accepted."""
    resource = {"Type": "AWS::S3::Bucket", "Metadata": {"aws:cdk:path": "S/Data/Resource"}}
    out = assembly(S={"DataA1B2": resource})
    plugins = [
        plugin("AwsSolutions", violation("AwsSolutions-S1", "S/Data/Resource")),
        plugin(
            "NIST.800.53.R5",
            violation("NIST.800.53.R5-S3BucketLoggingEnabled", "S/Data/Resource", severity="warning"),
            violation("NIST.800.53.R5-Other", "S/Elsewhere", severity="warning"),
            suppressed=[violation("NIST.800.53.R5-S3BucketVersioningEnabled", "S/Data/Resource", reason="logs only")],
        ),
    ]
    (out / "validation-report.json").write_text(json.dumps({"pluginReports": plugins}))
    return review(out)


def test_what_two_packs_say_of_one_place_is_one_finding(found: dict[str, Any]) -> None:
    first, second, third = found["findings"]
    assert first["rules"] == ["AwsSolutions-S1", "NIST.800.53.R5-S3BucketLoggingEnabled"]
    assert first["tools"] == ["AwsSolutions", "NIST.800.53.R5"]
    assert (first["severity"], first["place"], first["resource"]) == ("error", "S/Data", "S/DataA1B2")
    assert first["text"] == "About AwsSolutions-S1"
    assert (second["place"], second["severity"], second["resource"]) == ("S/Elsewhere", "warning", "")
    assert (third["reason"], third["place"]) == ("logs only", "S/Data")
    assert found["verdict"]["open"] == {"error": 1, "warning": 1}
    assert found["verdict"]["accepted"] == 1


def said(tool: str, rule: str, text: str = "x", reason: str = "") -> Finding:
    return Finding(tools=(tool,), rules=(rule,), severity="warning", text=text, place="S/A", reason=reason)


@pytest.mark.parametrize(
    ("findings", "found"),
    [
        (  # what one tool has accepted for a place, another that says the same does not open again
            [said("checkov", "CKV_AWS_18"), said("nag", "AwsSolutions-S1", reason="logs only")],
            [(["AwsSolutions-S1", "CKV_AWS_18"], "x", "logs only")],
        ),
        (
            [said("checkov", "CKV_AWS_18", reason="b"), said("nag", "AwsSolutions-S1", reason="a")],
            [(["CKV_AWS_18", "AwsSolutions-S1"], "x", "b; a")],
        ),
        ([said("v", "F3002", "A: x"), said("cfn-lint", "E3002", "x")], [(["F3002", "E3002"], "A: x", "")]),
        ([said("v", "F3002", "A"), said("v", "F3002", "B"), said("v", "F3002", "A")], [(["F3002"], "A; B", "")]),
        (
            [said("v", "F3002"), said("v", "F3003"), said("nag", "AwsSolutions-S2", reason="r")],
            [(["F3002"], "x", ""), (["F3003"], "x", ""), (["AwsSolutions-S2"], "x", "r")],
        ),
    ],
)
def test_what_tools_say_alike_of_a_place(assembly: Any, findings: list[Finding], found: list[Any]) -> None:
    got = review(assembly(S={"A": {"Type": "AWS::S3::Bucket"}}), findings=findings, tools=["t"])["findings"]
    assert [(each["rules"], each["text"], each["reason"]) for each in got] == found


def test_sarif_has_what_its_readers_require(found: dict[str, Any]) -> None:
    """Indices that fit, places, and suppressions; test_questions.py holds it against the schema."""
    log = json.loads(as_sarif(found))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[each["ruleIndex"]]["id"] for each in run["results"]] == [each["ruleId"] for each in run["results"]]
    assert [each["level"] for each in run["results"]] == ["error", "warning", "error"]
    assert [each.get("suppressions") for each in run["results"]] == [
        None,
        None,
        [{"kind": "external", "justification": "logs only"}],
    ]
    for each in run["results"]:
        (location,) = each["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "S.template.json"
        assert each["message"]["text"].startswith(location["logicalLocations"][0]["fullyQualifiedName"])


def test_a_summary_for_a_pull_request(found: dict[str, Any]) -> None:
    text = as_markdown(found)
    assert "- Findings: 2 open findings, 1 accepted\n" in text
    assert "- error: S/Data: About AwsSolutions-S1 (AwsSolutions-S1)\n" in text


def test_markdown_of_hostile_names_is_text(assembly: Any) -> None:
    evil = "<img src=x>[x](javascript:1)@everyone `x` | **x**"
    resource = {"Type": "AWS::S3::Bucket", "Metadata": {"aws:cdk:path": evil}}
    findings = [Finding(tools=("t",), rules=("r",), severity="error", text=evil, place=evil)]
    text = as_markdown(review(assembly(S={"A": resource}), findings=findings, tools=["t"]))
    assert "\\<img" in text
    assert "<img" not in text.replace("\\<", "")
    assert "](" not in text.replace("\\](", "")
    assert "@everyone" not in text


def test_without_a_rule_pack_nothing_is_called_clean(assembly: Any) -> None:
    found = review(assembly(S={"A": {"Type": "AWS::S3::Bucket"}}))
    assert found["provenance"]["validated"] is False
    assert "- Findings: no rule pack ran, 0 accepted" in as_markdown(found)
