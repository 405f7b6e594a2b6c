"""Custom resources: functions that run, and CDK's helpers."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.custom_resources import cfnresponse
from cdk_trainyard.local.custom_resources.sdk_call import flatten
from cdk_trainyard.local.services import lambda_
from tests.local.stacks import Stacks, Template, outputs_of, template
from tests.local.support import TRUST, of, zipped

_ANSWER = """
import json, urllib.request

def handler(event, context):
    properties, kind = event["ResourceProperties"], event["RequestType"]
    print(kind, properties.get("Value"))
    failed = properties.get("Value") == "FAILED" and kind != "Delete"
    body = {"Status": "FAILED" if failed else "SUCCESS", "Reason": "as asked"}
    body |= {"Data": {"Value": properties.get("Value")}, "PhysicalResourceId": properties.get("Id", "the-thing")}
    urllib.request.urlopen(urllib.request.Request(event["ResponseURL"], data=json.dumps(body).encode(), method="PUT"))
"""
_RETURN = """
import json

def on_event(event, context):
    if event["ResourceProperties"].get("Value") == "FAILED" and event["RequestType"] != "Delete":
        raise ValueError("as asked")
    return {"PhysicalResourceId": "provided", "Data": {"Value": event["ResourceProperties"].get("Value")}}

def is_complete(event, context):
    return {"IsComplete": True, "Data": {"Done": event["Data"]["Value"]}}
"""


def _function(code: str, handler: str = "index.handler", **more: Any) -> Template:
    properties = {"Runtime": "python3.12", "Handler": handler, "Role": of("RoleArn"), "Code": {"ZipFile": code}, **more}
    return {"Type": "AWS::Lambda::Function", "Properties": properties}


def _custom(kind: str = "Custom::Tried", function: str = "Function", **properties: Any) -> Template:
    return {"Type": kind, "Properties": {"ServiceToken": {"Fn::GetAtt": [function, "Arn"]}, **properties}}


def _asking(value: Any, **more: Any) -> Template:
    return template(
        {"Function": _function(_ANSWER), "Thing": _custom(Value=value, **more)},
        Outputs=outputs_of(Value={"Fn::GetAtt": ["Thing", "Value"]}),
    )


def _printed(aws: LocalAws, function: str) -> list[str]:
    logs, group = aws.client("logs"), f"/aws/lambda/{function}"
    streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
    events = [
        event
        for stream in streams
        for event in logs.get_log_events(logGroupName=group, logStreamName=stream["logStreamName"])["events"]
    ]
    messages = [event["message"] for event in sorted(events, key=lambda event: event["timestamp"])]
    return [text for text in messages if not text.startswith(("START ", "END "))]


pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("support")]


# ---------------------------------------------------------------- functions
def test_a_function_answers(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(_asking(42))
    function = stacks.physical_id(name, "Function")
    assert stacks.physical_id(name, "Thing") == "the-thing"
    assert stacks.outputs(name) == {"Value": "42"}, "numbers arrive as strings"
    assert stacks.update(name, _asking(43)) == "UPDATE_COMPLETE"
    assert stacks.outputs(name) == {"Value": "43"}
    assert stacks.delete(name) == "DELETE_COMPLETE"
    assert _printed(aws, function) == ["Create 42", "Update 43", "Delete 43"]


def test_a_function_that_answers_with_another_id_replaces_itself(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(_asking(1, Id="first"))
    assert stacks.update(name, _asking(2, Id="second")) == "UPDATE_COMPLETE"
    assert stacks.physical_id(name, "Thing") == "second"
    assert _printed(aws, stacks.physical_id(name, "Function")) == ["Create 1", "Update 2", "Delete 1"]


def test_a_function_that_says_failed_rolls_back(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.create(_asking("FAILED"))
    assert stacks.status(name) == "ROLLBACK_COMPLETE"
    assert (
        "Received response status [FAILED] from custom resource. Message returned: as asked" in stacks.reasons(name)[-1]
    )
    function = next(
        row["PhysicalResourceId"]
        for row in stacks.events(name)
        if row["LogicalResourceId"] == "Function" and row["PhysicalResourceId"]
    )
    assert _printed(aws, function) == ["Create FAILED", "Delete FAILED"], "the rollback deletes it"


_MODULE = """
import json
import cfnresponse

