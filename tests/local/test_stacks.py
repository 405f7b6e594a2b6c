"""Stacks: created, updated, rolled back and deleted as CloudFormation does."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.engine import operations, worker
from tests.local.stacks import Stacks, outputs_of, template
from tests.support import every

_TOPIC = {"Type": "AWS::SNS::Topic"}
_BUCKET = {"Type": "AWS::S3::Bucket"}
_BAD = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-00000000", "CidrBlock": "10.0.0.0/24"}}


def parameter(value: Any, **more: Any) -> dict[str, Any]:
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value, **more}}


def _statuses(stacks: Stacks, name: str) -> list[str]:
    return [f"{row['LogicalResourceId']} {row['ResourceStatus']}" for row in stacks.events(name)]


# ---------------------------------------------------------------- creating
def test_events_tell_the_story(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}))
    assert _statuses(stacks, name) == [
        f"{name} CREATE_IN_PROGRESS",
        "Topic CREATE_IN_PROGRESS",
        "Topic CREATE_IN_PROGRESS",
        "Topic CREATE_COMPLETE",
        f"{name} CREATE_COMPLETE",
    ]
    times = [row["Timestamp"] for row in stacks.events(name)]
    assert times == sorted(set(times))


def test_names_are_made_up_and_stay(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(template({"Thing": parameter("one")}))
    made = stacks.physical_id(name, "Thing")
    assert made.startswith(f"{name}-Thing-")
    assert stacks.update(name, template({"Thing": parameter("two")})) == "UPDATE_COMPLETE"
    assert stacks.physical_id(name, "Thing") == made
    assert aws.client("ssm").get_parameter(Name=made)["Parameter"]["Value"] == "two"


def test_resources_have_the_region_and_partition_of_their_stack(aws: LocalAws) -> None:
    for region, partition in (("eu-west-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")):
        client = aws.client("cloudformation", region)
        body = (
            '{"Resources": {"T": {"Type": "AWS::SNS::Topic"}}, "Outputs": {"P": {"Value": {"Ref": "AWS::Partition"}}}}'
        )
        stack_id = client.create_stack(StackName="abroad", TemplateBody=body)["StackId"]
        topic = client.describe_stack_resource(StackName="abroad", LogicalResourceId="T")
        assert stack_id.startswith(f"arn:{partition}:cloudformation:{region}:123456789012:stack/abroad/")
        assert topic["StackResourceDetail"]["PhysicalResourceId"].startswith(f"arn:{partition}:sns:{region}:")
        assert client.describe_stacks(StackName="abroad")["Stacks"][0]["Outputs"][0]["OutputValue"] == partition
        client.delete_stack(StackName="abroad")


def test_conditions_leave_out_resources_and_outputs(stacks: Stacks) -> None:
    body = template(
        {"Always": _TOPIC, "Never": {**_TOPIC, "Condition": "No"}},
        Conditions={"No": {"Fn::Equals": ["a", "b"]}},
        Outputs={"Never": {"Value": {"Ref": "Never"}, "Condition": "No"}},
    )
    name = stacks.deployed(body)
    found = stacks.client.describe_stack_resources(StackName=name)["StackResources"]
    assert [row["LogicalResourceId"] for row in found] == ["Always"]
    assert stacks.outputs(name) == {}


def test_parameters(stacks: Stacks, aws: LocalAws) -> None:
    aws.client("ssm").put_parameter(Name="/tried/value", Type="String", Value="from ssm")
    body = template(
        {"Topic": _TOPIC},
        Parameters={
            "Ssm": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/tried/value"},
            "List": {"Type": "CommaDelimitedList", "Default": "a, b"},
            "Number": {"Type": "Number"},
            "Secret": {"Type": "String", "NoEcho": True, "Default": "hidden"},
        },
        Outputs=outputs_of(
            Ssm={"Ref": "Ssm"},
            List={"Fn::Select": [1, {"Ref": "List"}]},
            Number={"Ref": "Number"},
            Dynamic="{{resolve:ssm:/tried/value}}",
        ),
    )
    name = stacks.deployed(body, Parameters=[{"ParameterKey": "Number", "ParameterValue": "3"}])
    assert stacks.outputs(name) == {"Ssm": "from ssm", "List": "b", "Number": "3", "Dynamic": "from ssm"}
    shown = {row["ParameterKey"]: row for row in stacks.stack(name)["Parameters"]}
    assert shown["Ssm"] == {
        "ParameterKey": "Ssm",
        "ParameterValue": "/tried/value",
        "ResolvedValue": "from ssm",
    }
    assert shown["Secret"]["ParameterValue"] == "****"


@pytest.mark.parametrize(
    ("declared", "sent", "message"),
    [
        ({"A": {"Type": "String"}}, {}, "Parameters: ['A'] must have values"),
        ({}, {"B": "1"}, "Parameters: [B] do not exist in the template"),
        ({"A": {"Type": "String", "AllowedValues": ["x"]}}, {"A": "y"}, "'A' must be one of AllowedValues ['x']"),
        ({"A": {"Type": "String", "AllowedPattern": "[a-z]+"}}, {"A": "1"}, "'A' must match pattern [a-z]+"),
    ],
)
def test_fails_on_parameters(stacks: Stacks, declared: Any, sent: dict[str, str], message: str) -> None:
    body = template({"Topic": _TOPIC}, Parameters=declared)
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in sent.items()]
    with pytest.raises(ClientError) as caught:
        stacks.create(body, Parameters=given)
    assert message in caught.value.response["Error"]["Message"]


def test_fails_on_a_parameter_that_is_not_there(stacks: Stacks) -> None:
    declared = {"A": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/nowhere"}}
    name = stacks.create(template({"Topic": _TOPIC}, Parameters=declared))
    message = "Unable to fetch parameters [/nowhere] from parameter store for this account."
    assert message in stacks.reasons(name)[-1]


def test_rules_are_checked(stacks: Stacks) -> None:
    rule = {
        "Assertions": [
            {
                "Assert": {"Fn::Not": [{"Fn::Contains": [["1", "2"], {"Ref": "Version"}]}]},
                "AssertDescription": "too old",
            }
        ]
    }
    body = template(
        {"Topic": _TOPIC}, Parameters={"Version": {"Type": "String", "Default": "2"}}, Rules={"Check": rule}
    )
    name = stacks.create(body)
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert "rule Check does not hold. too old" in stacks.reasons(name)[-1]


def test_stack_tags_reach_the_resources(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}), Tags=[{"Key": "project", "Value": "training"}])
    found = aws.client("sns").list_tags_for_resource(ResourceArn=stacks.physical_id(name, "Topic"))
    assert found["Tags"] == [{"Key": "project", "Value": "training"}]


# ---------------------------------------------------------------- refusals before anything is created
@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (
            {"A": {"Type": "AWS::Foo::Bar"}},
            (
                "local AWS: AWS::Foo::Bar (A) is not emulated here: of AWS::Foo it knows nothing; "
                "all that it knows: trainyard local types"
            ),
        ),
        ({"A": {}}, "Template format error: ['A'] have no Type"),
        ({"A": {**_TOPIC, "Properties": {"Nmae": "x"}}}, "A: AWS::SNS::Topic has no property Nmae"),
        ({"A": {"Type": "AWS::EC2::Subnet"}}, "A: AWS::EC2::Subnet needs the property VpcId"),
        ({"A": parameter("x", Description={"Ref": "Nobody"})}, "A: unresolved reference to Nobody"),
        (
            {"A": parameter("x", Description={"Fn::GetAtt": ["Nobody", "Arn"]})},
            "A: Fn::GetAtt refers to the undefined resource Nobody",
        ),
        (
            {"A": parameter("x", Description={"Fn::GetAtt": ["B", "Nothing"]}), "B": _TOPIC},
            "A: AWS::SNS::Topic has no attribute Nothing, or it is not emulated",
        ),
        ({"A": {**_TOPIC, "DependsOn": "Nobody"}}, "A: DependsOn refers to the undefined resource Nobody"),
        ({"A": parameter({"Fn::Nonsense": 1})}, "local AWS: the function Fn::Nonsense is not emulated"),
        (
            {"A": parameter({"Ref": "B"}), "B": parameter({"Ref": "A"})},
            "Circular dependency between resources: [A, B]",
        ),
    ],
)
def test_fails_before_anything_is_created(stacks: Stacks, resources: Any, message: str) -> None:
    assert stacks.refusal(template(resources)) == message


def test_fails_with_every_problem_at_once(stacks: Stacks) -> None:
    refusal = stacks.refusal(template({"A": {**_TOPIC, "Properties": {"X": 1, "Y": {"Ref": "Z"}}}}))
    assert refusal.split("; ") == [
        "A: unresolved reference to Z",
        "A: AWS::SNS::Topic has no property X",
        "A: AWS::SNS::Topic has no property Y",
    ]


def test_fails_on_a_name_in_use(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}))
    with pytest.raises(stacks.client.exceptions.AlreadyExistsException):
        stacks.client.create_stack(StackName=name, TemplateBody='{"Resources": {"T": {"Type": "AWS::SNS::Topic"}}}')


# ---------------------------------------------------------------- rolling back a creation
def test_a_failed_creation_leaves_nothing(stacks: Stacks, aws: LocalAws) -> None:
    before = len(every(aws.client("sns"), "list_topics")["Topics"])
    name = stacks.create(template({"Topic": _TOPIC, "Bad": {**_BAD, "DependsOn": "Topic"}}))
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert _statuses(stacks, name)[-6:] == [
        "Bad CREATE_IN_PROGRESS",
        "Bad CREATE_FAILED",
        f"{name} ROLLBACK_IN_PROGRESS",
        "Topic DELETE_IN_PROGRESS",
        "Topic DELETE_COMPLETE",
        f"{name} ROLLBACK_COMPLETE",
    ]
    reason = next(row for row in stacks.reasons(name) if "CREATE_FAILED" in row)
    assert "The vpc ID 'vpc-00000000' does not exist" in reason
    assert len(every(aws.client("sns"), "list_topics")["Topics"]) == before
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_a_failed_creation_keeps_what_its_policy_says(stacks: Stacks, aws: LocalAws) -> None:
    kept, not_yet = {**_BUCKET, "DeletionPolicy": "Retain"}, {**_BUCKET, "DeletionPolicy": "RetainExceptOnCreate"}
    name = stacks.create(template({"Kept": kept, "NotYet": not_yet, "Bad": {**_BAD, "DependsOn": ["Kept", "NotYet"]}}))
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    buckets = [row["Name"] for row in aws.client("s3").list_buckets()["Buckets"] if row["Name"].startswith(f"{name}-")]
    assert len(buckets) == 1
    assert buckets[0].startswith(f"{name}-kept-")


def test_a_failed_update_takes_back_what_it_made_first_and_keeps_what_was_there(stacks: Stacks, aws: LocalAws) -> None:
    bucket = {**_BUCKET, "DeletionPolicy": "RetainExceptOnCreate"}
    name = stacks.deployed(template({"Stays": bucket}))
    changed = template({"Stays": bucket, "New": bucket, "Bad": {**_BAD, "DependsOn": "New"}})
    assert stacks.update(name, changed) == "UPDATE_ROLLBACK_COMPLETE"

    def left() -> list[str]:
        names = [row["Name"] for row in aws.client("s3").list_buckets()["Buckets"]]
        return [found.split("-")[2] for found in names if found.startswith(f"{name}-")]

    assert left() == ["stays"]
    assert stacks.update(name, template({"Topic": _TOPIC})) == "UPDATE_COMPLETE"  # it has left the template
    assert left() == ["stays"]


def test_without_rollback_a_failed_creation_stays_and_can_be_rolled_back(stacks: Stacks) -> None:
    name = stacks.create(template({"Topic": _TOPIC, "Bad": {**_BAD, "DependsOn": "Topic"}}), DisableRollback=True)
    assert stacks.status(name) == "CREATE_FAILED"
    assert stacks.physical_id(name, "Topic")
    stacks.client.rollback_stack(StackName=name)
    assert stacks.status(name) == "ROLLBACK_COMPLETE"


def test_without_rollback_a_failed_creation_can_be_continued(stacks: Stacks) -> None:
    name = stacks.create(template({"Topic": _TOPIC, "Bad": {**_BAD, "DependsOn": "Topic"}}), DisableRollback=True)
    topic = stacks.physical_id(name, "Topic")
    assert stacks.update(name, template({"Topic": _TOPIC, "Bad": _BUCKET})) == "UPDATE_COMPLETE"
    assert stacks.physical_id(name, "Topic") == topic


# ---------------------------------------------------------------- updating
def test_an_unchanged_update_is_refused(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}))
    with pytest.raises(ClientError, match="No updates are to be performed"):
        stacks.update(name, template({"Topic": _TOPIC}))


def test_what_did_not_change_is_left_alone(stacks: Stacks) -> None:
    name = stacks.deployed(template({"One": parameter("1"), "Two": parameter("2")}))
    before = len(stacks.events(name))
    stacks.update(name, template({"One": parameter("1"), "Two": parameter("3")}))
    assert not [row for row in _statuses(stacks, name)[before:] if row.startswith("One")]


def test_a_create_only_change_replaces_and_drags_along_what_refers_to_it(stacks: Stacks, aws: LocalAws) -> None:
    def body(vpc_range: str) -> dict[str, Any]:
        vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": vpc_range}}
        group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "g", "VpcId": {"Ref": "Vpc"}}}
        note = parameter({"Ref": "Group"})
        return template({"Vpc": vpc, "Group": group, "Note": note})

    name = stacks.deployed(body("10.20.0.0/16"))
    old = {logical: stacks.physical_id(name, logical) for logical in ("Vpc", "Group", "Note")}
    assert stacks.update(name, body("10.21.0.0/16")) == "UPDATE_COMPLETE"
    new = {logical: stacks.physical_id(name, logical) for logical in ("Vpc", "Group", "Note")}
    assert new["Vpc"] != old["Vpc"]
    assert new["Group"] != old["Group"]
    assert new["Note"] == old["Note"]
    assert aws.client("ssm").get_parameter(Name=new["Note"])["Parameter"]["Value"] == new["Group"]
    with pytest.raises(ClientError, match="does not exist"):
        aws.client("ec2").describe_vpcs(VpcIds=[old["Vpc"]])


def test_fails_to_replace_what_has_a_name_of_its_own(stacks: Stacks) -> None:
    def body(group: str) -> dict[str, Any]:
        alarm = {"RoleName": "own-name", "AssumeRolePolicyDocument": {"Statement": []}, "Path": group}
        return template({"Role": {"Type": "AWS::IAM::Role", "Properties": alarm}})

    name = stacks.deployed(body("/one/"))
    assert stacks.update(name, body("/two/")) == "UPDATE_ROLLBACK_COMPLETE"
    assert "CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename own-name" in (
        "".join(stacks.reasons(name))
    )


def test_removed_resources_go_last_and_retained_ones_stay(stacks: Stacks, aws: LocalAws) -> None:
    kept = {**_TOPIC, "DeletionPolicy": "Retain"}
    name = stacks.deployed(template({"Stays": _TOPIC, "Goes": _TOPIC, "Kept": kept}))
    gone, left = stacks.physical_id(name, "Goes"), stacks.physical_id(name, "Kept")
    assert stacks.update(name, template({"Stays": _TOPIC})) == "UPDATE_COMPLETE"
    topics = [row["TopicArn"] for row in every(aws.client("sns"), "list_topics")["Topics"]]
    assert gone not in topics
    assert left in topics
    assert _statuses(stacks, name)[-5:] == [
        f"{name} UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "Kept DELETE_SKIPPED",
        "Goes DELETE_IN_PROGRESS",
        "Goes DELETE_COMPLETE",
        f"{name} UPDATE_COMPLETE",
    ]


def test_a_replaced_resource_can_be_kept(stacks: Stacks, aws: LocalAws) -> None:
    def body(name: str) -> dict[str, Any]:
        topic = {**_TOPIC, "Properties": {"TopicName": name}, "UpdateReplacePolicy": "Retain"}
        return template({"Topic": topic})

    name = stacks.deployed(body("kept-one"))
    stacks.update(name, body("kept-two"))
    topics = [row["TopicArn"].split(":")[-1] for row in every(aws.client("sns"), "list_topics")["Topics"]]
    assert {"kept-one", "kept-two"} <= set(topics)


def test_a_failed_update_is_undone(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(template({"One": parameter("1"), "Old": _TOPIC}))
    one, old = stacks.physical_id(name, "One"), stacks.physical_id(name, "Old")
    after = {"One": parameter("changed"), "New": _TOPIC, "Bad": {**_BAD, "DependsOn": ["One", "New"]}}
    assert stacks.update(name, template(after)) == "UPDATE_ROLLBACK_COMPLETE"
    assert aws.client("ssm").get_parameter(Name=one)["Parameter"]["Value"] == "1"
    assert stacks.physical_id(name, "Old") == old
    found = stacks.client.describe_stack_resources(StackName=name)["StackResources"]
    assert [row["LogicalResourceId"] for row in found] == ["One", "Old"]
    assert '"One"' in str(stacks.client.get_template(StackName=name)["TemplateBody"]).replace("'", '"')
    assert f"{name} UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS" in _statuses(stacks, name)


def test_an_update_that_is_not_emulated_says_so(stacks: Stacks) -> None:
    def body(host: str) -> dict[str, Any]:
        queue = {"Type": "AWS::SQS::Queue", "Properties": {"Tags": [{"Key": "a", "Value": host}]}}
        return template({"Queue": queue})

    name = stacks.deployed(body("one"))
    assert stacks.update(name, body("two")) == "UPDATE_COMPLETE"
    assert "Queue UPDATE_COMPLETE: local: update not emulated, left as it was: Tags" in stacks.reasons(name)


def test_a_property_that_is_not_emulated_is_named(stacks: Stacks) -> None:
    policy = {"Version": "2012-10-17", "Statement": []}
    name = stacks.deployed(template({"Topic": {**_TOPIC, "Properties": {"DataProtectionPolicy": policy}}}))
    assert "Topic CREATE_COMPLETE: local: not emulated, ignored: DataProtectionPolicy" in stacks.reasons(name)


def test_fails_to_update_a_stack_that_can_only_be_deleted(stacks: Stacks) -> None:
    name = stacks.create(template({"Bad": _BAD}))
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    with pytest.raises(ClientError, match="is in ROLLBACK_COMPLETE state and can not be updated"):
        stacks.update(name, template({"Topic": _TOPIC}))


def test_a_long_operation_goes_on_behind_the_answer(stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_PATIENCE_S", 0.0)
    with worker._SERVICES:  # the engine waits for its turn
        name = stacks.create(template({"Topic": _TOPIC}))
        assert stacks.status(name) == "CREATE_IN_PROGRESS"
        with pytest.raises(ClientError, match="is in CREATE_IN_PROGRESS state and can not be updated"):
            stacks.update(name, template({"Topic": _TOPIC}))
        with pytest.raises(ClientError, match="is in CREATE_IN_PROGRESS state and can not be deleted"):
            stacks.delete(name)
    stacks.client.get_waiter("stack_create_complete").wait(
        StackName=name, WaiterConfig={"Delay": 0.1, "MaxAttempts": 300}
    )


# ---------------------------------------------------------------- deleting
def test_deletion_keeps_what_its_policy_says(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(template({"Kept": {**_TOPIC, "DeletionPolicy": "Retain"}, "Gone": _TOPIC}))
    kept, gone = stacks.physical_id(name, "Kept"), stacks.physical_id(name, "Gone")
    assert stacks.delete(name) == "DELETE_COMPLETE"
    topics = [row["TopicArn"] for row in every(aws.client("sns"), "list_topics")["Topics"]]
    assert kept in topics
    assert gone not in topics


def test_deletion_fails_when_a_service_refuses_and_can_skip_it(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(template({"Bucket": _BUCKET, "Topic": _TOPIC}))
    bucket = stacks.physical_id(name, "Bucket")
    aws.client("s3").put_object(Bucket=bucket, Key="something", Body=b"")
    assert stacks.delete(name) == "DELETE_FAILED"
    assert stacks.stack(name)["StackStatusReason"] == "The following resource(s) failed to delete: [Bucket]. "
    stack_id = stacks.stack(name)["StackId"]
    stacks.client.delete_stack(StackName=name, RetainResources=["Bucket"])
    assert stacks.status(stack_id) == "DELETE_COMPLETE"


def test_what_is_gone_already_is_no_obstacle(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(template({"Thing": parameter("x")}))
    aws.client("ssm").delete_parameter(Name=stacks.physical_id(name, "Thing"))
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_termination_protection(stacks: Stacks) -> None:
    name = stacks.deployed(template({"Topic": _TOPIC}), EnableTerminationProtection=True)
    with pytest.raises(ClientError, match="cannot be deleted while TerminationProtection is enabled"):
        stacks.delete(name)
    stacks.client.update_termination_protection(StackName=name, EnableTerminationProtection=False)
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_a_stack_that_is_not_there(stacks: Stacks) -> None:
    stacks.client.delete_stack(StackName="nobody")
    with pytest.raises(ClientError, match="Stack with id nobody does not exist"):
        stacks.status("nobody")


def test_a_request_without_what_it_must_name_is_refused(stacks: Stacks) -> None:
    """botocore's model of GetTemplate demands no name, for a change set is enough."""
    with pytest.raises(ClientError, match=r"ValidationError.*StackName is required"):
        stacks.client.get_template()
