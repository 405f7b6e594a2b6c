"""The nested stack of the provider: what stands at AWS's address of its template, which is never fetched.

Parameters and outputs are those of ``cloudformation/custom_resource/cluster.yaml`` of ParallelCluster, as of 3.13.1.
"""

import json
import re
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.custom_resources.request import Request
from cdk_trainyard.local.errors import ResourceFailed

_ADDRESS = re.compile(
    r"https://([a-z0-9-]+)-aws-parallelcluster\.s3\.\1\.amazonaws\.com(\.cn)?"
    r"/parallelcluster/(?P<version>\d+\.\d+\.\d+)/templates/custom_resource/cluster\.yaml"
)
_FUNCTION_NAME = "pcluster-cfn-"
VERSION_TAG = "parallelcluster:version"
_LOG_DAYS = 90
_CODE = "def handler(event, context):\n    raise RuntimeError('the local AWS answers in its place')\n"
_TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


def provider_template(url: str) -> str | None:
    """Return the template of the provider when ``url`` is AWS's address of it."""
    found = _ADDRESS.fullmatch(url)
    return json.dumps(_template(found["version"])) if found else None


def is_provider(service_token: str) -> bool:
    """Return whether a custom resource's ``ServiceToken`` is the function of a provider."""
    return f":function:{_FUNCTION_NAME}" in service_token


def version_of(request: Request) -> str:
    """Return the version of the provider that a request goes to.

    Raises:
        ResourceFailed: There is none: its stack is gone.
    """
    function = request.properties["ServiceToken"]
    try:
        found = request.client("lambda").get_function(FunctionName=function)
    except ClientError as error:
        raise ResourceFailed(f"the function {function} of the custom resource does not exist") from error
    return str(found["Tags"][VERSION_TAG])


def _template(version: str) -> dict[str, Any]:
    text = {"Type": "String", "Default": ""}
    stack_uuid = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    arn = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:layer:PCLayer-${Uuid}:1"
    return {
        "Parameters": {
            "CustomLambdaRole": text,
            "AdditionalIamPolicies": {"Type": "CommaDelimitedList", "Default": ""},
            "CustomBucket": text,
        },
        "Conditions": {
            "OwnRole": {"Fn::Equals": [{"Ref": "CustomLambdaRole"}, ""]},
            "MorePolicies": {"Fn::Not": [{"Fn::Equals": [{"Fn::Join": ["", {"Ref": "AdditionalIamPolicies"}]}, ""]}]},
        },
        "Resources": _resources(version, stack_uuid),
        "Outputs": {
            "ServiceToken": {"Value": {"Fn::GetAtt": ["PclusterCfnFunction", "Arn"]}},
            "LogGroupArn": {"Value": {"Fn::GetAtt": ["PclusterCfnFunctionLogGroup", "Arn"]}},
            "LambdaLayerArn": {"Value": {"Fn::Sub": [arn, {"Uuid": stack_uuid}]}},
        },
    }


def _resources(version: str, stack_uuid: Any) -> dict[str, Any]:
    more = {"Fn::If": ["MorePolicies", {"Ref": "AdditionalIamPolicies"}, {"Ref": "AWS::NoValue"}]}
    own_role = {"Fn::GetAtt": ["PclusterLambdaRole", "Arn"]}
    return {
        "PclusterLambdaRole": {
            "Type": "AWS::IAM::Role",
            "Condition": "OwnRole",
            "Properties": {"AssumeRolePolicyDocument": _TRUST, "ManagedPolicyArns": more},
        },
        "PclusterCfnFunction": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "FunctionName": {"Fn::Join": ["", [_FUNCTION_NAME, stack_uuid]]},
                "Handler": "index.handler",
                "Runtime": "python3.12",
                "MemorySize": 2048,
                "Timeout": 60,
                "Role": {"Fn::If": ["OwnRole", own_role, {"Ref": "CustomLambdaRole"}]},
                "Code": {"ZipFile": _CODE},
                "Tags": [
                    {"Key": VERSION_TAG, "Value": version},
                    {"Key": "parallelcluster:custom_resource", "Value": "cluster"},
                ],
            },
        },
        "PclusterCfnFunctionLogGroup": {
            "Type": "AWS::Logs::LogGroup",
            "DeletionPolicy": "Retain",
            "Properties": {
                "LogGroupName": {"Fn::Sub": "/aws/lambda/${PclusterCfnFunction}"},
                "RetentionInDays": _LOG_DAYS,
            },
        },
    }
