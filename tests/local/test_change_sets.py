"""Change sets: what they say before anything is done, and what happens when they are executed."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.local.stacks import Stacks, Template, outputs_of, template

_TOPIC = {"Type": "AWS::SNS::Topic"}


def _vpc(cidr: str, tag: str = "one") -> Template:
    return {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": cidr, "Tags": [{"Key": "t", "Value": tag}]}}


def _note(value: Any) -> Template:
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}}


def _change_set(stacks: Stacks, stack: str, body: Template, kind: str = "UPDATE", **more: Any) -> dict[str, Any]:
    stacks.client.create_change_set(
        StackName=stack, ChangeSetName="change", ChangeSetType=kind, TemplateBody=json.dumps(body), **more
    )
    found: dict[str, Any] = stacks.client.describe_change_set(StackName=stack, ChangeSetName="change")
    return found


def _changes(found: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    rows = [row["ResourceChange"] for row in found["Changes"]]
    return {row["LogicalResourceId"]: (row["Action"], row.get("Replacement")) for row in rows}


def test_a_stack_is_created_by_its_change_set(stacks: Stacks) -> None:
    name = stacks.name()
    body = template({"Topic": _TOPIC}, Outputs=outputs_of(Topic={"Ref": "Topic"}))
    found = _change_set(stacks, name, body, "CREATE")
    assert _changes(found) == {"Topic": ("Add", None)}
    assert stacks.status(name) == "REVIEW_IN_PROGRESS"
    stacks.client.execute_change_set(StackName=name, ChangeSetName="change")
    assert stacks.status(name) == "CREATE_COMPLETE"
    assert stacks.outputs(name)["Topic"] == stacks.physical_id(name, "Topic")


def test_changes_are_told_with_their_replacements(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Vpc": _vpc("10.30.0.0/16"), "Note": _note({"Ref": "Vpc"}), "Gone": _TOPIC}))
    found = _change_set(
        stacks, name, template({"Vpc": _vpc("10.31.0.0/16"), "Note": _note({"Ref": "Vpc"}), "New": _TOPIC})
    )
    assert _changes(found) == {
        "Vpc": ("Modify", "True"),
        "Note": ("Modify", "False"),
        "New": ("Add", None),
        "Gone": ("Remove", None),
    }
    details = {row["ResourceChange"]["LogicalResourceId"]: row["ResourceChange"]["Details"] for row in found["Changes"]}
    target = details["Vpc"][0]["Target"]
    assert (target["Name"], target["RequiresRecreation"], target["AfterValue"]) == (
        "CidrBlock",
        "Always",
        "10.31.0.0/16",
    )
    assert details["Note"][0]["Evaluation"] == "Dynamic"
    assert stacks.physical_id(name, "Gone"), "nothing is done yet"


def test_a_replacement_that_depends_on_another_is_conditional(stacks: Stacks) -> None:
    def body(cidr: str) -> Template:
        group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "g", "VpcId": {"Ref": "Vpc"}}}
        return template({"Vpc": _vpc(cidr), "Group": group})

    name = stacks.deployed(body("10.32.0.0/16"))
    assert _changes(_change_set(stacks, name, body("10.33.0.0/16")))["Group"] == ("Modify", "Conditional")


def test_a_change_of_tags_replaces_nothing(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Vpc": _vpc("10.34.0.0/16")}))
    found = _change_set(stacks, name, template({"Vpc": _vpc("10.34.0.0/16", "two")}))
    assert _changes(found) == {"Vpc": ("Modify", "False")}
    assert found["Changes"][0]["ResourceChange"]["Scope"] == ["Tags"]


def test_a_change_set_without_changes_fails(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}))
    found = _change_set(stacks, name, template({"Topic": _TOPIC}))
    assert (found["Status"], found["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert found["StatusReason"].startswith("The submitted information didn't contain changes.")
    with pytest.raises(ClientError, match="cannot be executed"):
        stacks.client.execute_change_set(StackName=name, ChangeSetName="change")


def test_a_change_of_outputs_alone_is_a_change(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}))
    found = _change_set(stacks, name, template({"Topic": _TOPIC}, Outputs=outputs_of(Said="yes")))
    assert found["Status"] == "CREATE_COMPLETE"
    stacks.client.execute_change_set(StackName=name, ChangeSetName="change")
    assert stacks.outputs(name) == {"Said": "yes"}


def test_one_name_serves_many_stacks(stacks: Stacks) -> None:
    """The CDK CLI calls every change set ``cdk-deploy-change-set``."""
    first, second = stacks.name(), stacks.name()
    _change_set(stacks, first, template({"First": _TOPIC}), "CREATE")
    _change_set(stacks, second, template({"Second": _TOPIC}), "CREATE")
    found = stacks.client.describe_change_set(StackName=first, ChangeSetName="change")
    assert list(_changes(found)) == ["First"]
    stacks.client.delete_change_set(StackName=first, ChangeSetName="change")
    assert stacks.client.list_change_sets(StackName=first)["Summaries"] == []
    assert len(stacks.client.list_change_sets(StackName=second)["Summaries"]) == 1
    with pytest.raises(ClientError, match=r"ChangeSet \[change\] does not exist"):
        stacks.client.describe_change_set(StackName=first, ChangeSetName="change")


def test_parameters_can_be_as_before(stacks: Stacks) -> None:
    def body(description: str) -> Template:
        declared = {"Text": {"Type": "String"}}
        return template({"Note": _note({"Ref": "Text"})}, Parameters=declared, Description=description)

    name = stacks.deployed(body("one"), Parameters=[{"ParameterKey": "Text", "ParameterValue": "kept"}])
    as_before = [{"ParameterKey": "Text", "UsePreviousValue": True}]
    found = _change_set(stacks, name, body("two"), Parameters=as_before)
    assert found["Parameters"] == [{"ParameterKey": "Text", "ParameterValue": "kept"}]
    assert found["Changes"] == []


def test_the_previous_template_can_be_used(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}))
    stacks.client.create_change_set(
        StackName=name, ChangeSetName="tags", UsePreviousTemplate=True, Tags=[{"Key": "a", "Value": "b"}]
    )
    found = stacks.client.describe_change_set(StackName=name, ChangeSetName="tags")
    assert _changes(found) == {"Topic": ("Modify", "False")}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"ChangeSetType": "IMPORT", "TemplateBody": "{}"}, "importing resources into a stack is not emulated"),
        ({"ChangeSetType": "UPDATE", "TemplateBody": "{}"}, r"Stack \[nobody\] does not exist"),
        ({"ChangeSetType": "CREATE"}, "Either Template URL or Template Body must be specified"),
        (
            {"ChangeSetType": "CREATE", "TemplateURL": "https://s3.amazonaws.com/no-bucket/key"},
            "S3 error: https://s3.amazonaws.com/no-bucket/key: The specified bucket does not exist",
        ),
    ],
)
def test_fails(stacks: Stacks, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        stacks.client.create_change_set(StackName="nobody", ChangeSetName="change", **more)
