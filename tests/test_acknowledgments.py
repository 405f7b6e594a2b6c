"""An acknowledgment is written where the tool reads it that has found something."""

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import IConstruct

from cdk_trainyard import acknowledgments
from cdk_trainyard.acknowledgments import NIST_800_53_R5, Wildcards, acknowledge


@pytest.fixture
def stack() -> Stack:
    return Stack(App(), "Stack")


def told(construct: IConstruct) -> list[tuple[str, str]]:
    entries = [each for each in construct.node.metadata if each.type == Validations.ACKNOWLEDGED_RULES_METADATA_KEY]
    return [rule for entry in entries for rule in entry.data.items()]


def test_each_tool_is_told_in_its_own_way(stack: Stack) -> None:
    bucket = s3.CfnBucket(stack, "Bucket")
    acknowledge(bucket, {"AwsSolutions-S1": "a", "CKV_AWS_18": "b", "W3010": "c", "TemplateValidation::W3010": "d"})
    acknowledge(bucket, {"NIST.800.53.R5-S3DefaultEncryptionKMS": "e", "CKV_AWS_21": "f", "W3005": "g"})
    assert told(bucket) == [
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


def test_wildcards_of_a_policy_are_told_when_its_text_is_settled(stack: Stack) -> None:
    policy = iam.CfnManagedPolicy(stack, "Policy", policy_document={})
    wildcards = Wildcards(policy)
    wildcards.acknowledge("a", "*")
    wildcards.acknowledge("b", "*", f"{s3.CfnBucket(stack, 'Bucket').attr_arn}/*")
    assert told(policy) == []
    assert policy.node.validate() == []
    rule = "AwsSolutions::AwsSolutions-IAM5[Resource::{}]".format
    assert told(policy) == [(rule("*"), "a"), (rule("<Bucket.Arn>/*"), "b")]


def test_former_names_say_the_new_ones(stack: Stack) -> None:
    bucket = s3.CfnBucket(stack, "Bucket")
    with pytest.warns(
        DeprecationWarning, match=r"^write acknowledge\(resource, \{'NIST\.800\.53\.R5-A': reason\}\)$"
    ) as nag:
        acknowledgments.acknowledge_nag(bucket, pack=NIST_800_53_R5, rule="A", reason="a")
    with pytest.warns(DeprecationWarning, match="CKV_AWS_18"):
        acknowledgments.acknowledge_checkov(bucket, check="CKV_AWS_18", reason="b")
    with pytest.warns(DeprecationWarning, match="W3010"):
        acknowledgments.acknowledge_cfn_lint(bucket, check="W3010", reason="c")
    with pytest.warns(DeprecationWarning, match=r"Wildcards\(policy\)\.acknowledge") as wildcards:
        acknowledgments.acknowledge_wildcards(bucket, reason="d", resources=["*"], actions=["s3:*"])
    bucket.node.validate()
    assert {nag[0].filename, wildcards[0].filename} == {__file__}
    assert told(bucket) == [
        ("NIST.800.53.R5::NIST.800.53.R5-A", "a"),
        ("AwsSolutions::AwsSolutions-IAM5[Action::s3:*]", "d"),
        ("AwsSolutions::AwsSolutions-IAM5[Resource::*]", "d"),
    ]
    assert bucket.get_metadata("checkov")["skip"] == [{"id": "CKV_AWS_18", "comment": "b"}]
    assert bucket.get_metadata("cfn-lint")["config"]["reasons"] == {"W3010": "c"}
