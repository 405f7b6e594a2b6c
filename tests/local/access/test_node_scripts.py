"""What nodes may do with the bucket of their scripts, by the statements that every orchestrator's roles have."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3
from botocore.exceptions import ClientError

from cdk_trainyard.lifecycle.reading import script_statements
from cdk_trainyard.local import LocalAws
from tests.local.access.conftest import Role

BUCKET = "own-scripts"
FAMILY = "lifecycle-scripts/train"


@pytest.fixture
def node(aws: LocalAws, role: Callable[..., Role]) -> Iterator[Any]:
    """S3 as a node calls it, beside a bucket with a script of its own and one of somebody else's."""
    client = aws.client("s3")
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": aws.region})
    keys = [f"{FAMILY}/on_create.sh", "lifecycle-scripts/other/on_create.sh"]
    for key in keys:
        client.put_object(Bucket=BUCKET, Key=key, Body=b"#!/bin/bash\n")
    arn = f"arn:aws:s3:::{BUCKET}"
    bucket = s3.Bucket.from_bucket_attributes(Stack(App(), "Stack"), "Bucket", bucket_arn=arn)
    statements = script_statements(bucket, objects_arn=f"{arn}/{FAMILY}/*")
    yield role(*(statement.to_json() for statement in statements)).client("s3")
    for key in keys:
        client.delete_object(Bucket=BUCKET, Key=key)
    client.delete_bucket(Bucket=BUCKET)


def code(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as error:
        call()
    return str(error.value.response["Error"]["Code"])


def test_a_file_that_is_missing_is_said_to_be(node: Any) -> None:
    """HyperPod looks for one beside the scripts, and 403 would be taken for a failure."""
    key = f"{FAMILY}/provisioning_parameters.json"
    assert code(lambda: node.get_object(Bucket=BUCKET, Key=key)) == "NoSuchKey"
    assert code(lambda: node.head_object(Bucket=BUCKET, Key=key)) == "404"
    node.head_bucket(Bucket=BUCKET)


def test_a_node_reads_its_own_scripts_and_writes_none(node: Any) -> None:
    assert node.get_object(Bucket=BUCKET, Key=f"{FAMILY}/on_create.sh")["Body"].read() == b"#!/bin/bash\n"
    assert code(lambda: node.get_object(Bucket=BUCKET, Key="lifecycle-scripts/other/on_create.sh")) == "AccessDenied"
    assert code(lambda: node.put_object(Bucket=BUCKET, Key=f"{FAMILY}/on_create.sh", Body=b"x")) == "AccessDenied"
