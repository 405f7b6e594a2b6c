"""Links to S3 as CloudFormation gets them, and the keys that FSx may use for them."""

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.storage import BucketPurpose, DataRepository, RepositoryEvent, TrainingBucket
from cdk_trainyard.storage.data_repository import associate

ENV = Environment(account="111111111111", region="us-west-2")
ALL = ["NEW", "CHANGED", "DELETED"]


@pytest.fixture
def stack() -> Stack:
    return Stack(App(), "Stack", env=ENV)


def test_minimal(stack: Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "data")
    associate(stack, "fs-0123456789abcdef0", [DataRepository(file_system_path="/datasets/", bucket=bucket)])
    Template.from_stack(stack).has_resource_properties(
        "AWS::FSx::DataRepositoryAssociation",
        {
            "FileSystemId": "fs-0123456789abcdef0",
            "FileSystemPath": "/datasets",
            "DataRepositoryPath": "s3://data",
            "BatchImportMetaDataOnCreate": True,
            "S3": {"AutoImportPolicy": {"Events": ALL}, "AutoExportPolicy": Match.absent()},
            "ImportedFileChunkSize": Match.absent(),
        },
    )


def test_a_link_goes_before_its_bucket_is_emptied(stack: Stack) -> None:
    """Or FSx would import DELETED of every object, into a file system that is kept."""
    bucket = TrainingBucket(stack, "Bucket", purpose=BucketPurpose.DATASETS, auto_delete=True).bucket
    associate(stack, "fs-0123456789abcdef0", [DataRepository(file_system_path="/datasets", bucket=bucket)])
    template = Template.from_stack(stack)
    (link,) = template.find_resources("AWS::FSx::DataRepositoryAssociation").values()
    emptiers = template.find_resources("Custom::S3AutoDeleteObjects")
    (own,) = [name for name, emptier in emptiers.items() if "AccessLogs" not in name]
    assert own in link["DependsOn"]


def test_everything_set(stack: Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "data")
    repository = DataRepository(
        file_system_path="/checkpoints/llama",
        bucket=bucket,
        prefix="runs/llama",
        import_events=(),
        export_events=(RepositoryEvent.NEW, RepositoryEvent.CHANGED),
        import_existing=False,
        chunk_mib=2048,
    )
    (association,) = associate(stack, "fs-0123456789abcdef0", [repository])
    assert association.node.id == "checkpoints:llama"
    Template.from_stack(stack).has_resource_properties(
        "AWS::FSx::DataRepositoryAssociation",
        {
            "FileSystemPath": "/checkpoints/llama",
            "DataRepositoryPath": "s3://data/runs/llama/",
            "BatchImportMetaDataOnCreate": False,
            "ImportedFileChunkSize": 2048,
            "S3": {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}, "AutoImportPolicy": Match.absent()},
        },
    )


def test_the_root_can_be_linked(stack: Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "data")
    (association,) = associate(stack, "fs-0123456789abcdef0", [DataRepository(file_system_path="/", bucket=bucket)])
    assert association.node.id == "Root"
    assert association.file_system_path == "/"


def test_fsx_may_use_the_key_through_s3_once_for_all_links(stack: Stack) -> None:
    key = kms.Key(stack, "Key")
    buckets = [s3.Bucket(stack, name, encryption_key=key) for name in ("One", "Other")]
    repositories = [
        DataRepository(file_system_path=f"/{number}", bucket=bucket) for number, bucket in enumerate(buckets)
    ]
    associate(stack, "fs-0123456789abcdef0", repositories)
    template = Template.from_stack(stack)
    (resource,) = template.find_resources("AWS::KMS::Key").values()
    mine = [s for s in resource["Properties"]["KeyPolicy"]["Statement"] if s.get("Sid") == "FsxDataRepositories"]
    role = ":iam::111111111111:role/aws-service-role/s3.data-source.lustre.fsx.*/AWSServiceRoleForFSxS3Access_fs-*"
    assert mine == [
        {
            "Sid": "FsxDataRepositories",
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"],
            "Resource": "*",
            "Condition": {
                "StringEquals": {
                    "kms:CallerAccount": {"Ref": "AWS::AccountId"},
                    "kms:ViaService": {
                        "Fn::Join": ["", ["s3.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]
                    },
                },
                "ArnLike": {"aws:PrincipalArn": {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, role]]}},
            },
        }
    ]
    assert "Metadata" not in resource  # a key of the user's own is theirs to explain


def test_a_key_that_is_made_for_data_is_explained(stack: Stack) -> None:
    bucket = TrainingBucket(stack, "Data", purpose=BucketPurpose.DATASETS).bucket
    associate(stack, "fs-0123456789abcdef0", [DataRepository(file_system_path="/d", bucket=bucket)])
    (resource,) = Template.from_stack(stack).find_resources("AWS::KMS::Key").values()
    assert [skip["id"] for skip in resource["Metadata"]["checkov"]["skip"]] == ["CKV_AWS_33"]


def test_an_imported_key_is_warned_about(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:111111111111:key/1")
    bucket = s3.Bucket.from_bucket_attributes(stack, "Bucket", bucket_arn="arn:aws:s3:::data", encryption_key=key)
    associate(stack, "fs-0123456789abcdef0", [DataRepository(file_system_path="/d", bucket=bucket)])
    Annotations.from_stack(stack).has_warning(
        "*",
        Match.string_like_regexp(r".*AWSServiceRoleForFSxS3Access_fs-.*@cdk-trainyard/storage:repository-key-policy"),
    )
