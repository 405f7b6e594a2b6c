"""Where findings come from: a line of a deployment file, or of an app."""

import json
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.report import Finding, review
from cdk_trainyard.report.findings import part_of
from cdk_trainyard.report.origins import Origin, origin_of, origins
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
        ([OURS], Origin(written="deployments/mine.yaml:12:3", made="cdk_trainyard.storage.lustre:62")),
        (
            [trace("new Mine (lib/mine.ts:14:5)", "Object.<anonymous> (bin/app.ts:9:1)")],
            Origin(written="lib/mine.ts:14:5"),
        ),
        (
            [trace("new Bucket (node_modules/aws-cdk-lib/s3.js:1:2)", "at C:/app/mine.ts:3:4")],
            Origin(written="C:/app/mine.ts:3:4"),
        ),
        (
            [trace("new Mine (lib/mine.ts:14:5)"), OURS],
            Origin(written="deployments/mine.yaml:12:3", made=OURS["data"]["made"]),
        ),
        ([trace("...jsii runtime, node internals...", "(no user code in 10 frames)")], None),
        ([{"type": "aws:cdk:logicalId", "data": "A"}, "?", None], None),
        ("nothing", None),
    ],
)
def test_what_metadata_says(entries: Any, found: Any) -> None:
    assert origins({"/S/A": entries}).get("S/A") == found


def test_the_nearest_construct_above_says_it() -> None:
    known = {"S": Origin(written="a:1:1", made="x:1"), "S/A": Origin(made="y:2", properties={"P": "a:2:1"})}
    assert origin_of("S/A/B", known) == Origin(written="a:1:1", made="y:2")
    assert origin_of("S/A/B", known).properties == {}
    assert origin_of("S/A", known).properties == {"P": "a:2:1"}
    assert origin_of("T/A", known) == Origin()


def test_a_property_has_the_nearest_line_around_it() -> None:
    origin = Origin(written="a:1:1", properties={"Groups.1": "a:2:1", "Groups.1.Count": "a:3:1"})
    said = {path: origin.of(path) for path in ("", "Name", "Groups.0", "Groups.1.Type.0", "Groups.1.Count")}
    assert [*said.values()] == ["a:1:1", "a:1:1", "a:1:1", "a:2:1", "a:3:1"]


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


def test_a_finding_on_a_property_has_its_line_and_one_on_a_construct_the_nearest(assembly: Any) -> None:
    """Two tools that say the same have one finding, though one of them does not know of which item it speaks."""
    groups = {"Type": "AWS::SageMaker::Cluster", "Metadata": {"aws:cdk:path": "S/C/Resource"}}
    out: Path = assembly(S={"C": groups})
    manifest = json.loads((out / "manifest.json").read_text())
    lines = {"InstanceGroups.0": "m.yaml:3:5", "InstanceGroups.1": "m.yaml:7:5"}
    said = {"type": OURS["type"], "data": {"written": "m.yaml:1:1", "made": "x:1", "properties": lines}}
    manifest["artifacts"]["S"]["metadata"] = {"/S/C": [said]}
    (out / "manifest.json").write_text(json.dumps(manifest))

    def finding(tool: str, rule: str, part: str, place: str = "S/C") -> Finding:
        return Finding(tools=(tool,), rules=(rule,), severity="error", text=f"{part}: no", place=place, part=part)

    given = [
        finding("one", "E3644", "InstanceGroups.InstanceType"),
        finding("other", "E3644", "InstanceGroups.1.InstanceType"),
        finding("other", "E3034", "InstanceGroups.0.InstanceCount"),
        finding("other", "E3034", "InstanceGroups.1.InstanceCount"),
        finding("one", "note", "", place="S/C/Inner/Deeper"),
    ]
    found = review(out, findings=given, tools=["one", "other"])["findings"]
    assert [(each["rules"], each["written"], each["tools"]) for each in found] == [
        (["E3034"], "m.yaml:3:5", ["other"]),
        (["E3034"], "m.yaml:7:5", ["other"]),
        (["E3644"], "m.yaml:7:5", ["other", "one"]),
        (["note"], "m.yaml:1:1", ["one"]),
    ]


def test_validations_name_the_property_in_their_ways() -> None:
    said = ["Resources", "C", "Properties", "InstanceGroups", 1, "InstanceCount"]
    assert part_of(said) == "InstanceGroups.1.InstanceCount"
    assert part_of("Properties.ClusterName") == "ClusterName"
    assert [part_of(each) for each in ("", None, "Metadata", ["Resources", "C"])] == [""] * 4
