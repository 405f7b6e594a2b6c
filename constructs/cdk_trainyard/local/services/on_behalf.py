"""What ECS, CodeBuild and Lambda do with a role that they were given, before anything of their user's runs.

Nothing is done: each call is asked for, as the role's session would make it, and refused where it would be.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cdk_trainyard.local.access.authorization import authorize
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.access.sessions import Session, issue
from cdk_trainyard.local.errors import ApiError

_IMAGE = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/(?P<repository>[^:@]+).*"
)
_LAYER = "sha256:" + "0" * 64
_SECRET_PARTS = 7  # of a secret's ARN: what follows names a part of its value
Asked = Iterator[tuple[str, str, dict[str, Any]]]
"""Service, operation and parameters of each call."""


def start_task(execution_role: str, containers: Sequence[Mapping[str, Any]], region: str) -> None:
    """Do what ECS's agent does for a task with its execution role: pull, read secrets, log.

    Args:
        execution_role: ARN of the role.
        containers: The definitions of the task's containers, as the API tells them.
        region: Where it runs.

    Raises:
        ApiError: The role may not.
    """
    _ask(issue(execution_role, "ecs-task", "task", region), _of_task(containers), region)


def start_build(project: Mapping[str, Any], region: str) -> None:
    """Do what CodeBuild does for a build with the project's service role: log, pull, read secrets, write artifacts.

    Args:
        project: The project, as the API tells it.
        region: Where it is built.

    Raises:
        ApiError: The role may not.
    """
    _ask(issue(project["serviceRole"], "AWSCodeBuild-build", "build", region), _of_build(project), region)


def read_events(role: str, source: str, region: str) -> None:
    """Do what Lambda does with a function's execution role to read a queue or a stream that is mapped to it.

    Args:
        role: ARN of the role.
        source: ARN of the queue or the stream.
        region: Where it is.

    Raises:
        ApiError: The role may not.
    """
    _ask(issue(role, "event-source-mapping", "function", region), _of_source(source), region)


def _ask(session: Session, calls: Asked, region: str) -> None:
    for service, operation, parameters in calls:
        try:
            authorize(session, Call(service=service, operation=operation, parameters=parameters, region=region))
        except ApiError as refusal:
            raise ApiError("AccessDeniedException", f"what starts it fails: {refusal.message}") from refusal


def _of_task(containers: Sequence[Mapping[str, Any]]) -> Asked:
    for container in containers:
        log, credentials = container.get("logConfiguration") or {}, container.get("repositoryCredentials") or {}
        yield from _pull(container["image"])
        for secret in [*container.get("secrets", ()), *log.get("secretOptions", ())]:
            reference = secret["valueFrom"]
            yield from (_secret if ":secretsmanager:" in reference else _parameter)(reference)
        if credentials:
            yield from _secret(credentials["credentialsParameter"])
        if log.get("logDriver") == "awslogs":
            options = log["options"]
            group, stream = (
                options["awslogs-group"],
                f"{options.get('awslogs-stream-prefix', 'ecs')}/{container['name']}",
            )
            if options.get("awslogs-create-group") == "true":
                yield "logs", "CreateLogGroup", {"logGroupName": group}
            yield from _log(group, stream)


def _of_build(project: Mapping[str, Any]) -> Asked:
    environment, artifacts = project["environment"], project["artifacts"]
    logs = (project.get("logsConfig") or {}).get("cloudWatchLogs") or {}
    if logs.get("status") != "DISABLED":
        group = logs.get("groupName") or f"/aws/codebuild/{project['name']}"
        yield from _log(group, f"{logs.get('streamName', '')}/build".strip("/"))
    if environment.get("imagePullCredentialsType") == "SERVICE_ROLE":
        yield from _pull(environment["image"])
    for variable in environment.get("environmentVariables", ()):
        if variable.get("type") == "SECRETS_MANAGER":
            yield from _secret(variable["value"])
        elif variable.get("type") == "PARAMETER_STORE":
            yield from _parameter(variable["value"])
    if artifacts.get("type") == "S3":
        bucket = artifacts["location"].partition("/")[0]
        place = [artifacts.get("path", ""), artifacts.get("name", ""), "artifact"]
        yield "s3", "GetBucketAcl", {"Bucket": bucket}
        yield "s3", "GetBucketLocation", {"Bucket": bucket}
        yield "s3", "PutObject", {"Bucket": bucket, "Key": "/".join(part.strip("/") for part in place if part)}


def _of_source(source: str) -> Asked:
    """Source: Lambda Developer Guide, "Using Lambda with" SQS, Kinesis and DynamoDB, execution role permissions."""
    service = source.split(":")[2]
    if service == "sqs":
        operations, queue = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes"), source.rpartition(":")[2]
        yield from (("sqs", operation, {"QueueUrl": queue}) for operation in operations)
    elif service == "kinesis":
        operations = ("DescribeStream", "GetRecords", "GetShardIterator")
        yield from (("kinesis", operation, {"StreamARN": source}) for operation in operations)
    elif service == "dynamodb":
        operations = ("DescribeStream", "GetRecords", "GetShardIterator")
        yield from (("dynamodbstreams", operation, {"StreamArn": source}) for operation in operations)


def _log(group: str, stream: str) -> Asked:
    yield "logs", "CreateLogStream", {"logGroupName": group, "logStreamName": stream}
    yield "logs", "PutLogEvents", {"logGroupName": group, "logStreamName": stream}


def _pull(image: str) -> Asked:
    """Pull an image from ECR; other registries ask no role."""
    found = _IMAGE.fullmatch(image)
    if not found:
        return
    repository = {"registryId": found["account"], "repositoryName": found["repository"]}
    yield "ecr", "GetAuthorizationToken", {}
    yield "ecr", "BatchGetImage", {**repository, "imageIds": []}
    yield "ecr", "BatchCheckLayerAvailability", {**repository, "layerDigests": [_LAYER]}
    yield "ecr", "GetDownloadUrlForLayer", {**repository, "layerDigest": _LAYER}


def _secret(reference: str) -> Asked:
    """Read a secret, or a part of its value: ``SECRET:KEY:STAGE:VERSION``, where the secret is a name or an ARN."""
    parts = _SECRET_PARTS if reference.startswith("arn:") else 1
    yield "secretsmanager", "GetSecretValue", {"SecretId": ":".join(reference.split(":")[:parts])}


def _parameter(name: str) -> Asked:
    yield "ssm", "GetParameters", {"Names": [name], "WithDecryption": True}