def handler(event, context):
    asked = event["ResourceProperties"]
    status = getattr(cfnresponse, asked["Status"] if event["RequestType"] == "Create" else "SUCCESS")
    cfnresponse.send(event, context, status, {"Value": "42"}, *json.loads(asked["More"]))
"""


def _answering(status: str, *more: Any, code: str = _MODULE) -> Template:
    return template(
        {"Function": _function(code), "Thing": _custom(Status=status, More=json.dumps(more))},
        Outputs=outputs_of(Value={"Fn::GetAtt": ["Thing", "Value"]}),
    )


def test_inline_code_answers_with_the_module_of_cloudformation(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(_answering("SUCCESS", "the-thing", None))
    assert stacks.outputs(name) == {"Value": "42"}
    assert stacks.physical_id(name, "Thing") == "the-thing"
    assert _printed(aws, stacks.physical_id(name, "Function")) == ["cfnresponse: CloudFormation answered 200"]
    assert stacks.delete(name) == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("more", "reason"),
    [([], "See the details in CloudWatch Log Stream: local"), ([None, False, "for no reason"], "for no reason")],
)
def test_the_module_says_why_it_failed(stacks: Stacks, more: list[Any], reason: str) -> None:
    assert stacks.failure(_answering("FAILED", *more)).endswith(f"Message returned: {reason}")


def test_another_import_statement_brings_no_module(stacks: Stacks) -> None:
    """CloudFormation User Guide, "cfn-response module": only this exact statement does."""
    code = "from cfnresponse import send\n" + _MODULE.replace("import cfnresponse\n", "")
    assert stacks.failure(_answering("SUCCESS", code=code)).endswith("No module named 'cfnresponse'")


def test_the_module_prints_what_it_could_not_send(capsys: pytest.CaptureFixture[str]) -> None:
    event = dict.fromkeys(("StackId", "RequestId", "LogicalResourceId"), "x") | {"ResponseURL": "http://127.0.0.1:1/"}
    cfnresponse.send(event, SimpleNamespace(log_stream_name="x"), cfnresponse.SUCCESS, {})
    assert capsys.readouterr().out.startswith("cfnresponse: CloudFormation was not answered: ")


def test_a_python_function_behind_one_of_cdks_types_really_runs(stacks: Stacks) -> None:
    """The type says not what is behind it: CDK's function is of Node, the one here is of Python."""
    body = _asking(42)
    body["Resources"]["Thing"]["Type"] = "Custom::VpcRestrictDefaultSG"
    name = stacks.deployed(body)
    assert stacks.physical_id(name, "Thing") == "the-thing"


def test_a_function_calls_with_its_role_and_logs_with_it(stacks: Stacks, aws: LocalAws) -> None:
    code = "import boto3\ndef handler(event, context):\n    return boto3.client('sts').get_caller_identity()['Arn']\n"
    nothing = {"Effect": "Deny", "Action": "*", "Resource": "*"}
    policy = {"PolicyName": "none", "PolicyDocument": {"Version": "2012-10-17", "Statement": [nothing]}}
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST, "Policies": [policy]}}
    mute = _function(code)
    mute["Properties"]["Role"] = {"Fn::GetAtt": ["Role", "Arn"]}
    name = stacks.deployed(template({"Role": role, "Mute": mute, "Loud": _function(code)}))
    for logical_id in ("Mute", "Loud"):
        function = stacks.physical_id(name, logical_id)
        answer = json.loads(aws.client("lambda").invoke(FunctionName=function)["Payload"].read())
        assert answer.endswith(f"/{function}")
        assert ":assumed-role/" in answer
        groups = aws.client("logs").describe_log_groups(logGroupNamePrefix=f"/aws/lambda/{function}")["logGroups"]
        assert len(groups) == (logical_id == "Loud")


