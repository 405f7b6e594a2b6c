"""Buckets: closed, encrypted, logged, aging; made here or brought along."""

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.storage import BucketPurpose, TrainingBucket, TrainingBuckets
from cdk_trainyard.storage.bucket_lifecycle import lifecycle_rules

ENV = Environment(account="111111111111", region="us-west-2")


def make_stack() -> Stack:
    return Stack(App(), "Stack", env=ENV)


@pytest.fixture
def stack() -> Stack:
    return make_stack()


@pytest.fixture(scope="module")
def minimal() -> Template:
    stack = make_stack()
    TrainingBuckets(stack, "Buckets")
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def temporary() -> Template:
    stack = make_stack()
    TrainingBuckets(stack, "Buckets", auto_delete=True, checkpoint_days=3)
    return Template.from_stack(stack)


def resources(template: Template, resource_type: str) -> dict[str, dict[str, Any]]:
    return {name: dict(resource) for name, resource in template.find_resources(resource_type).items()}


def named(template: Template, resource_type: str, part: str) -> dict[str, Any]:
    (found,) = [resource for name, resource in resources(template, resource_type).items() if part in name]
    return found


DATA = ["Scripts", "Datasets", "Checkpoints", "Models"]
EVERY = [*DATA, "AccessLogs"]


def test_minimal_makes_four_buckets_a_log_and_a_key(minimal: Template) -> None:
    minimal.resource_count_is("AWS::S3::Bucket", 5)
    minimal.resource_count_is("AWS::KMS::Key", 1)
    minimal.resource_count_is("AWS::Lambda::Function", 0)


def test_logical_ids_are_pinned(minimal: Template) -> None:
    """Another logical id is another bucket: the data stays behind in the old one."""
    assert sorted(resources(minimal, "AWS::S3::Bucket")) == [
        "BucketsAccessLogs0C4EFE68",
        "BucketsCheckpoints86D0862D",
        "BucketsDatasets6E1BA9A3",
        "BucketsModels7B9F0CF2",
        "BucketsScriptsB9D71EF0",
    ]
    assert sorted(resources(minimal, "AWS::KMS::Key")) == ["BucketsKeyCD6AF5CF"]


