"""Faults that are switched on: refusals, throttling, slow answers, empty pages, answers of before."""

import time
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from cdk_trainyard.local import Fault, LocalAws

REGION = "eu-south-1"


def users(aws: LocalAws, service: str) -> Any:
    """A client as a user's program has: it tries again."""
    environment = aws.environment
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=aws.endpoint,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"mode": "standard", "total_max_attempts": 4}),
    )


@pytest.mark.parametrize(
    ("service", "operation", "code", "status"),
    [
        ("sagemaker", "list_clusters", "ThrottlingException", 400),
        ("ec2", "describe_vpcs", "UnauthorizedOperation", 400),
        ("iam", "list_roles", "AccessDenied", 400),
        ("s3", "list_buckets", "SlowDown", 400),
        ("sts", "get_caller_identity", "ExpiredToken", 400),
        ("batch", "describe_job_queues", "InternalFailure", 500),
    ],
)
def test_an_error_answers_in_the_protocol_of_its_service(
    aws: LocalAws, service: str, operation: str, code: str, status: int
) -> None:
    client = aws.client(service, REGION)
    with aws.faults(Fault(call=f"{service} *", code=code, message="so it is")), pytest.raises(ClientError) as caught:
        getattr(client, operation)()
    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["Error"]["Message"] == "so it is"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    getattr(client, operation)()


def test_a_throttled_call_is_answered_when_it_is_made_again(aws: LocalAws) -> None:
    with aws.faults(Fault(call="ec2 DescribeVpcs", code="RequestLimitExceeded", times=1)):
        answer = users(aws, "ec2").describe_vpcs()
    assert answer["ResponseMetadata"]["RetryAttempts"] == 1


def test_a_fault_concerns_the_calls_that_it_names(aws: LocalAws) -> None:
    with aws.faults(Fault(call="ec2 DescribeVpc?", code="UnauthorizedOperation")):
        aws.client("ec2", REGION).describe_vpc_endpoints()
        with pytest.raises(ClientError):
            aws.client("ec2", REGION).describe_vpcs()


def test_answers_come_late(aws: LocalAws) -> None:
    client = aws.client("sts", REGION)
    client.get_caller_identity()
    began = time.monotonic()
    with aws.faults(Fault(call="*", seconds=0.15)):
        client.get_caller_identity()
    assert time.monotonic() - began >= 0.15


@pytest.mark.parametrize(
    ("service", "operation", "member"),
    [
        ("sagemaker", "list_clusters", "ClusterSummaries"),
        ("ec2", "describe_availability_zones", "AvailabilityZones"),
        ("ec2", "describe_vpcs", "Vpcs"),
        ("iam", "list_roles", "Roles"),
        ("batch", "describe_job_queues", "jobQueues"),
    ],
)
def test_the_first_page_is_empty(aws: LocalAws, service: str, operation: str, member: str) -> None:
    client = aws.client(service, REGION)
    whole = client.get_paginator(operation).paginate().build_full_result() if client.can_paginate(operation) else None
    with aws.faults(Fault(call=f"{service} *", empty_first=True)):
        first = getattr(client, operation)()
        again = client.get_paginator(operation).paginate().build_full_result() if whole is not None else None
    assert (first[member] == []) is (whole is not None)
    assert again == whole


def test_a_reading_is_of_before(aws: LocalAws) -> None:
    ssm = aws.client("ssm", REGION)
    ssm.put_parameter(Name="/faults/a", Value="old", Type="String", Overwrite=True)
    with aws.faults(Fault(call="ssm GetParameter", stale=True, times=3)):
        seen = []
        for value in ("old", "new", "new", "new"):
            ssm.put_parameter(Name="/faults/a", Value=value, Type="String", Overwrite=True)
            seen.append(ssm.get_parameter(Name="/faults/a")["Parameter"]["Value"])
    assert seen == ["old", "old", "old", "new"]


def test_what_the_local_aws_asks_itself_has_no_faults(aws: LocalAws) -> None:
    """A stack with a subnet asks EC2 for its VPC, here through EC2's own interface."""
    template = '{"Resources": {"Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}}}'
    client = aws.client("cloudformation", REGION)
    with aws.faults(Fault(call="ec2 *", code="UnauthorizedOperation")):
        client.create_stack(StackName="faultless", TemplateBody=template)
        (stack,) = client.describe_stacks(StackName="faultless")["Stacks"]
        client.delete_stack(StackName="faultless")
    assert stack["StackStatus"] == "CREATE_COMPLETE"
