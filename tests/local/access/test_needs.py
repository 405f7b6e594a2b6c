"""Which permissions a call needs: the service authorization reference, and the pages of each service on permissions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest
from moto.core.request import Request

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.access.actions import actions_of
from cdk_trainyard.local.access.call import Call, call_of
from cdk_trainyard.local.access.needs import needs_of
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.policy import Context
from tools import generate_iam_actions

REGION, ACCOUNT = "us-east-1", "123456789012"


def test_the_committed_actions_are_what_the_generator_writes() -> None:
    committed = Path(generate_iam_actions.OUTPUT).read_text(encoding="utf-8")
    assert committed == generate_iam_actions.text(), "run python -m tools.generate_iam_actions"


@pytest.fixture(autouse=True)
def _own_account(aws: LocalAws) -> Iterator[None]:
    assert aws.account == ACCOUNT
    return


OBJECT = {"Bucket": "nobodys", "Key": "a/b"}
GROUP = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/x"
EC2 = f"arn:aws:ec2:{REGION}:{ACCOUNT}"
BATCH, DYNAMODB, EVENTS, KINESIS = (
    f"arn:aws:{service}:{REGION}:{ACCOUNT}" for service in ("batch", "dynamodb", "events", "kinesis")
)
GATEWAY, MAPPING = f"arn:aws:apigateway:{REGION}", f"arn:aws:lambda:{REGION}:{ACCOUNT}:event-source-mapping"

# service, operation, parameters, needs: "action resource"; S3 User Guide, "Required permissions for Amazon S3 API
# operations"; CloudWatch Logs User Guide, "… permissions reference"; EC2 and SSM: Service Authorization Reference
ROWS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("s3", "GetObject", OBJECT, ["s3:GetObject arn:aws:s3:::nobodys/a/b"]),
    ("s3", "GetObject", {**OBJECT, "VersionId": "1"}, ["s3:GetObjectVersion arn:aws:s3:::nobodys/a/b"]),
    ("s3", "HeadObject", OBJECT, ["s3:GetObject arn:aws:s3:::nobodys/a/b"]),
    ("s3", "HeadBucket", {"Bucket": "nobodys"}, ["s3:ListBucket arn:aws:s3:::nobodys"]),
    ("s3", "ListObjectsV2", {"Bucket": "nobodys"}, ["s3:ListBucket arn:aws:s3:::nobodys"]),
    ("s3", "ListBuckets", {}, ["s3:ListAllMyBuckets *"]),
    ("s3", "PutObject", OBJECT, ["s3:PutObject arn:aws:s3:::nobodys/a/b"]),
    (
        "s3",
        "PutObject",
        {**OBJECT, "Tagging": "a=b"},
        ["s3:PutObject arn:aws:s3:::nobodys/a/b", "s3:PutObjectTagging arn:aws:s3:::nobodys/a/b"],
    ),
    ("s3", "UploadPart", {**OBJECT, "PartNumber": 1}, ["s3:PutObject arn:aws:s3:::nobodys/a/b"]),
    ("s3", "AbortMultipartUpload", OBJECT, ["s3:AbortMultipartUpload arn:aws:s3:::nobodys/a/b"]),
    ("s3", "ListParts", OBJECT, ["s3:ListMultipartUploadParts arn:aws:s3:::nobodys/a/b"]),
    (
        "s3",
        "CopyObject",
        {**OBJECT, "CopySource": "other/c%2Fd?versionId=1"},
        ["s3:GetObject arn:aws:s3:::other/c/d", "s3:PutObject arn:aws:s3:::nobodys/a/b"],
    ),
    (
        "s3",
        "DeleteObjects",
        {"Bucket": "nobodys", "Delete": {"Objects": [{"Key": "a"}, {"Key": "b"}]}},
        ["s3:DeleteObject arn:aws:s3:::nobodys/a", "s3:DeleteObject arn:aws:s3:::nobodys/b"],
    ),
    ("logs", "CreateLogGroup", {"logGroupName": "/aws/x"}, [f"logs:CreateLogGroup {GROUP}:log-stream:"]),
    (
        "logs",
        "PutLogEvents",
        {"logGroupName": "/aws/x", "logStreamName": "y"},
        [f"logs:PutLogEvents {GROUP}:log-stream:y"],
    ),
    ("logs", "DescribeLogStreams", {"logGroupName": "/aws/x"}, [f"logs:DescribeLogStreams {GROUP}:log-stream:"]),
    ("cloudwatch", "PutMetricData", {"Namespace": "n"}, ["cloudwatch:PutMetricData *"]),
    ("ec2", "DescribeInstances", {"InstanceIds": ["i-0123456789abcdef0"]}, ["ec2:DescribeInstances *"]),
    (
        "ec2",
        "CreateTags",
        {"Resources": ["i-0123456789abcdef0", "vol-0123456789abcdef0"], "Tags": [{"Key": "Name", "Value": "x"}]},
        [f"ec2:CreateTags {EC2}:instance/i-0123456789abcdef0", f"ec2:CreateTags {EC2}:volume/vol-0123456789abcdef0"],
    ),
    (
        "ec2",
        "RevokeSecurityGroupIngress",
        {"GroupId": "sg-0123456789abcdef0"},
        [f"ec2:RevokeSecurityGroupIngress {EC2}:security-group/sg-0123456789abcdef0"],
    ),
    ("ssm", "GetParameter", {"Name": "/a/b"}, [f"ssm:GetParameter arn:aws:ssm:{REGION}:{ACCOUNT}:parameter/a/b"]),
    ("fsx", "DescribeFileSystems", {}, ["fsx:DescribeFileSystems *"]),
    (
        "fsx",
        "UpdateFileSystem",
        {"FileSystemId": "fs-0123456789abcdef0"},
        [f"fsx:UpdateFileSystem arn:aws:fsx:{REGION}:{ACCOUNT}:file-system/fs-0123456789abcdef0"],
    ),
    ("ecr", "GetAuthorizationToken", {}, ["ecr:GetAuthorizationToken *"]),
    (
        "ecr",
        "BatchGetImage",
        {"repositoryName": "a/b"},
        [f"ecr:BatchGetImage arn:aws:ecr:{REGION}:{ACCOUNT}:repository/a/b"],
    ),
    (
        "ecr",
        "BatchGetImage",
        {"repositoryName": "a/b", "registryId": "763104351884"},
        [f"ecr:BatchGetImage arn:aws:ecr:{REGION}:763104351884:repository/a/b"],
    ),
    (
        "lambda",
        "Invoke",
        {"FunctionName": "f"},
        [f"lambda:InvokeFunction arn:aws:lambda:{REGION}:{ACCOUNT}:function:f"],
    ),
    (
        "sqs",
        "SendMessageBatch",
        {"QueueUrl": f"http://localhost/{ACCOUNT}/q"},
        [f"sqs:SendMessage arn:aws:sqs:{REGION}:{ACCOUNT}:q"],
    ),
    # Batch User Guide, "Identity-based policy examples": a job is submitted to a queue, with a definition
    (
        "batch",
        "SubmitJob",
        {"jobName": "j", "jobQueue": "q", "jobDefinition": "d:3"},
        [f"batch:SubmitJob {BATCH}:job-definition/d:3", f"batch:SubmitJob {BATCH}:job-queue/q"],
    ),
    ("batch", "TerminateJob", {"jobId": "i", "reason": "r"}, [f"batch:TerminateJob {BATCH}:job/i"]),
    ("batch", "DescribeJobs", {"jobs": ["i"]}, ["batch:DescribeJobs *"]),
    ("dynamodb", "PutItem", {"TableName": "t"}, [f"dynamodb:PutItem {DYNAMODB}:table/t"]),
    (
        "efs",
        "DescribeFileSystems",
        {"FileSystemId": "fs-1"},
        [f"elasticfilesystem:DescribeFileSystems arn:aws:elasticfilesystem:{REGION}:{ACCOUNT}:file-system/fs-1"],
    ),
    (
        "events",
        "PutEvents",
        {"Entries": [{"Detail": "{}"}, {"EventBusName": "b"}, {"EventBusName": f"{EVENTS}:event-bus/c"}]},
        [f"events:PutEvents {EVENTS}:event-bus/{name}" for name in ("default", "b", "c")],
    ),
    ("events", "DescribeRule", {"Name": "r"}, [f"events:DescribeRule {EVENTS}:rule/r"]),
    ("events", "DescribeRule", {"Name": "r", "EventBusName": "b"}, [f"events:DescribeRule {EVENTS}:rule/b/r"]),
    ("kinesis", "PutRecord", {"StreamName": "s"}, [f"kinesis:PutRecord {KINESIS}:stream/s"]),
    ("kinesis", "ListShards", {"StreamARN": f"{KINESIS}:stream/s"}, [f"kinesis:ListShards {KINESIS}:stream/s"]),
    ("apigateway", "GetRestApi", {"restApiId": "a"}, [f"apigateway:GET {GATEWAY}::/restapis/a"]),
    ("apigateway", "CreateRestApi", {"name": "a"}, [f"apigateway:POST {GATEWAY}::/restapis"]),
    ("apigatewayv2", "DeleteApi", {"ApiId": "a"}, [f"apigateway:DELETE {GATEWAY}::/apis/a"]),
    (
        "apigatewayv2",
        "GetTags",
        {"ResourceArn": f"{GATEWAY}::/apis/a"},
        [f"apigateway:GET {GATEWAY}::/tags/arn%3Aaws%3Aapigateway%3A{REGION}%3A%3A%2Fapis%2Fa"],
    ),
    ("lambda", "GetEventSourceMapping", {"UUID": "u"}, [f"lambda:GetEventSourceMapping {MAPPING}:u"]),
    ("sts", "AssumeRole", {"RoleArn": "arn:aws:iam::1:role/r"}, ["sts:AssumeRole arn:aws:iam::1:role/r"]),
    ("sts", "GetCallerIdentity", {}, ["sts:GetCallerIdentity *"]),
]


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "needs"), ROWS, ids=[f"{row[0]} {row[1]} {list(row[2])}" for row in ROWS]
)
def test_a_call_needs(service: str, operation: str, parameters: dict[str, Any], needs: list[str]) -> None:
    call = Call(service=service, operation=operation, parameters=parameters, region=REGION)
    assert [f"{need.action} {need.resource}" for need in needs_of(call)] == needs


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "key", "values"),
    [
        ("s3", "ListObjectsV2", {"Bucket": "b", "Prefix": "p/"}, "s3:prefix", ("p/",)),
        ("s3", "ListObjectsV2", {"Bucket": "b"}, "s3:prefix", ()),
        ("s3", "PutObject", {**OBJECT, "ACL": "public-read"}, "s3:x-amz-acl", ("public-read",)),
        ("s3", "GetObject", OBJECT, "aws:SecureTransport", ("true",)),
        ("s3", "GetObject", OBJECT, "aws:SourceVpce", ()),
        ("cloudwatch", "PutMetricData", {"Namespace": "n"}, "cloudwatch:namespace", ("n",)),
        (
            "ec2",
            "CreateTags",
            {"Resources": ["i-0123456789abcdef0"], "Tags": [{"Key": "A", "Value": "x"}, {"Key": "B", "Value": "y"}]},
            "aws:TagKeys",
            ("A", "B"),
        ),
        (
            "ecs",
            "UpdateContainerInstancesState",
            {"cluster": "c"},
            "ecs:cluster",
            (f"arn:aws:ecs:{REGION}:{ACCOUNT}:cluster/c",),
        ),
        ("ecs", "SubmitTaskStateChange", {"cluster": "c"}, "ecs:cluster", ()),
        ("sts", "AssumeRole", {"RoleArn": "arn:aws:iam::1:role/r", "ExternalId": "e"}, "sts:ExternalId", ("e",)),
    ],
)
def test_a_call_has_a_key(
    service: str, operation: str, parameters: dict[str, Any], key: str, values: tuple[str, ...]
) -> None:
    call = Call(service=service, operation=operation, parameters=parameters, region=REGION)
    assert Context(needs_of(call)[0].keys).values(key) == values


@pytest.mark.parametrize(
    ("service", "operation"), [("s3", "GetObjectFromSpace"), ("route53", "CreateHostedZone"), ("s3", "RenameObject")]
)
def test_an_operation_that_no_table_knows_is_named(service: str, operation: str) -> None:
    with pytest.raises(ApiError, match=f":{operation} needs is not known"):
        actions_of(Call(service=service, operation=operation, parameters={}, region=REGION))


def test_a_type_of_resource_that_no_table_knows_is_named() -> None:
    call = Call(service="sagemaker", operation="DeleteEndpoint", parameters={"EndpointName": "e"}, region=REGION)
    with pytest.raises(ApiError, match="which parameter of sagemaker:DeleteEndpoint names a endpoint"):
        needs_of(call)


# service, method of boto3, parameters: one of each protocol, S3 in both styles
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("s3", "get_object", {"Bucket": "my-bucket", "Key": "a b/ö"}),
    ("s3", "list_objects_v2", {"Bucket": "my-bucket", "Prefix": "p/"}),
    ("s3", "put_object", {"Bucket": "my-bucket", "Key": "k", "Body": b"x", "ServerSideEncryption": "aws:kms"}),
    ("sts", "assume_role", {"RoleArn": "arn:aws:iam::123456789012:role/r", "RoleSessionName": "abc"}),
    ("ec2", "create_tags", {"Resources": ["i-0123456789abcdef0"], "Tags": [{"Key": "A", "Value": "x"}]}),
    ("ssm", "get_parameters", {"Names": ["/a", "/b"], "WithDecryption": True}),
    ("lambda", "invoke", {"FunctionName": "f", "Payload": b"{}"}),
    ("secretsmanager", "get_secret_value", {"SecretId": "s"}),
    ("autoscaling", "complete_lifecycle_action", {
        "AutoScalingGroupName": "g", "LifecycleHookName": "h", "LifecycleActionResult": "CONTINUE"}),
    ("kinesis", "list_shards", {"StreamName": "s", "MaxResults": 5}),
    ("efs", "describe_file_systems", {"FileSystemId": "fs-1"}),
    ("batch", "submit_job", {"jobName": "j", "jobQueue": "q", "jobDefinition": "d"}),
    ("apigateway", "get_rest_api", {"restApiId": "a"}),
    ("apigatewayv2", "get_route", {"ApiId": "a", "RouteId": "r"}),
    ("sqs", "send_message", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q", "MessageBody": "x"}),
]  # fmt: skip


@pytest.mark.parametrize("style", ["path", "virtual"])
@pytest.mark.parametrize(("service", "method", "parameters"), CALLS, ids=[f"{row[0]} {row[1]}" for row in CALLS])
def test_a_request_is_read_as_its_call(service: str, method: str, parameters: dict[str, Any], style: str) -> None:
    client = boto3.client(
        service,
        region_name=REGION,
        aws_access_key_id="x",
        aws_secret_access_key="x",  # noqa: S106  nothing is sent
        config=boto3.session.Config(s3={"addressing_style": style}),
    )
    sent: list[AWSPreparedRequest] = []

    class Caught(Exception):  # noqa: N818
        pass

    def catch(request: AWSPreparedRequest, **_: Any) -> None:
        sent.append(request)
        raise Caught

    client.meta.events.register("before-send", catch)
    with pytest.raises(Caught):
        getattr(client, method)(**parameters)
    request = Request.from_primitives(sent[0].method, sent[0].url, sent[0].headers, sent[0].body)
    call = call_of(request.environ, request.get_data(), service, REGION)
    assert call.operation == client.meta.method_to_api_mapping[method]
    said = {name: value for name, value in parameters.items() if name not in {"Body", "Payload"}}
    assert {name: call.get(name) for name in said} == said