def test_an_update_that_says_failed_is_undone(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(_asking(1))
    assert stacks.update(name, _asking("FAILED")) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.outputs(name) == {"Value": "1"}
    assert _printed(aws, stacks.physical_id(name, "Function")) == ["Create 1", "Update FAILED", "Update 1"]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_function("def handler(event, context):\n    raise ValueError('no')\n"), "Message returned: no"),
        (_function("def other(event, context):\n    pass\n"), "has no attribute 'handler'"),
        (_function("import os\ndef handler(event, context):\n    os._exit(3)\n"), "ended with exit code 3"),
        (_function("exports.handler = 1", Runtime="nodejs22.x"), "local AWS: the runtime nodejs22.x is not emulated"),
    ],
    ids=["raises", "no handler", "exits", "node"],
)
def test_fails_with_the_function(stacks: Stacks, function: Template, message: str) -> None:
    name = stacks.create(template({"Function": function, "Thing": _custom()}))
    assert message in next(row for row in stacks.reasons(name) if row.startswith("Thing CREATE_FAILED"))


def test_fails_with_a_function_that_takes_too_long(stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lambda_, "_GRACE_S", -0.5)
    function = _function("import time\ndef handler(event, context):\n    time.sleep(60)\n", Timeout=1)
    name = stacks.create(template({"Function": function, "Thing": _custom()}))
    assert "Task timed out after 1.00 seconds" in "".join(stacks.reasons(name))


def test_fails_without_a_function(stacks: Stacks) -> None:
    for token, message in (
        ({"Fn::Sub": "arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:nobody"}, "does not exist"),
        (of("TopicArn"), "a ServiceToken must be a Lambda function"),
    ):
        body = template({"Thing": {"Type": "Custom::Tried", "Properties": {"ServiceToken": token}}})
        assert message in stacks.failure(body)


def test_fails_on_data_that_was_not_answered(stacks: Stacks) -> None:
    body = _asking(1)
    body["Outputs"] = outputs_of(Value={"Fn::GetAtt": ["Thing", "Other"]})
    name = stacks.create(body)
    assert "Vendor response doesn't contain Other key in object the-thing" in "".join(stacks.reasons(name))


# ---------------------------------------------------------------- CDK's provider framework
def _provided(value: Any) -> Template:
    framework = _function(
        "exports.onEvent = 1",
        "framework.onEvent",
        Runtime="nodejs22.x",
        Environment={
            "Variables": {
                "USER_ON_EVENT_FUNCTION_ARN": {"Fn::GetAtt": ["OnEvent", "Arn"]},
                "USER_IS_COMPLETE_FUNCTION_ARN": {"Fn::GetAtt": ["IsComplete", "Arn"]},
            }
        },
    )
    return template(
        {
            "OnEvent": _function(_RETURN, "index.on_event"),
            "IsComplete": _function(_RETURN, "index.is_complete"),
            "Framework": framework,
            "Thing": _custom(function="Framework", Value=value),
        },
        Outputs=outputs_of(Value={"Fn::GetAtt": ["Thing", "Value"]}, Done={"Fn::GetAtt": ["Thing", "Done"]}),
    )


def test_the_provider_framework(stacks: Stacks) -> None:
    name = stacks.deployed(_provided("a"))
    assert stacks.physical_id(name, "Thing") == "provided"
    assert stacks.outputs(name) == {"Value": "a", "Done": "a"}
    assert stacks.update(name, _provided("FAILED")) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Message returned: as asked" in "".join(stacks.reasons(name))
    assert stacks.delete(name) == "DELETE_COMPLETE"


