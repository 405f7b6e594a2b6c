"""What holds data, and what is left of it."""

from typing import Any

import pytest

from cdk_trainyard.report.data import Store, stores

OF_AWS = "with a key of AWS"
UNTIL = "until somebody deletes it"
TOPICS = "as its topics say"
HOURLY = "hourly snapshots of 14 days, which are deleted with it"


def store(graph: Any, kind: str, properties: Any = None, **attributes: Any) -> Store:
    resources = {"Data": {"Type": kind, "Properties": properties or {}, **attributes}, "Key": {"Type": "AWS::KMS::Key"}}
    return next(each for each in stores(graph(S=resources)) if each.resource.name == "Data")


KEY = {"Fn::GetAtt": ["Key", "Arn"]}


def encrypted(algorithm: str, **key: Any) -> dict[str, Any]:
    rule = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": algorithm, **key}}
    return {"BucketEncryption": {"ServerSideEncryptionConfiguration": [rule]}}


@pytest.mark.parametrize(
    ("kind", "properties", "said"),
    [
        ("AWS::S3::Bucket", {}, "with keys of S3 (SSE-S3)"),
        ("AWS::S3::Bucket", encrypted("aws:kms"), "with the account's key of S3 (aws:kms)"),
        ("AWS::S3::Bucket", encrypted("aws:kms", KMSMasterKeyID=KEY), "with the key S/Key (aws:kms)"),
        ("AWS::FSx::FileSystem", {"KmsKeyId": KEY}, "with the key S/Key"),
        ("AWS::FSx::FileSystem", {}, "with a key of AWS"),
        ("AWS::EFS::FileSystem", {}, "not encrypted"),
        ("AWS::RDS::DBInstance", {"StorageEncrypted": True}, "with a key of AWS"),
        ("AWS::RDS::DBInstance", {"StorageEncrypted": "false"}, "not encrypted"),
    ],
)
def test_encryption(graph: Any, kind: str, properties: Any, said: str) -> None:
    found = store(graph, kind, properties)
    assert (found.encryption, found.is_encrypted) == (said, said != "not encrypted")


@pytest.mark.parametrize(
    ("kind", "attributes", "kept"),
    [
        ("AWS::S3::Bucket", {}, False),
        ("AWS::S3::Bucket", {"DeletionPolicy": "Retain"}, True),
        ("AWS::S3::Bucket", {"DeletionPolicy": "RetainExceptOnCreate"}, True),
        ("AWS::FSx::FileSystem", {"DeletionPolicy": "Delete"}, False),
        ("AWS::RDS::DBCluster", {}, True),
        ("AWS::RDS::DBCluster", {"DeletionPolicy": "Delete"}, False),
    ],
)
def test_what_destroying_does(graph: Any, kind: str, attributes: Any, kept: bool) -> None:
    assert store(graph, kind, **attributes).is_kept is kept


def test_replacing_is_judged_apart(graph: Any) -> None:
    found = store(graph, "AWS::S3::Bucket", DeletionPolicy="Retain")
    assert (found.on_destroy, found.on_replace) == (
        "stays in the account, with its data",
        "the old one is deleted with everything in it",
    )


def test_a_key_holds_no_data_of_its_own(graph: Any) -> None:
    found = store(graph, "AWS::KMS::Key", DeletionPolicy="Retain", UpdateReplacePolicy="Retain")
    assert found.on_destroy == "stays in the account"
    assert found.on_replace == "a new one is made; the old one stays in the account, for what it encrypts"


def lifecycle(**rule: Any) -> dict[str, Any]:
    return {"LifecycleConfiguration": {"Rules": [{"Status": "Enabled", **rule}]}}


@pytest.mark.parametrize(
    ("kind", "properties", "retention", "backup"),
    [
        ("AWS::S3::Bucket", {}, "until somebody deletes it", "none: what is overwritten is gone"),
        (
            "AWS::S3::Bucket",
            {**lifecycle(ExpirationInDays=30, Prefix="runs/"), "VersioningConfiguration": {"Status": "Enabled"}},
            "objects under runs/ expire after 30 days",
            "older versions stay",
        ),
        ("AWS::Logs::LogGroup", {}, "for ever: no retention is set", ""),
        ("AWS::Logs::LogGroup", {"RetentionInDays": 90}, "90 days", ""),
        (
            "AWS::FSx::FileSystem",
            {"FileSystemType": "LUSTRE", "LustreConfiguration": {"DeploymentType": "SCRATCH_2"}},
            "scratch: a server that fails takes its files along",
            "none",
        ),
        (
            "AWS::FSx::FileSystem",
            {"LustreConfiguration": {"AutomaticBackupRetentionDays": 7}},
            "until somebody deletes it",
            "daily, kept for 7 days",
        ),
    ],
)
def test_retention_and_backup(graph: Any, kind: str, properties: Any, retention: str, backup: str) -> None:
    found = store(graph, kind, properties)
    assert (found.retention, found.backup) == (retention, backup)


