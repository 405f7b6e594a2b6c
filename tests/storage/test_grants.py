"""Exact actions, on exact objects, with the key's permissions along."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from cdk_trainyard.storage import BucketGrants
from cdk_trainyard.storage.grants import (
    delete_statements,
    job_statements,
    objects_arn,
    read_statements,
    read_write_statements,
    write_statements,
)

WRITES = ["s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:PutObject", "s3:PutObjectTagging"]
ARN = "arn:aws:s3:::data"
KEY = "arn:aws:kms:us-west-2:111111111111:key/1"


@pytest.fixture
def stack() -> Stack:
    return Stack(App(), "Stack")


@pytest.fixture
def bucket(stack: Stack) -> s3.IBucket:
    key = kms.Key.from_key_arn(stack, "Key", KEY)
    return s3.Bucket.from_bucket_attributes(stack, "Bucket", bucket_arn=ARN, encryption_key=key)


def plain(statements: list[iam.PolicyStatement]) -> list[dict[str, Any]]:
    return [statement.to_statement_json() for statement in statements]


def allow(actions: list[str] | str, resource: str, **more: object) -> dict[str, Any]:
    return {"Action": actions, "Effect": "Allow", "Resource": resource, **more}


LISTING = {"StringLike": {"s3:prefix": ["tokenized", "tokenized/*"]}}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            read_statements,
            [
                allow("s3:GetObject", f"{ARN}/tokenized/*"),
                allow("s3:ListBucket", ARN, Condition=LISTING),
                allow("kms:Decrypt", KEY),
            ],
        ),
        (
            write_statements,
            [allow(WRITES, f"{ARN}/tokenized/*"), allow(["kms:Decrypt", "kms:GenerateDataKey"], KEY)],
        ),
        (
            read_write_statements,
            [
                allow(sorted([*WRITES, "s3:GetObject"]), f"{ARN}/tokenized/*"),
                allow("s3:ListBucket", ARN, Condition=LISTING),
                allow(["kms:Decrypt", "kms:GenerateDataKey"], KEY),
            ],
        ),
        (delete_statements, [allow("s3:DeleteObject", f"{ARN}/tokenized/*")]),
    ],
)
@pytest.mark.parametrize("prefix", ["tokenized", "tokenized/"])
def test_the_statements_of_each_verb(
    bucket: s3.IBucket, make: Callable[..., list[iam.PolicyStatement]], expected: list[dict[str, Any]], prefix: str
) -> None:
    assert plain(make(bucket, prefix=prefix)) == expected


def test_without_a_prefix_the_whole_bucket(bucket: s3.IBucket) -> None:
    assert plain(read_statements(bucket))[:2] == [allow("s3:GetObject", f"{ARN}/*"), allow("s3:ListBucket", ARN)]
    assert objects_arn(bucket) == BucketGrants(bucket).objects_arn() == f"{ARN}/*"


def test_without_a_key_no_key_permission(stack: Stack) -> None:
    plainly = s3.Bucket.from_bucket_name(stack, "Plain", "plain")
    actions = [action for statement in read_write_statements(plainly) for action in statement.actions]
    assert not [action for action in actions if action.startswith("kms:")]


@pytest.mark.parametrize("verb", ["read", "write", "read_write", "delete"])
def test_a_managed_policy_takes_grants(stack: Stack, bucket: s3.IBucket, verb: str) -> None:
    policy = iam.ManagedPolicy(stack, "Policy")
    assert getattr(BucketGrants(bucket), verb)(policy, prefix="tokenized").success
    (resource,) = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy").values()
    actions = [
        action
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    ]
    assert actions
    assert not [action for action in actions if "*" in action]


def test_a_role_takes_grants_with_their_conditions(stack: Stack, bucket: s3.IBucket) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    BucketGrants(bucket).read(role, prefix="tokenized")
    Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::Policy",
        {
            "PolicyDocument": {
                "Statement": [
                    allow("s3:GetObject", f"{ARN}/tokenized/*"),
                    allow("s3:ListBucket", ARN, Condition=LISTING),
                    allow("kms:Decrypt", KEY),
                ]
            }
        },
    )


def test_jobs_read_some_buckets_and_write_others_and_every_wildcard_is_told(stack: Stack, bucket: s3.IBucket) -> None:
    runs = s3.Bucket.from_bucket_name(stack, "Runs", "runs")
    statements, wildcards = job_statements(read=[bucket], read_write=[runs])
    assert plain(statements) == plain([*read_statements(bucket), *read_write_statements(runs)])
    asked = [arn for statement in statements for arn in statement.resources if "*" in arn]
    assert wildcards == asked == [objects_arn(bucket), objects_arn(runs)]