# ---------------------------------------------------------------- Lambda itself
def test_functions_can_be_invoked_with_layers_and_reach_this_aws_only(stacks: Stacks, aws: LocalAws) -> None:
    code = (
        "import os, boto3, layered\n"
        "def handler(event, context):\n"
        "    topics = boto3.client('sns').list_topics()['Topics']\n"
        "    return {'answer': layered.ANSWER, 'event': event, 'topics': len(topics), 'own': os.environ['OWN'],\n"
        "            'arn': context.invoked_function_arn, 'left': context.get_remaining_time_in_millis() > 0,\n"
        "            'config': os.environ['AWS_CONFIG_FILE']}\n"
    )
    layer = {
        "Type": "AWS::Lambda::LayerVersion",
        "Properties": {"Content": {"S3Bucket": of("Bucket"), "S3Key": "layer.zip"}},
    }
    function = _function(code, Timeout=60, Layers=[{"Ref": "Layer"}], Environment={"Variables": {"OWN": "1"}})
    listing = {"Effect": "Allow", "Action": "sns:ListTopics", "Resource": "*"}
    policy = {
        "Type": "AWS::IAM::Policy",
        "Properties": {
            "PolicyName": "listing",
            "PolicyDocument": {"Version": "2012-10-17", "Statement": [listing]},
            "Roles": [of("RoleName")],
        },
    }
    name = stacks.deployed(template({"Layer": layer, "Function": function, "Policy": policy}))
    answer = aws.client("lambda").invoke(
        FunctionName=stacks.physical_id(name, "Function"), Payload=json.dumps({"a": 1}).encode()
    )
    result = json.loads(answer["Payload"].read())
    assert result.pop("arn").startswith("arn:aws:lambda:us-west-2:123456789012:function:")
    assert result.pop("topics") >= 1
    assert result == {"answer": 42, "event": {"a": 1}, "own": "1", "left": True, "config": "/dev/null"}


def test_a_function_writes_to_the_log_group_that_it_names(stacks: Stacks, aws: LocalAws) -> None:
    code = "def handler(event, context):\n    print('said')\n"
    group = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/own/log"}}
    function = _function(code, LoggingConfig={"LogGroup": {"Ref": "Group"}})
    writing = {"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"]}
    policy = {
        "Type": "AWS::IAM::Policy",
        "Properties": {
            "PolicyName": "writing",
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [{**writing, "Resource": {"Fn::GetAtt": ["Group", "Arn"]}}],
            },
            "Roles": [of("RoleName")],
        },
    }
    name = stacks.deployed(template({"Group": group, "Function": function, "Policy": policy}))
    physical = stacks.physical_id(name, "Function")
    aws.client("lambda").invoke(FunctionName=physical)
    events = aws.client("logs").filter_log_events(logGroupName="/own/log")["events"]
    assert "said" in [event["message"] for event in events]
    described = aws.client("lambda").get_function_configuration(FunctionName=physical)
    assert described["LoggingConfig"]["LogGroup"] == "/own/log"


# ---------------------------------------------------------------- CDK's helpers
def _helper(kind: str, **properties: Any) -> Template:
    """Define one of CDK's custom resources; its function is a Node function that is never run."""
    return _custom(kind, **properties)


_NODE = {"Function": _function("exports.handler = 1", Runtime="nodejs22.x")}


def _keys(aws: LocalAws, bucket: str) -> dict[str, bytes]:
    s3 = aws.client("s3")
    rows = s3.list_objects_v2(Bucket=bucket).get("Contents", [])
    return {row["Key"]: s3.get_object(Bucket=bucket, Key=row["Key"])["Body"].read() for row in rows}


def _deployment(**more: Any) -> Template:
    properties = {
        "SourceBucketNames": [of("Bucket")],
        "SourceObjectKeys": ["site.zip"],
        "SourceMarkers": [{"<<marker>>": {"Ref": "AWS::Region"}}],
        "DestinationBucketName": {"Ref": "Target"},
        "DestinationBucketKeyPrefix": "site",
        **more,
    }
    target = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}
    return template({**_NODE, "Target": target, "Thing": _helper("Custom::CDKBucketDeployment", **properties)})