def test_a_bucket_with_objects_is_not_deleted_unless_something_empties_it(graph: Any) -> None:
    emptier = {"Type": "Custom::S3AutoDeleteObjects", "Properties": {"BucketName": {"Ref": "Emptied"}}}
    data = {"Type": "AWS::S3::Bucket"}
    found = stores(graph(S={"Data": data, "Emptied": data, "Emptier": emptier, "Key": {"Type": "AWS::KMS::Key"}}))
    assert [(each.resource.name, each.on_destroy) for each in found] == [
        ("Data", "deleted when it is empty; with something in it, the stack's deletion fails"),
        ("Emptied", "deleted with everything in it"),
        ("Key", "its deletion is scheduled; when it is gone, nobody can read what it encrypts"),
    ]


@pytest.mark.parametrize("kind", ["AWS::DocDB::DBCluster", "AWS::Neptune::DBCluster"])
def test_clusters_of_other_databases_hold_data(graph: Any, kind: str) -> None:
    assert not store(graph, kind).is_kept


@pytest.mark.parametrize(
    ("kind", "properties", "encryption", "retention", "backup"),
    [
        ("APS::Workspace", {"KmsKeyArn": "arn:k"}, "with the key arn:k", "150 days, the service's default", ""),
        ("APS::Workspace", {"WorkspaceConfiguration": {"RetentionPeriodInDays": 30}}, OF_AWS, "30 days", ""),
        ("Backup::BackupVault", {}, OF_AWS, UNTIL, ""),
        ("ECR::Repository", {"EncryptionConfiguration": {"KmsKey": "k"}}, "with the key k", UNTIL, ""),
        ("ECR::Repository", {"LifecyclePolicy": {}}, OF_AWS, "as its lifecycle policy says", ""),
        ("ElastiCache::CacheCluster", {}, "not encrypted", UNTIL, "none"),
        ("ElastiCache::ReplicationGroup", {"AtRestEncryptionEnabled": True}, OF_AWS, UNTIL, "none"),
        ("ElastiCache::ServerlessCache", {"SnapshotRetentionLimit": 3}, OF_AWS, UNTIL, "daily, kept for 3 days"),
        ("Kinesis::Stream", {}, "not encrypted", "24 hours", ""),
        ("Kinesis::Stream", {"StreamEncryption": {"KeyId": "k"}}, "with the key k", "24 hours", ""),
        (
            "MSK::Cluster",
            {"EncryptionInfo": {"EncryptionAtRest": {"DataVolumeKMSKeyId": "k"}}},
            "with the key k",
            TOPICS,
            "",
        ),
        ("MemoryDB::Cluster", {}, OF_AWS, UNTIL, "none"),
        ("OpenSearchService::Domain", {}, "not encrypted", UNTIL, HOURLY),
        ("OpenSearchService::Domain", {"EncryptionAtRestOptions": {"Enabled": True}}, OF_AWS, UNTIL, HOURLY),
        ("Redshift::Cluster", {}, OF_AWS, UNTIL, "daily, kept for 1 day"),
        ("RedshiftServerless::Namespace", {"KmsKeyId": "k"}, "with the key k", UNTIL, ""),
    ],
)
def test_stores_of_other_services(
    graph: Any, kind: str, properties: dict[str, Any], encryption: str, retention: str, backup: str
) -> None:
    found = store(graph, f"AWS::{kind}", properties)
    assert (found.encryption, found.retention, found.backup, found.is_kept) == (encryption, retention, backup, False)


@pytest.mark.parametrize(("emptied", "fails"), [(False, True), ("true", False)])
def test_a_repository_with_images_is_deleted_only_when_it_says_so(graph: Any, emptied: Any, fails: bool) -> None:
    found = store(graph, "AWS::ECR::Repository", {"EmptyOnDelete": emptied})
    assert found.on_destroy.endswith("fails") == fails
