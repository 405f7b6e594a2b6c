"""Custom resources call with the roles of their functions, also those that are done in the functions' place."""

import json
from typing import Any

import pytest

from tests.local.stacks import Stacks, Template, template
from tests.local.support import TRUST, of

_ON_EVENT = "def handler(event, context):\n    return {'PhysicalResourceId': 'provided'}\n"
pytestmark = pytest.mark.usefixtures("support")
_NODE, _PYTHON = ("nodejs22.x", "exports.handler = 1"), ("python3.12", _ON_EVENT)


def _may(*actions: str) -> dict[str, Any]:
    effect = {"Effect": "Allow", "Action": list(actions)} if actions else {"Effect": "Deny", "Action": "*"}
    return {"Version": "2012-10-17", "Statement": [{**effect, "Resource": "*"}]}


def _role(*actions: str) -> Template:
    properties = {
        "AssumeRolePolicyDocument": TRUST,
        "Policies": [{"PolicyName": "own", "PolicyDocument": _may(*actions)}],
    }
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def _function(role: Any, kind: tuple[str, str], **variables: Any) -> Template:
    runtime, code = kind
    properties = {
        "Runtime": runtime,
        "Handler": "index.handler",
        "Role": role,
        "Code": {"ZipFile": code},
        "Environment": {"Variables": variables},
    }
    return {"Type": "AWS::Lambda::Function", "Properties": properties}


def _stack(kind: str, properties: Template, *actions: str) -> Template:
    token = {"ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]}}
    return template(
        {
            "Role": _role(*actions),
            "Bucket": {"Type": "AWS::S3::Bucket"},
            "Function": _function({"Fn::GetAtt": ["Role", "Arn"]}, _NODE),
            "Thing": {"Type": kind, "Properties": {**token, **properties}},
        }
    )


_SDK_CALL = {"service": "SSM", "action": "describeParameters", "parameters": {}, "physicalResourceId": {"id": "x"}}
_HELPERS: dict[str, tuple[str, Template, tuple[str, ...]]] = {
    "AwsCustomResource": ("Custom::AWS", {"Create": json.dumps(_SDK_CALL)}, ("ssm:DescribeParameters",)),
    "BucketDeployment": (
        "Custom::CDKBucketDeployment",
        {
            "SourceBucketNames": [of("Bucket")],
            "SourceObjectKeys": ["layer.zip"],
            "DestinationBucketName": {"Ref": "Bucket"},
            "RetainOnDelete": "false",
        },
        ("s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:DeleteObject"),
    ),
    "LogRetention": (
        "Custom::LogRetention",
        {"LogGroupName": "/tried/role", "RemovalPolicy": "destroy"},
        ("logs:CreateLogGroup", "logs:DeleteRetentionPolicy", "logs:DeleteLogGroup"),
    ),
}


@pytest.mark.parametrize(("kind", "properties", "actions"), _HELPERS.values(), ids=_HELPERS)
def test_a_helper_needs_the_permissions_of_its_function(
    stacks: Stacks, kind: str, properties: Template, actions: tuple[str, ...]
) -> None:
    assert f"is not authorized to perform: {actions[0]} on resource: " in stacks.failure(_stack(kind, properties))
    name = stacks.deployed(_stack(kind, properties, *actions))
    assert stacks.delete(name) == "DELETE_COMPLETE"


def _provided(*actions: str) -> Template:
    own = {"USER_ON_EVENT_FUNCTION_ARN": {"Fn::GetAtt": ["OnEvent", "Arn"]}}
    return template(
        {
            "Role": _role(*actions),
            "OnEvent": _function(of("RoleArn"), _PYTHON),
            "Framework": _function({"Fn::GetAtt": ["Role", "Arn"]}, _NODE, **own),
            "Thing": {"Type": "Custom::Tried", "Properties": {"ServiceToken": {"Fn::GetAtt": ["Framework", "Arn"]}}},
        }
    )


def test_the_provider_framework_may_invoke_the_users_function(stacks: Stacks) -> None:
    assert "is not authorized to perform: lambda:InvokeFunction" in stacks.failure(_provided())
    stacks.deployed(_provided("lambda:InvokeFunction"))