def test_bucket_deployment(stacks: Stacks, aws: LocalAws) -> None:
    source = stacks.exports()["Bucket"]
    s3 = aws.client("s3")
    s3.put_object(Bucket=source, Key="site.zip", Body=zipped({"a.txt": "in <<marker>>", "deep/b.html": "b"}))
    name = stacks.deployed(_deployment())
    target = stacks.physical_id(name, "Target")
    assert _keys(aws, target) == {"site/a.txt": b"in us-west-2", "site/deep/b.html": b"b"}
    assert s3.head_object(Bucket=target, Key="site/deep/b.html")["ContentType"] == "text/html"
    s3.put_object(Bucket=source, Key="next.zip", Body=zipped({"c.txt": "c", "skipped.log": "no"}))
    after = _deployment(
        SourceObjectKeys=["next.zip"],
        SourceMarkers=[{}],
        Exclude=["*.log"],
        RetainOnDelete=False,
        UserMetadata={"Team": "x"},
    )
    assert stacks.update(name, after) == "UPDATE_COMPLETE"
    assert _keys(aws, target) == {"site/c.txt": b"c"}
    assert s3.head_object(Bucket=target, Key="site/c.txt")["Metadata"] == {"team": "x"}
    assert stacks.delete(name) == "DELETE_COMPLETE"
    assert _keys(aws, target) == {}


def test_bucket_deployment_without_pruning_or_unpacking(stacks: Stacks, aws: LocalAws) -> None:
    source = stacks.exports()["Bucket"]
    aws.client("s3").put_object(Bucket=source, Key="folder/site.zip", Body=b"not an archive")
    name = stacks.deployed(
        _deployment(SourceObjectKeys=["folder/site.zip"], SourceMarkers=[{}], Extract=False, Prune=False)
    )
    target = stacks.physical_id(name, "Target")
    assert _keys(aws, target) == {"site/site.zip": b"not an archive"}
    stacks.delete(name)
    assert list(_keys(aws, target)) == ["site/site.zip"], "kept unless told otherwise"


@pytest.mark.parametrize(("tag", "status"), [("true", "DELETE_COMPLETE"), ("false", "DELETE_FAILED")])
def test_auto_delete_objects(stacks: Stacks, aws: LocalAws, tag: str, status: str) -> None:
    bucket = {
        "Type": "AWS::S3::Bucket",
        "Properties": {
            "VersioningConfiguration": {"Status": "Enabled"},
            "Tags": [{"Key": "aws-cdk:auto-delete-objects", "Value": tag}],
        },
    }
    helper = _helper("Custom::S3AutoDeleteObjects", BucketName={"Ref": "Bucket"})
    name = stacks.deployed(template({**_NODE, "Bucket": bucket, "Thing": helper}))
    s3, physical_id = aws.client("s3"), stacks.physical_id(name, "Bucket")
    s3.put_object(Bucket=physical_id, Key="a", Body=b"1")
    s3.put_object(Bucket=physical_id, Key="a", Body=b"2")
    s3.delete_object(Bucket=physical_id, Key="a")
    assert stacks.delete(name) == status


def test_auto_delete_images(stacks: Stacks, aws: LocalAws) -> None:
    repository = {
        "Type": "AWS::ECR::Repository",
        "Properties": {"Tags": [{"Key": "aws-cdk:auto-delete-images", "Value": "true"}]},
    }
    helper = _helper("Custom::ECRAutoDeleteImages", RepositoryName={"Ref": "Repository"})
    name = stacks.deployed(template({**_NODE, "Repository": repository, "Thing": helper}))
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", "layers": []}
    aws.client("ecr").put_image(
        repositoryName=stacks.physical_id(name, "Repository"), imageManifest=json.dumps(manifest), imageTag="one"
    )
    assert stacks.delete(name) == "DELETE_COMPLETE"


