"""How the types of Lambda, Step Functions, CodeBuild and CloudFormation itself are tried."""

import json
from collections.abc import Iterator
from typing import Any

from cdk_trainyard.local import LocalAws
from tests.local.cases import Case, look
from tests.local.support import of
from tests.support import every

_TAGS = [{"Key": "Name", "Value": "first"}]
_OTHER_TAGS = [{"Key": "Name", "Value": "second"}]
_FUNCTION = {
    "Runtime": "python3.12",
    "Handler": "index.handler",
    "Role": of("RoleArn"),
    "Code": {"ZipFile": "def handler(event, context):\n    return event\n"},
}
_NEEDS_FUNCTION = {"Function": {"Type": "AWS::Lambda::Function", "Properties": _FUNCTION}}
_MACHINE = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "End": True}}}


def _statements(aws: LocalAws) -> Iterator[dict[str, Any]]:
    """Yield the statements of every function that has a policy."""
    client = aws.client("lambda")
    for function in every(client, "list_functions")["Functions"]:
        try:
            policy = client.get_policy(FunctionName=function["FunctionName"])["Policy"]
        except client.exceptions.ResourceNotFoundException:
            continue
        yield from json.loads(policy)["Statement"]


CASES = (
    # ---------------------------------------------------------------- functions
    Case(
        type="AWS::Lambda::Function",
        properties={
            **_FUNCTION,
            "MemorySize": 256,
            "Timeout": 10,
            "Environment": {"Variables": {"A": "1"}},
            "Description": "tried",
            "Tags": _TAGS,
        },
        look=look("lambda", "get_function_configuration", "[MemorySize, Environment.Variables.A]", FunctionName="{}"),
        made=[256, "1"],
        change={
            "MemorySize": 512,
            "Environment": {"Variables": {"A": "2"}},
            "Code": {"ZipFile": "def handler(event, context):\n    return 2\n"},
            "Tags": _OTHER_TAGS,
        },
        changed=[512, "2"],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::Lambda::Permission",
        needs=_NEEDS_FUNCTION,
        properties={
            "FunctionName": {"Ref": "Function"},
            "Action": "lambda:InvokeFunction",
            "Principal": "sns.amazonaws.com",
            "SourceArn": of("TopicArn"),
        },
        look=lambda aws, name: [row["Principal"]["Service"] for row in _statements(aws) if row["Sid"] == name],
        made=["sns.amazonaws.com"],
        attributes=("Id",),
    ),
    Case(
        type="AWS::Lambda::Version",
        needs=_NEEDS_FUNCTION,
        properties={"FunctionName": {"Ref": "Function"}, "Description": "tried"},
        look=look("lambda", "get_function_configuration", "Version", FunctionName="{}"),
        made="1",
        attributes=("FunctionArn", "Version"),
    ),
    Case(
        type="AWS::Lambda::Alias",
        needs={
            **_NEEDS_FUNCTION,
            "Version": {"Type": "AWS::Lambda::Version", "Properties": {"FunctionName": {"Ref": "Function"}}},
        },
        properties={
            "FunctionName": {"Ref": "Function"},
            "FunctionVersion": {"Fn::GetAtt": ["Version", "Version"]},
            "Name": "live",
            "Description": "first",
        },
        look=lambda aws, arn: look(
            "lambda", "get_alias", "Description", FunctionName=arn.rsplit(":", 1)[0], Name="live"
        )(aws, ""),
        made="first",
        change={"Description": "second"},
        changed="second",
        attributes=("AliasArn",),
    ),
    Case(
        type="AWS::StepFunctions::StateMachine",
        properties={"RoleArn": of("RoleArn"), "DefinitionString": json.dumps(_MACHINE)},
        look=look("stepfunctions", "describe_state_machine", "definition", stateMachineArn="{}"),
        made=json.dumps(_MACHINE),
        change={"DefinitionString": json.dumps({**_MACHINE, "Comment": "second"})},
        changed=json.dumps({**_MACHINE, "Comment": "second"}),
        attributes=("Arn", "Name"),
    ),
    Case(
        type="AWS::CodeBuild::Project",
        properties={
            "Description": "first",
            "ServiceRole": of("RoleArn"),
            "TimeoutInMinutes": 30,
            "EncryptionKey": "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
            "Source": {"Type": "NO_SOURCE", "BuildSpec": "version: 0.2"},
            "Artifacts": {"Type": "S3", "Location": "a-bucket", "Name": "model", "Packaging": "NONE"},
            "Environment": {
                "Type": "LINUX_CONTAINER",
                "ComputeType": "BUILD_GENERAL1_XLARGE",
                "Image": "registry.example/image:1",
            },
        },
        look=look(
            "codebuild",
            "batch_get_projects",
            "projects[0].[description, timeoutInMinutes, environment.computeType, source.buildspec]",
            names=["{}"],
        ),
        made=["first", 30, "BUILD_GENERAL1_XLARGE", "version: 0.2"],
        change={"Description": "second", "TimeoutInMinutes": 60},
        changed=["second", 60, "BUILD_GENERAL1_XLARGE", "version: 0.2"],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::CloudFormation::WaitConditionHandle",
        look=lambda _aws, url: url.startswith("http://127.0.0.1"),
        attributes=("Id",),
        stays=True,
    ),
)