@pytest.mark.parametrize("name", EVERY)
def test_every_bucket_is_closed_and_retained_with_its_policy(minimal: Template, name: str) -> None:
    bucket = named(minimal, "AWS::S3::Bucket", name)
    assert bucket["Properties"]["PublicAccessBlockConfiguration"] == {
        "BlockPublicAcls": True,
        "BlockPublicPolicy": True,
        "IgnorePublicAcls": True,
        "RestrictPublicBuckets": True,
    }
    assert bucket["Properties"]["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert "BucketName" not in bucket["Properties"]
    assert "AccessControl" not in bucket["Properties"]
    # CloudFormation cannot take back a bucket in which logs have arrived
    policy = "Retain" if name == "AccessLogs" else "RetainExceptOnCreate"
    assert (bucket["DeletionPolicy"], bucket["UpdateReplacePolicy"]) == (policy, "Retain")
    assert named(minimal, "AWS::S3::BucketPolicy", name)["DeletionPolicy"] == policy


@pytest.mark.parametrize("name", EVERY)
def test_every_bucket_refuses_all_but_tls_1_2(minimal: Template, name: str) -> None:
    statements = named(minimal, "AWS::S3::BucketPolicy", name)["Properties"]["PolicyDocument"]["Statement"]
    denials = [statement["Condition"] for statement in statements if statement["Effect"] == "Deny"]
    assert denials == [{"Bool": {"aws:SecureTransport": "false"}}, {"NumericLessThan": {"s3:TlsVersion": 1.2}}]


@pytest.mark.parametrize("name", DATA)
def test_data_is_encrypted_with_one_key_versioned_and_logged(minimal: Template, name: str) -> None:
    bucket = named(minimal, "AWS::S3::Bucket", name)["Properties"]
    (encryption,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == {
        "BucketKeyEnabled": True,
        "ServerSideEncryptionByDefault": {
            "SSEAlgorithm": "aws:kms",
            "KMSMasterKeyID": {"Fn::GetAtt": ["BucketsKeyCD6AF5CF", "Arn"]},
        },
    }
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["LoggingConfiguration"] == {
        "DestinationBucketName": {"Ref": "BucketsAccessLogs0C4EFE68"},
        "LogFilePrefix": f"{name.lower()}/",
    }


def test_the_log_is_encrypted_by_s3_and_not_versioned(minimal: Template) -> None:
    bucket = named(minimal, "AWS::S3::Bucket", "AccessLogs")["Properties"]
    assert bucket["BucketEncryption"] == {
        "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    }
    assert "VersioningConfiguration" not in bucket
    assert "LoggingConfiguration" not in bucket


def test_s3_may_deliver_logs_of_this_account_under_their_prefixes(minimal: Template) -> None:
    policy = named(minimal, "AWS::S3::BucketPolicy", "AccessLogs")["Properties"]["PolicyDocument"]
    delivered = [statement for statement in policy["Statement"] if statement["Effect"] == "Allow"]
    assert [statement["Sid"] for statement in delivered] == [f"Log{name}" for name in DATA]
    for name, statement in zip(DATA, delivered, strict=True):
        assert statement["Action"] == "s3:PutObject"
        assert statement["Principal"] == {"Service": "logging.s3.amazonaws.com"}
        assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
        assert statement["Resource"]["Fn::Join"][1][1] == f"/{name.lower()}/*"


def test_the_key_rotates_and_is_retained(minimal: Template) -> None:
    key = named(minimal, "AWS::KMS::Key", "Key")
    assert key["Properties"]["EnableKeyRotation"] is True
    assert key["DeletionPolicy"] == "RetainExceptOnCreate"


@pytest.mark.parametrize("purpose", BucketPurpose)
def test_every_bucket_ages_by_its_purpose(minimal: Template, purpose: BucketPurpose) -> None:
    name = "AccessLogs" if purpose is BucketPurpose.ACCESS_LOGS else purpose.value.title()
    rules = named(minimal, "AWS::S3::Bucket", name)["Properties"]["LifecycleConfiguration"]["Rules"]
    assert [rule["Id"] for rule in rules] == [rule.id for rule in lifecycle_rules(purpose)]


def test_auto_delete_takes_everything_along(temporary: Template) -> None:
    for resource_type in ("AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::KMS::Key"):
        assert {found["DeletionPolicy"] for found in resources(temporary, resource_type).values()} == {"Delete"}
    temporary.resource_count_is("Custom::S3AutoDeleteObjects", 5)


def test_checkpoints_expire_at_the_age_that_was_asked_for(temporary: Template) -> None:
    rules = named(temporary, "AWS::S3::Bucket", "Checkpoints")["Properties"]["LifecycleConfiguration"]["Rules"]
    assert [rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule] == [3, 3]


def test_own_buckets_are_taken_as_they_are(stack: Stack) -> None:
    scripts, datasets, checkpoints, models = (s3.Bucket.from_bucket_name(stack, name, name.lower()) for name in DATA)
    buckets = TrainingBuckets(
        stack, "Buckets", scripts=scripts, datasets=datasets, checkpoints=checkpoints, models=models
    )
    assert buckets.scripts is scripts
    assert buckets.datasets is datasets
    assert buckets.checkpoints is checkpoints
    assert buckets.models is models
    assert (buckets.access_logs, buckets.key) == (None, None)
    assert Template.from_stack(stack).to_json().get("Resources", {}) == {}


def test_one_own_bucket_stands_beside_those_made_here(stack: Stack) -> None:
    own = s3.Bucket.from_bucket_name(stack, "Own", "own")
    key = kms.Key(stack, "OwnKey")
    logs = TrainingBucket(stack, "OwnLogs", purpose=BucketPurpose.ACCESS_LOGS)
    buckets = TrainingBuckets(stack, "Buckets", datasets=own, key=key, access_logs=logs.bucket)
    assert buckets.datasets is own
    assert buckets.access_logs is logs.bucket
    assert buckets.key is key
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::S3::Bucket", 4)
    template.resource_count_is("AWS::KMS::Key", 1)


def test_a_bucket_alone_brings_its_key_and_its_log(stack: Stack) -> None:
    bucket = TrainingBucket(stack, "Models", purpose=BucketPurpose.MODELS)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::S3::Bucket", 2)
    template.resource_count_is("AWS::KMS::Key", 1)
    assert stack.resolve(bucket.bucket_name) == {"Ref": "Models7F217E31"}
    assert stack.resolve(bucket.bucket_arn) == {"Fn::GetAtt": ["Models7F217E31", "Arn"]}
    assert bucket.grants is not None
    assert bucket.key is not None


def test_a_log_bucket_alone_is_one_bucket(stack: Stack) -> None:
    bucket = TrainingBucket(stack, "Logs", purpose=BucketPurpose.ACCESS_LOGS, expire_after_days=90)
    assert bucket.key is None
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::S3::Bucket", 1)
    template.has_resource_properties(
        "AWS::S3::Bucket",
        {"LifecycleConfiguration": {"Rules": Match.array_with([Match.object_like({"ExpirationInDays": 90})])}},
    )


def test_an_imported_log_bucket_is_warned_about(stack: Stack) -> None:
    logs = s3.Bucket.from_bucket_name(stack, "Logs", "logs")
    TrainingBucket(stack, "Models", purpose=BucketPurpose.MODELS, access_logs=logs)
    Annotations.from_stack(stack).has_warning(
        "/Stack/Models",
        Match.string_like_regexp(r".*put objects under models/.*@cdk-trainyard/storage:access-logs-policy"),
    )


def test_fails_with_every_problem_at_once(stack: Stack) -> None:
    logs = s3.Bucket.from_bucket_name(stack, "Logs", "logs")
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-east-1:111111111111:key/1")
    with pytest.raises(ConfigurationError) as refused:
        TrainingBucket(
            stack,
            "Bucket",
            purpose=BucketPurpose.ACCESS_LOGS,
            key=key,
            access_logs=logs,
            expire_after_days=0,
        )
    assert refused.value.path == "Stack/Bucket"
    assert [problem.split("'")[1] for problem in refused.value.problems] == [
        "key",
        "expire_after_days",
        "key",
        "access_logs",
    ]


def test_fails_an_age_and_a_key_of_all_buckets(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-east-1:111111111111:key/1")
    with pytest.raises(ConfigurationError) as refused:
        TrainingBuckets(stack, "Buckets", key=key, checkpoint_days=0)
    assert refused.value.path == "Stack/Buckets"
    assert len(refused.value.problems) == 2


@pytest.mark.parametrize("purpose", DATA)
def test_the_log_is_emptied_after_what_logs_to_it(temporary: Template, purpose: str) -> None:
    """Emptying a bucket is logged: a log that was emptied before would not be empty when it is to go."""
    (emptier,) = [name for name in resources(temporary, "Custom::S3AutoDeleteObjects") if "AccessLogs" in name]
    assert emptier in named(temporary, "AWS::S3::Bucket", purpose)["DependsOn"]