def test_restrict_default_security_group(stacks: Stacks, aws: LocalAws) -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.50.0.0/16"}}
    helper = _helper(
        "Custom::VpcRestrictDefaultSG",
        DefaultSecurityGroupId={"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]},
        Account={"Ref": "AWS::AccountId"},
    )
    outputs = outputs_of(Group={"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]})
    name = stacks.deployed(template({**_NODE, "Vpc": vpc, "Thing": helper}, Outputs=outputs))
    group_id = stacks.outputs(name)["Group"]

    def rules() -> tuple[int, int]:
        group = aws.client("ec2").describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0]
        return len(group["IpPermissions"]), len(group["IpPermissionsEgress"])

    assert rules() == (0, 0)
    assert stacks.update(name, template({**_NODE, "Vpc": vpc}, Outputs=outputs)) == "UPDATE_COMPLETE"
    assert rules() == (1, 1), "deletion gives the rules back"


@pytest.mark.parametrize("policy", ["destroy", "retain"])
def test_log_retention(stacks: Stacks, aws: LocalAws, policy: str) -> None:
    group = f"/tried/{policy}"

    def body(**more: Any) -> Template:
        helper = _helper("Custom::LogRetention", LogGroupName=group, RemovalPolicy=policy, **more)
        return template({**_NODE, "Thing": helper})

    def groups() -> list[int | None]:
        found = aws.client("logs").describe_log_groups(logGroupNamePrefix=group)["logGroups"]
        return [row.get("retentionInDays") for row in found]

    name = stacks.deployed(body(RetentionInDays=7))
    assert stacks.physical_id(name, "Thing") == group
    assert groups() == [7]
    assert stacks.update(name, body()) == "UPDATE_COMPLETE"
    assert groups() == [None]
    stacks.delete(name)
    assert groups() == ([] if policy == "destroy" else [None])


def _sdk(kind: str = "Custom::AWS", **calls: Any) -> Template:
    written = {name: json.dumps(call) for name, call in calls.items()}
    return template({**_NODE, "Thing": _helper(kind, InstallLatestAwsSdk=False, **written)})


def _call(action: str, parameters: Any, **more: Any) -> dict[str, Any]:
    return {"service": "SSM", "action": action, "parameters": parameters, **more}


@pytest.mark.parametrize("kind", ["Custom::AWS", "Custom::OwnName"])
def test_aws_custom_resource(stacks: Stacks, aws: LocalAws, kind: str) -> None:
    named = {"physicalResourceId": {"id": f"/sdk/{kind[8:]}"}}
    put = {"Name": f"/sdk/{kind[8:]}", "Value": "one", "Type": "String"}
    delete = _call("deleteParameter", {"Name": "PHYSICAL:RESOURCEID:"})
    body = _sdk(kind, Create=_call("putParameter", put, **named), Delete=delete)
    body["Outputs"] = outputs_of(Version={"Fn::GetAtt": ["Thing", "Version"]})
    name = stacks.deployed(body)
    assert stacks.physical_id(name, "Thing") == put["Name"]
    assert stacks.outputs(name) == {"Version": "1"}
    assert aws.client("ssm").get_parameter(Name=put["Name"])["Parameter"]["Value"] == "one"
    assert stacks.delete(name) == "DELETE_COMPLETE"
    with pytest.raises(ClientError):
        aws.client("ssm").get_parameter(Name=put["Name"])


def test_aws_custom_resource_reads_paths_and_ignores_errors(stacks: Stacks, aws: LocalAws) -> None:
    aws.client("ssm").put_parameter(Name="/sdk/read", Value="found", Type="String")
    get = {
        "service": "@aws-sdk/client-ssm",
        "action": "GetParameterCommand",
        "parameters": {"Name": "/sdk/read"},
        "physicalResourceId": {"responsePath": "Parameter.ARN"},
        "outputPaths": ["Parameter.Value"],
    }
    missing = _call("getParameter", {"Name": "/sdk/none"}, ignoreErrorCodesMatching="ParameterNotFound")
    body = _sdk(Create=get, Update=missing)
    body["Outputs"] = outputs_of(Value={"Fn::GetAtt": ["Thing", "Parameter.Value"]})
    name = stacks.deployed(body)
    assert stacks.physical_id(name, "Thing") == "arn:aws:ssm:us-west-2:123456789012:parameter/sdk/read"
    assert stacks.outputs(name) == {"Value": "found"}


def test_fails_with_the_sdk_call(stacks: Stacks) -> None:
    assert "ParameterNotFound" in stacks.failure(_sdk(Create=_call("getParameter", {"Name": "/sdk/none"})))


def test_flattening() -> None:
    assert flatten({"A": [{"B": 1}, "x"], "C": {"D": True}}) == {"A.0.B": 1, "A.1": "x", "C.D": True}
