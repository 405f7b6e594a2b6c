"""What ECS and CodeBuild do with the roles of tasks and builds: asked for, and refused where it would be."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, Template, template
from tests.local.support import TRUST, of

_IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/huggingface-tgi:1"
_PULL = {
    "Effect": "Allow",
    "Action": ["ecr:BatchGetImage", "ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer"],
    "Resource": "arn:aws:ecr:us-west-2:763104351884:repository/huggingface-tgi",
}
_TOKEN = {"Effect": "Allow", "Action": "ecr:GetAuthorizationToken", "Resource": "*"}
_LOG = {
    "Effect": "Allow",
    "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
    "Resource": {"Fn::GetAtt": ["Logs", "Arn"]},
}
_READ = {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": {"Ref": "Secret"}}
_PARAMETER = {
    "Effect": "Allow",
    "Action": "ssm:GetParameters",
    "Resource": {"Fn::Sub": "arn:aws:ssm:us-west-2:${AWS::AccountId}:parameter/plain"},
}
_WRITE = {
    "Effect": "Allow",
    "Action": ["s3:GetBucketAcl", "s3:GetBucketLocation", "s3:PutObject"],
    "Resource": [of("BucketArn"), {"Fn::Join": ["", [of("BucketArn"), "/model/*"]]}],
}
_NEEDED = {"token": _TOKEN, "pull": _PULL, "log": _LOG, "secret": _READ, "parameter": _PARAMETER}


def _role(**statements: Template) -> Template:
    document = {"Version": "2012-10-17", "Statement": list(statements.values())}
    policies = [{"PolicyName": "own", "PolicyDocument": document}]
    properties = {"AssumeRolePolicyDocument": TRUST, "Policies": policies}
    return {
        "Role": {"Type": "AWS::IAM::Role", "Properties": properties},
        "Logs": {"Type": "AWS::Logs::LogGroup"},
        "Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"GenerateSecretString": {}}},
    }


def _service(**statements: Template) -> Template:
    container = {
        "Name": "engine",
        "Image": _IMAGE,
        "Memory": 512,
        "Secrets": [
            {"Name": "A", "ValueFrom": {"Fn::Sub": "${Secret}:key::"}},
            {"Name": "B", "ValueFrom": "plain"},
        ],
        "LogConfiguration": {
            "LogDriver": "awslogs",
            "Options": {"awslogs-group": {"Ref": "Logs"}, "awslogs-region": "us-west-2"},
        },
    }
    task = {"ExecutionRoleArn": {"Fn::GetAtt": ["Role", "Arn"]}, "ContainerDefinitions": [container]}
    service = {"Cluster": {"Ref": "Cluster"}, "TaskDefinition": {"Ref": "Task"}, "DesiredCount": 1}
    return template(
        {
            **_role(**statements),
            "Cluster": {"Type": "AWS::ECS::Cluster"},
            "Task": {"Type": "AWS::ECS::TaskDefinition", "Properties": task},
            "Service": {"Type": "AWS::ECS::Service", "Properties": service},
        }
    )


def _project(**statements: Template) -> Template:
    variables = [
        {"Name": "A", "Type": "SECRETS_MANAGER", "Value": {"Ref": "Secret"}},
        {"Name": "B", "Type": "PARAMETER_STORE", "Value": "plain"},
    ]
    properties = {
        "ServiceRole": {"Fn::GetAtt": ["Role", "Arn"]},
        "Source": {"Type": "NO_SOURCE", "BuildSpec": "version: 0.2"},
        "Environment": {
            "Type": "LINUX_CONTAINER",
            "ComputeType": "BUILD_GENERAL1_SMALL",
            "Image": _IMAGE,
            "ImagePullCredentialsType": "SERVICE_ROLE",
            "EnvironmentVariables": variables,
        },
        "Artifacts": {"Type": "S3", "Location": of("Bucket"), "Name": "model", "Packaging": "NONE"},
        "LogsConfig": {"CloudWatchLogs": {"Status": "ENABLED", "GroupName": {"Ref": "Logs"}}},
    }
    return template({**_role(**statements), "Project": {"Type": "AWS::CodeBuild::Project", "Properties": properties}})


def _without(statements: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in statements.items() if key != name}


pytestmark = pytest.mark.usefixtures("support")


def test_a_service_runs_when_its_execution_role_may_start_its_tasks(stacks: Stacks) -> None:
    stacks.deployed(_service(**_NEEDED))


@pytest.mark.parametrize(
    ("missing", "action"),
    [
        ("token", "ecr:GetAuthorizationToken"),
        ("pull", "ecr:BatchGetImage"),
        ("log", "logs:CreateLogStream"),
        ("secret", "secretsmanager:GetSecretValue"),
        ("parameter", "ssm:GetParameters"),
    ],
)
def test_fails_without_a_permission_of_the_execution_role(stacks: Stacks, missing: str, action: str) -> None:
    reason = stacks.failure(_service(**_without(_NEEDED, missing)))
    assert f"is not authorized to perform: {action}" in reason


def test_a_service_without_tasks_asks_for_nothing(stacks: Stacks) -> None:
    idle = _service(token=_TOKEN)
    idle["Resources"]["Service"]["Properties"]["DesiredCount"] = 0
    stacks.deployed(idle)


@pytest.mark.parametrize(
    ("missing", "action"),
    [
        ("nothing", ""),
        ("token", "ecr:GetAuthorizationToken"),
        ("pull", "ecr:BatchGetImage"),
        ("log", "logs:CreateLogStream"),
        ("secret", "secretsmanager:GetSecretValue"),
        ("parameter", "ssm:GetParameters"),
        ("write", "s3:GetBucketAcl"),
    ],
)
def test_a_build_needs_the_permissions_of_its_service_role(
    aws: LocalAws, stacks: Stacks, missing: str, action: str
) -> None:
    name = stacks.deployed(_project(**_without({**_NEEDED, "write": _WRITE}, missing)))
    project = stacks.physical_id(name, "Project")
    if not action:
        assert aws.client("codebuild").start_build(projectName=project)["build"]["projectName"] == project
        return
    with pytest.raises(ClientError, match=f"is not authorized to perform: {action}"):
        aws.client("codebuild").start_build(projectName=project)
