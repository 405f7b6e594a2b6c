"""An acknowledgment is written where the tool reads it that has found something."""

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_s3 as s3

from cdk_trainyard.acknowledgments import acknowledge


@pytest.fixture
def stack() -> Stack:
    return Stack(App(), "Stack")


def test_each_tool_is_told_in_its_own_way(stack: Stack) -> None:
    bucket = s3.CfnBucket(stack, "Bucket")
    acknowledge(bucket, {"AwsSolutions-S1": "a", "CKV_AWS_18": "b", "W3010": "c", "TemplateValidation::W3010": "d"})
    acknowledge(bucket, {"NIST.800.53.R5-S3DefaultEncryptionKMS": "e", "CKV_AWS_21": "f", "W3005": "g"})
    told = [entry for entry in bucket.node.metadata if entry.type == Validations.ACKNOWLEDGED_RULES_METADATA_KEY]
    assert [rule for entry in told for rule in entry.data.items()] == [
        ("AwsSolutions::AwsSolutions-S1", "a"),
        ("TemplateValidation::W3010", "d"),
        ("NIST.800.53.R5::NIST.800.53.R5-S3DefaultEncryptionKMS", "e"),
    ]
    assert bucket.get_metadata("checkov") == {
        "skip": [{"id": "CKV_AWS_18", "comment": "b"}, {"id": "CKV_AWS_21", "comment": "f"}]
    }
    assert bucket.get_metadata("cfn-lint") == {
        "config": {"ignore_checks": ["W3010", "W3005"], "reasons": {"W3010": "c", "W3005": "g"}}
    }


def test_a_construct_of_several_resources_has_no_metadata(stack: Stack) -> None:
    with pytest.raises(TypeError, match="Stack/Bucket is no L1 resource"):
        acknowledge(s3.Bucket(stack, "Bucket"), {"CKV_AWS_18": "a"})


def test_nothing_is_acknowledged_without_a_reason(stack: Stack) -> None:
    with pytest.raises(ValueError, match="an acknowledgment of CKV_AWS_18 needs a reason"):
        acknowledge(s3.CfnBucket(stack, "Bucket"), {"AwsSolutions-S1": "a", "CKV_AWS_18": " "})
