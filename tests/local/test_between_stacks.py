"""What stacks have to do with one another: exports, weak references, nesting."""

import json
from typing import Any

import pytest

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, outputs_of, template

_TOPIC = {"Type": "AWS::SNS::Topic"}


def parameter(value: Any) -> dict[str, Any]:
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}}


def _producer(export: str, value: Any = None, **more: Any) -> dict[str, Any]:
    output = {"Value": value or {"Ref": "Topic"}, "Export": {"Name": export}}
    return template({"Topic": _TOPIC, **more}, Outputs={"Topic": output})


def test_imports_and_exports(stacks: Stacks) -> None:
    producer = stacks.deployed(_producer("shared-topic"))
    consumer = stacks.deployed(template({"Note": parameter({"Fn::ImportValue": "shared-topic"})}))
    assert stacks.client.list_imports(ExportName="shared-topic")["Imports"] == [consumer]
    exports = stacks.exports()
    assert exports["shared-topic"] == stacks.outputs(producer)["Topic"]


def test_an_export_in_use_cannot_change_or_go(stacks: Stacks) -> None:
    producer = stacks.deployed(_producer("used-topic"))
    consumer = stacks.deployed(template({"Note": parameter({"Fn::ImportValue": "used-topic"})}))
    assert stacks.update(producer, template({"Topic": _TOPIC})) == "UPDATE_ROLLBACK_COMPLETE"
    assert f"Export used-topic cannot be deleted as it is in use by {consumer}" in "".join(stacks.reasons(producer))
    assert stacks.update(producer, _producer("used-topic", "other")) == "UPDATE_ROLLBACK_COMPLETE"
    assert f"Export used-topic cannot be updated as it is in use by {consumer}" in "".join(stacks.reasons(producer))
    status = stacks.status(producer)
    assert stacks.delete(producer) == status
    reason = stacks.stack(producer)["StackStatusReason"]
    assert reason == f"Export used-topic cannot be deleted as it is in use by {consumer}"
    stacks.delete(consumer)
    assert stacks.delete(producer) == "DELETE_COMPLETE"


def test_fails_on_exports(stacks: Stacks) -> None:
    owner = stacks.deployed(_producer("one-owner"))
    second = stacks.create(_producer("one-owner"))
    assert stacks.status(second) == "ROLLBACK_COMPLETE"
    assert f"Export with name one-owner is already exported by stack {owner}" in "".join(stacks.reasons(second))
    missing = stacks.create(template({"Note": parameter({"Fn::ImportValue": "nobody"})}))
    assert stacks.status(missing) == "ROLLBACK_COMPLETE"
    assert "No export named nobody found" in "".join(stacks.reasons(missing))


def test_stack_outputs_are_weak_references(stacks: Stacks) -> None:
    producer = stacks.deployed(template({"Topic": _TOPIC}, Outputs=outputs_of(Topic={"Ref": "Topic"})))
    reference = {"Fn::GetStackOutput": {"StackName": producer, "OutputName": "Topic", "Region": "us-west-2"}}
    consumer = stacks.deployed(template({"Note": parameter(reference)}))
    resource = stacks.client.describe_stack_resource(StackName=consumer, LogicalResourceId="Note")
    name = resource["StackResourceDetail"]["PhysicalResourceId"]
    value = stacks.aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]
    assert value == stacks.outputs(producer)["Topic"]
    assert stacks.delete(producer) == "DELETE_COMPLETE"


def test_fails_on_stack_outputs(stacks: Stacks) -> None:
    producer = stacks.deployed(template({"Topic": _TOPIC}))
    for stack, message in (("nobody", "stack nobody does not exist"), (producer, f"stack {producer} has no output X")):
        reference = {"Fn::GetStackOutput": {"StackName": stack, "OutputName": "X"}}
        name = stacks.create(template({"Note": parameter(reference)}))
        assert message in "".join(stacks.reasons(name))


@pytest.mark.usefixtures("support")
def test_nested_stacks(stacks: Stacks, aws: LocalAws) -> None:
    bucket = stacks.exports()["Bucket"]

    def upload(value: str) -> str:
        inner = template(
            {"Note": parameter({"Ref": "Text"})},
            Parameters={"Text": {"Type": "String"}},
            Outputs=outputs_of(Note={"Ref": "Note"}, Kind=value),
        )
        aws.client("s3").put_object(Bucket=bucket, Key=f"{value}.json", Body=json.dumps(inner))
        return f"https://s3.us-west-2.amazonaws.com/{bucket}/{value}.json"

    def body(url: str, text: str) -> dict[str, Any]:
        nested = {
            "Type": "AWS::CloudFormation::Stack",
            "Properties": {"TemplateURL": url, "Parameters": {"Text": text}},
        }
        return template({"Nested": nested}, Outputs=outputs_of(Kind={"Fn::GetAtt": ["Nested", "Outputs.Kind"]}))

    name = stacks.deployed(body(upload("one"), "first"))
    nested = stacks.physical_id(name, "Nested")
    assert stacks.outputs(name) == {"Kind": "one"}
    assert stacks.stack(nested)["ParentId"] == stacks.stack(name)["StackId"]
    assert stacks.update(name, body(upload("two"), "second")) == "UPDATE_COMPLETE"
    assert stacks.physical_id(name, "Nested") == nested
    assert stacks.outputs(name) == {"Kind": "two"}
    note = stacks.outputs(nested)["Note"]
    assert aws.client("ssm").get_parameter(Name=note)["Parameter"]["Value"] == "second"
    assert stacks.delete(name) == "DELETE_COMPLETE"
    assert stacks.status(nested) == "DELETE_COMPLETE"
