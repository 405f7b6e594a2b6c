"""Event sources that are mapped to functions: the function's role must be allowed to read them."""

import time
from contextlib import suppress
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, Template, template
from tests.local.support import TRUST

_TABLE = {
    "KeySchema": [{"AttributeName": "run", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "run", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
}
# type, properties, attribute with the source's ARN, what the role needs: Lambda Developer Guide, "Using Lambda with"
# Amazon SQS, Amazon Kinesis, Amazon DynamoDB
_SOURCES: dict[str, tuple[str, Template, str, list[str]]] = {
    "queue": (
        "AWS::SQS::Queue",
        {},
        "Arn",
        ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
    ),
    "stream": (
        "AWS::Kinesis::Stream",
        {"ShardCount": 1},
        "Arn",
        ["kinesis:DescribeStream", "kinesis:GetRecords", "kinesis:GetShardIterator"],
    ),
    "table": (
        "AWS::DynamoDB::Table",
        _TABLE,
        "StreamArn",
        ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
    ),
}


def _mapped(source: str, actions: list[str]) -> Template:
    type_, properties, attribute, _ = _SOURCES[source]
    arn = {"Fn::GetAtt": ["Source", attribute]}
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": arn}]}
    role = {
        "AssumeRolePolicyDocument": TRUST,
        "Policies": [{"PolicyName": "own", "PolicyDocument": document}],
    }
    function = {
        "Runtime": "python3.12",
        "Handler": "index.handler",
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Code": {"ZipFile": "def handler(event, context): pass"},
    }
    mapping = {"FunctionName": {"Ref": "Function"}, "EventSourceArn": arn}
    start = {} if source == "queue" else {"StartingPosition": "LATEST"}
    return template(
        {
            "Source": {"Type": type_, "Properties": properties},
            "Role": {"Type": "AWS::IAM::Role", "Properties": role},
            "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
            "Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {**mapping, **start}},
        }
    )


@pytest.mark.parametrize("source", _SOURCES)
def test_a_role_that_may_read_the_source_is_enough(stacks: Stacks, source: str) -> None:
    name = stacks.deployed(_mapped(source, _SOURCES[source][3]))
    assert stacks.delete(name) == "DELETE_COMPLETE"


@pytest.mark.parametrize(("source", "missing"), [(name, number) for name in _SOURCES for number in range(3)])
def test_a_role_that_lacks_one_permission_is_refused(stacks: Stacks, source: str, missing: int) -> None:
    actions = [action for number, action in enumerate(_SOURCES[source][3]) if number != missing]
    failure = stacks.failure(_mapped(source, actions))
    assert failure.startswith("The function execution role does not have permissions to read the event source")
    assert _SOURCES[source][3][missing] in failure


_PUT: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "queue": ("sqs", "send_message", "QueueUrl", {"MessageBody": "x"}),
    "stream": ("kinesis", "put_record", "StreamName", {"Data": b"x", "PartitionKey": "1"}),
    "table": ("dynamodb", "put_item", "TableName", {"Item": {"run": {"S": "1"}}}),
}


@pytest.mark.parametrize("source", _SOURCES)
def test_what_is_put_into_a_source_reaches_the_function(stacks: Stacks, aws: LocalAws, source: str) -> None:
    body: dict[str, Any] = _mapped(source, [*_SOURCES[source][3]])
    function = body["Resources"]["Function"]["Properties"]
    function["Code"]["ZipFile"] = "def handler(event, context):\n    print(len(event['Records']), 'came')\n"
    logging = {"Effect": "Allow", "Action": "logs:*", "Resource": "*"}
    body["Resources"]["Role"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"].append(logging)
    name = stacks.deployed(body)
    service, operation, parameter, what = _PUT[source]
    getattr(aws.client(service), operation)(**{parameter: stacks.physical_id(name, "Source")}, **what)
    logs, group = aws.client("logs"), f"/aws/lambda/{stacks.physical_id(name, 'Function')}"
    deadline, came = time.monotonic() + 300, False
    while not came and time.monotonic() < deadline:
        with suppress(ClientError):
            came = bool(logs.filter_log_events(logGroupName=group, filterPattern="came")["events"])
        time.sleep(0 if came else 0.05)
    assert came


def test_a_source_that_does_not_exist_is_refused(stacks: Stacks) -> None:
    body: dict[str, Any] = _mapped("queue", _SOURCES["queue"][3])
    body["Resources"]["Mapping"]["Properties"]["EventSourceArn"] = "arn:aws:sqs:us-west-2:123456789012:nobody"
    assert "Invalid EventSourceArn" in stacks.failure(body)
