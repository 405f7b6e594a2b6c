"""Where findings come from: a line of a deployment file, or of an app."""

import json
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.report import Finding, review
from cdk_trainyard.report.origins import origin_of, origins
from cdk_trainyard.report.page import page
from cdk_trainyard.report.sarif import as_sarif

OURS = {
    "type": "cdk_trainyard:origin",
    "data": {"written": "deployments/mine.yaml:12:3", "made": "cdk_trainyard.storage.lustre:62"},
}


def trace(*lines: str) -> dict[str, Any]:
    return {"type": "aws:cdk:creationStack", "data": [*lines]}


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ([OURS], ("deployments/mine.yaml:12:3", "cdk_trainyard.storage.lustre:62")),
        ([trace("new Mine (lib/mine.ts:14:5)", "Object.<anonymous> (bin/app.ts:9:1)")], ("lib/mine.ts:14:5", "")),
        (
            [trace("new Bucket (node_modules/aws-cdk-lib/s3.js:1:2)", "at C:/app/mine.ts:3:4")],
            ("C:/app/mine.ts:3:4", ""),
        ),
        ([trace("new Mine (lib/mine.ts:14:5)"), OURS], ("deployments/mine.yaml:12:3", OURS["data"]["made"])),
        ([trace("...jsii runtime, node internals...", "(no user code in 10 frames)")], None),
        ([{"type": "aws:cdk:logicalId", "data": "A"}, "?", None], None),
        ("nothing", None),
    ],
)
def test_what_metadata_says(entries: Any, found: Any) -> None:
    assert origins({"/S/A": entries}).get("S/A") == found


def test_the_nearest_construct_above_says_it() -> None:
    known = {"S": ("a:1:1", "x:1"), "S/A": ("", "y:2")}
    assert origin_of("S/A/B", known) == ("a:1:1", "y:2")
    assert origin_of("T/A", known) == ("", "")


@pytest.fixture
def found(assembly: Any) -> dict[str, Any]:
    """Two findings: of a resource that somebody asked for, and of one that nobody says anything about."""
    resource = {"Type": "AWS::S3::Bucket"}
    out: Path = assembly(
        S={name: {**resource, "Metadata": {"aws:cdk:path": f"S/{name}/Resource"}} for name in ("A", "B")}
    )
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["artifacts"]["S"]["metadata"] = {"/S/A": [OURS]}
    (out / "manifest.json").write_text(json.dumps(manifest))
    findings = [Finding(tools=("t",), rules=("r",), severity="error", text=name, place=f"S/{name}") for name in "AB"]
    return review(out, findings=findings, tools=["t"])


def test_a_finding_has_its_lines(found: dict[str, Any]) -> None:
    assert [(each["written"], each["made"]) for each in found["findings"]] == [
        ("deployments/mine.yaml:12:3", "cdk_trainyard.storage.lustre:62"),
        ("", ""),
    ]
    said = '<span class="note">deployments/mine.yaml:12:3, cdk_trainyard.storage.lustre:62</span>'
    assert said in page(found).replace("<wbr>", "")


def test_lines_of_a_hostile_assembly_are_text(found: dict[str, Any]) -> None:
    for name in ("written", "made", "place"):
        found["findings"][0][name] = "<script>alert(1)</script>"
    assert "<script>alert" not in page(found).replace("<wbr>", "")


def test_code_scanning_shows_it_at_the_line_of_the_deployment_file(found: dict[str, Any]) -> None:
    results = json.loads(as_sarif(found))["runs"][0]["results"]
    assert [each["locations"][0]["physicalLocation"] for each in results] == [
        {"artifactLocation": {"uri": "deployments/mine.yaml"}, "region": {"startLine": 12}},
        {"artifactLocation": {"uri": "S.template.json"}, "region": {"startLine": 1}},
    ]


@pytest.mark.parametrize("written", ["/home/me/mine.yaml:12:3", "../mine.yaml:12:3", "C:/mine.yaml:1:1", "mine.yaml"])
def test_a_file_outside_of_the_repository_is_no_place_for_code_scanning(found: dict[str, Any], written: str) -> None:
    found["findings"][0]["written"] = written
    place = json.loads(as_sarif(found))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "S.template.json"}
