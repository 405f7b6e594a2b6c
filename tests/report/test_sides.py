"""Which stack of what there is is which of what there will be."""

import json
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.report import review

TOPIC = {"Type": "AWS::SNS::Topic"}
BUCKET = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "new"}}
ROLE = {"Type": "AWS::IAM::Role", "Properties": {"ManagedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]}}
NAT = {"Type": "AWS::EC2::NatGateway"}
STACKS = {"Data": {"Bucket": BUCKET}, "Other": {"Role": ROLE, "Nat": NAT}}


@pytest.fixture
def deployed(tmp_path: Path) -> Path:
    """Return a deployed stack's template, in a file that is called something else."""
    old = {**BUCKET, "Properties": {"BucketName": "old"}}
    file = tmp_path / "what-is-there.json"
    file.write_text(json.dumps({"Resources": {"Bucket": old, "Gone": TOPIC}}))
    return file


def rows(change: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["where"], each["effect"]) for each in change["rows"]]


def test_a_template_is_held_against_its_own_stack_alone(assembly: Any, deployed: Path) -> None:
    found = review(assembly(**STACKS), against=deployed)
    assert rows(found["change"]) == [("Data/Bucket", "lost"), ("Data/Gone", "removed")]
    assert found["change"]["sentence"].startswith("In Data alone: 1 resource with data")
    assert found["change"]["widened"] == []
    assert found["change"]["cost"] == {"before": "not priced", "after": "not priced"}
    assert "what changes in stacks other than Data" in found["not_checked"]


def test_a_stack_of_the_same_name_goes_before_one_that_shares_more(assembly: Any, tmp_path: Path) -> None:
    file = tmp_path / "Other.template.json"
    file.write_text(json.dumps({"Resources": {"Bucket": BUCKET, "Nat": NAT}}))
    found = review(assembly(**STACKS, More={"Bucket": BUCKET, "Nat": NAT}), against=file)
    assert rows(found["change"]) == [("Other/Bucket", "lost"), ("Other/Role", "added")]


def test_a_new_template_is_held_against_its_own_stack_too(assembly: Any, deployed: Path) -> None:
    found = review(deployed, against=assembly(**STACKS))
    assert rows(found["change"]) == [("what-is-there/Bucket", "lost"), ("what-is-there/Gone", "added")]


def test_a_template_of_another_app_removes_and_adds_everything(assembly: Any, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"Resources": {"Topic": TOPIC}}))
    change = review(assembly(**STACKS), against=file)["change"]
    assert change["stack"] == ""
    assert sorted(effect for _, effect in rows(change)) == ["added", "added", "added", "removed"]


@pytest.mark.parametrize("body", [{"Resources": {"A": TOPIC}}, "Resources:\n  A:\n    Type: AWS::SNS::Topic\n"])
def test_what_get_template_prints_is_a_template(body: Any, tmp_path: Path) -> None:
    """``aws cloudformation get-template`` gives the template, or its text where it was YAML, as TemplateBody."""
    file = tmp_path / "deployed.json"
    file.write_text(json.dumps({"StagesAvailable": ["Original", "Processed"], "TemplateBody": body}))
    assert review(file)["stacks"][0]["types"] == {"AWS::SNS::Topic": 1}


def test_what_get_template_prints_is_judged_as_any_template(tmp_path: Path) -> None:
    file = tmp_path / "deployed.json"
    file.write_text(json.dumps({"TemplateBody": "Resources: ["}))
    with pytest.raises(ConfigurationError, match="is neither JSON nor YAML"):
        review(file)
