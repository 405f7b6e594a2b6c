"""What holds data: encryption, key, retention, backup, and what destroying or replacing does to it.

Source: AWS CloudFormation User Guide, "DeletionPolicy attribute" and "UpdateReplacePolicy attribute" (Delete by
default, Snapshot for RDS clusters and instances without a cluster), and the pages of each type (read 2026-11).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.nested import at

KEPT: Final = {"Retain", "RetainExceptOnCreate", "Snapshot"}
"""Policies under which data outlives its resource."""
_LOGS: Final = "AWS::Logs::LogGroup"
_SNAPSHOT_BY_DEFAULT: Final = {"AWS::RDS::DBCluster", "AWS::RDS::DBInstance"}
_UNENCRYPTED: Final = "not encrypted"
_EMPTY_FIRST: Final = {"AWS::Backup::BackupVault", "AWS::ECR::Repository", "AWS::S3Express::DirectoryBucket"}
"""Types that their services delete only when they are empty. Source: their pages in the Template Reference."""
_WHEN_EMPTY: Final = "deleted when it is empty; with something in it, the stack's deletion fails"


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """Something that holds data.

    Attributes:
        resource: The resource.
        kind: What it is, in words.
        encryption: How it is encrypted, and by which key.
        retention: How long what is in it stays.
        backup: What is kept of it.
        on_destroy: What destroying its stack does to it.
        on_replace: What replacing it does to the data.
        is_kept: Whether the data outlives the stack.
        is_encrypted: Whether it is encrypted at rest.
    """

    resource: Resource
    kind: str
    encryption: str
    retention: str
    backup: str
    on_destroy: str
    on_replace: str
    is_kept: bool
    is_encrypted: bool


def stores(graph: Graph) -> list[Store]:
    """Return everything that holds data, by its path.

    Args:
        graph: The resources.
    """
    found = [_store(graph, each) for each in graph.of_type(*_KINDS)]
    return sorted(found, key=lambda each: (each.resource.type == _LOGS, each.resource.path))


def _store(graph: Graph, resource: Resource) -> Store:
    properties = graph.properties(resource)
    about = _KINDS[resource.type]
    encryption = about.encryption(graph, properties)
    deletion = policy_of(resource, "DeletionPolicy")
    return Store(
        resource=resource,
        kind=resource.type.removeprefix("AWS::").replace("::", " "),
        encryption=encryption,
        retention=about.retention(graph, properties),
        backup=about.backup(graph, properties),
        on_destroy=_destroyed(graph, resource) if deletion == "Delete" else about.destroyed.get(deletion, deletion),
        on_replace=about.replaced.get(policy_of(resource, "UpdateReplacePolicy"), "unknown"),
        is_kept=deletion in KEPT,
        is_encrypted=not encryption.startswith(_UNENCRYPTED),
    )


def policy_of(resource: Resource, attribute: str) -> str:
    """Return a resource's ``DeletionPolicy`` or ``UpdateReplacePolicy``, or what CloudFormation does without one.

    Args:
        resource: The resource.
        attribute: Its attribute.
    """
    return policy(resource.body, attribute)


def policy(body: Mapping[str, Any], attribute: str) -> str:
    """Return a policy of a template's resource, or what CloudFormation does without one.

    Args:
        body: The resource.
        attribute: ``DeletionPolicy`` or ``UpdateReplacePolicy``.
    """
    given = body.get(attribute)
    return given if isinstance(given, str) else _default(attribute, body)


def _default(attribute: str, body: Mapping[str, Any]) -> str:
    is_snapshot = attribute == "DeletionPolicy" and body["Type"] in _SNAPSHOT_BY_DEFAULT
    return "Snapshot" if is_snapshot and at(body, "Properties", "DBClusterIdentifier") is None else "Delete"


def new_destruction(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, str]:
    """Return how a ``DeletionPolicy`` changes, and what that means from now on; nothing where it means the same.

    Args:
        before: A resource of a template, before.
        after: The same after.
    """
    policies = [each.get("DeletionPolicy", _default("DeletionPolicy", each)) for each in (before, after)]
    was, now = (_FROM_NOW_ON.get(str(policy), "") for policy in policies)
    is_news = was and now and was != now
    return (f"DeletionPolicy {' -> '.join(policies)}", f"from now on it {now}") if is_news else ("", "")


_STAYS: Final = "stays in the account when it leaves its stack, or the stack is deleted"
_FROM_NOW_ON: Final = {
    "Delete": "is deleted when it leaves its stack, or the stack is deleted",
    "Retain": _STAYS,
    "RetainExceptOnCreate": _STAYS,
    "Snapshot": "is deleted when it leaves its stack, or the stack is deleted, and a last snapshot stays",
}
_DESTROYED: Final = {
    "Retain": "stays in the account, with its data",
    "RetainExceptOnCreate": "stays in the account, with its data (deleted only if the deployment that makes it fails)",
    "Snapshot": "deleted; a last snapshot stays",
}
_REPLACED: Final = {
    "Delete": "the old one is deleted with everything in it",
    "Retain": "an empty one is made; the old one stays in the account, with its data",
    "Snapshot": "the old one is deleted; a last snapshot stays",
}

_KEY_DESTROYED: Final = {
    "Retain": "stays in the account",
    "RetainExceptOnCreate": "stays in the account (deleted only if the deployment that makes it fails)",
}
_KEY_REPLACED: Final = {
    "Delete": "the deletion of the old one is scheduled; when it is gone, nobody can read what it encrypts",
    "Retain": "a new one is made; the old one stays in the account, for what it encrypts",
}


def _destroyed(graph: Graph, resource: Resource) -> str:
    """AWS CloudFormation User Guide, "DeletionPolicy attribute": a bucket must be empty."""
    if resource.type == "AWS::KMS::Key":
        return "its deletion is scheduled; when it is gone, nobody can read what it encrypts"
    is_emptied = str(graph.properties(resource).get("EmptyOnDelete", "")).lower() == "true"
    if resource.type in _EMPTY_FIRST and not is_emptied:
        return _WHEN_EMPTY
    emptied = graph.of_type("Custom::S3AutoDeleteObjects")
    if resource.type == "AWS::S3::Bucket" and resource not in graph.targets([*map(graph.properties, emptied)]):
        return _WHEN_EMPTY
    return "deleted with everything in it"


_Fact = Callable[[Graph, Mapping[str, Any]], str]


def _by_service(_graph: Graph, _properties: Mapping[str, Any]) -> str:
    return "by the service, with a key of AWS"


def _nothing(_graph: Graph, _properties: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    encryption: _Fact = _by_service
    retention: _Fact = _nothing
    backup: _Fact = _nothing
    destroyed: Mapping[str, str] = field(default_factory=lambda: _DESTROYED)
    replaced: Mapping[str, str] = field(default_factory=lambda: _REPLACED)


def _key(*names: str) -> _Fact:
    """Return what says by which key a type, always encrypted, is encrypted."""

    def say(graph: Graph, properties: Mapping[str, Any]) -> str:
        key = next((properties[name] for name in names if name in properties), None)
        return "with a key of AWS" if key is None else f"with the key {graph.said(key)}"

    return say


def _switched(flag: str) -> _Fact:
    """Return what says whether a type, encrypted when asked to, is encrypted."""
    by_key = _key("KmsKeyId")

    def say(graph: Graph, properties: Mapping[str, Any]) -> str:
        return by_key(graph, properties) if str(properties.get(flag, "")).lower() == "true" else _UNENCRYPTED

    return say


def _within(name: str, of: _Fact) -> _Fact:
    """Return what says a fact of a type's options."""

    def say(graph: Graph, properties: Mapping[str, Any]) -> str:
        options = properties.get(name)
        return of(graph, options if isinstance(options, Mapping) else {})

    return say


def _snapshots(name: str, default: int) -> _Fact:
    """Return what says for how many days daily snapshots are kept."""

    def say(_graph: Graph, properties: Mapping[str, Any]) -> str:
        days = properties.get(name, default)
        return f"daily, kept for {days} day{'s' if str(days) != '1' else ''}" if str(days) != "0" else "none"

    return say


def _stream_encryption(graph: Graph, properties: Mapping[str, Any]) -> str:
    key = at(properties, "StreamEncryption", "KeyId")
    return f"with the key {graph.said(key)}" if key else _UNENCRYPTED


def _stream_retention(_graph: Graph, properties: Mapping[str, Any]) -> str:
    """Amazon Kinesis Data Streams Developer Guide, "Change the data retention period": 24 hours by default."""
    return f"{properties.get('RetentionPeriodHours', 24)} hours"


def _hourly(_graph: Graph, _properties: Mapping[str, Any]) -> str:
    """Amazon OpenSearch Service Developer Guide, "Creating index snapshots"."""
    return "hourly snapshots of 14 days, which are deleted with it"


def _image_retention(graph: Graph, properties: Mapping[str, Any]) -> str:
    return "as its lifecycle policy says" if "LifecyclePolicy" in properties else _until_deleted(graph, properties)


def _metrics_retention(_graph: Graph, properties: Mapping[str, Any]) -> str:
    """Amazon Managed Service for Prometheus User Guide, "Amazon Managed Service for Prometheus service quotas"."""
    days = at(properties, "WorkspaceConfiguration", "RetentionPeriodInDays")
    return f"{days} days" if days else "150 days, the service's default"


def _bucket_encryption(graph: Graph, properties: Mapping[str, Any]) -> str:
    """Amazon S3 User Guide, "Setting default server-side encryption": SSE-S3 unless another is asked for."""
    rules = at(properties, "BucketEncryption", "ServerSideEncryptionConfiguration")
    rule = at(rules[0] if isinstance(rules, list) and rules else None, "ServerSideEncryptionByDefault")
    algorithm, key = str(at(rule, "SSEAlgorithm") or "AES256"), at(rule, "KMSMasterKeyID")
    if algorithm == "AES256":
        return "with keys of S3 (SSE-S3)"
    return f"with the key {graph.said(key)} ({algorithm})" if key else f"with the account's key of S3 ({algorithm})"


def _bucket_retention(_graph: Graph, properties: Mapping[str, Any]) -> str:
    rules = at(properties, "LifecycleConfiguration", "Rules")
    said = [_expiry(each) for each in rules if isinstance(each, Mapping)] if isinstance(rules, list) else []
    return "; ".join(each for each in said if each) or "until somebody deletes it"


def _expiry(rule: Mapping[str, Any]) -> str:
    days, prefix = rule.get("ExpirationInDays"), rule.get("Prefix", at(rule, "Filter", "Prefix"))
    if days is None or rule.get("Status") != "Enabled":
        return ""
    narrowed = prefix or at(rule, "TagFilters")
    return (
        f"{f'objects under {prefix}' if prefix else 'some objects' if narrowed else 'objects'} expire after {days} days"
    )


def _bucket_backup(_graph: Graph, properties: Mapping[str, Any]) -> str:
    is_versioned = at(properties, "VersioningConfiguration", "Status") == "Enabled"
    return "older versions stay" if is_versioned else "none: what is overwritten is gone"


def _file_system_encryption(graph: Graph, properties: Mapping[str, Any]) -> str:
    """FSx for Lustre User Guide, "Encrypting data at rest": always, with FSx's own key or one of the account."""
    return _key("KmsKeyId")(graph, properties)


def _file_system_backup(_graph: Graph, properties: Mapping[str, Any]) -> str:
    """FSx API Reference, AutomaticBackupRetentionDays: Lustre has none by default."""
    for name in ("LustreConfiguration", "OpenZFSConfiguration", "OntapConfiguration", "WindowsConfiguration"):
        days = at(properties, name, "AutomaticBackupRetentionDays")
        if days is not None:
            return f"daily, kept for {days} days" if str(days) != "0" else "none"
    return "none" if properties.get("FileSystemType") == "LUSTRE" else "the service's default"


def _file_system_retention(_graph: Graph, properties: Mapping[str, Any]) -> str:
    kind = at(properties, "LustreConfiguration", "DeploymentType")
    if str(kind).startswith("SCRATCH"):
        return "scratch: a server that fails takes its files along"
    return "until somebody deletes it"


def _log_retention(_graph: Graph, properties: Mapping[str, Any]) -> str:
    days = properties.get("RetentionInDays")
    return f"{days} days" if days else "for ever: no retention is set"


def _key_rotation(_graph: Graph, properties: Mapping[str, Any]) -> str:
    return "rotated each year" if str(properties.get("EnableKeyRotation", "")).lower() == "true" else "not rotated"


def _key_deletion(_graph: Graph, properties: Mapping[str, Any]) -> str:
    """AWS KMS API Reference, ScheduleKeyDeletion: 7 to 30 days, 30 by default."""
    return f"a deletion waits {properties.get('PendingWindowInDays', 30)} days"


def _table_backup(_graph: Graph, properties: Mapping[str, Any]) -> str:
    on = at(properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled")
    return "point in time" if str(on).lower() == "true" else "none"


def _until_deleted(_graph: Graph, _properties: Mapping[str, Any]) -> str:
    return "until somebody deletes it"


def _no_content(_graph: Graph, _properties: Mapping[str, Any]) -> str:
    return "a key, which encrypts the others"


_DATABASE: Final = _Kind(
    encryption=_switched("StorageEncrypted"), retention=_until_deleted, backup=_snapshots("BackupRetentionPeriod", 1)
)
_AT_REST: Final = _within("EncryptionAtRestOptions", _switched("Enabled"))
_SEARCH: Final = _Kind(encryption=_AT_REST, retention=_until_deleted, backup=_hourly)
_TABLE: Final = _Kind(retention=_until_deleted, backup=_table_backup)
_KINDS: Final = {
    "AWS::APS::Workspace": _Kind(encryption=_key("KmsKeyArn"), retention=_metrics_retention),
    "AWS::Backup::BackupVault": _Kind(encryption=_key("EncryptionKeyArn"), retention=_until_deleted),
    "AWS::DocDB::DBCluster": _DATABASE,
    "AWS::DynamoDB::GlobalTable": _TABLE,
    "AWS::DynamoDB::Table": _TABLE,
    "AWS::EC2::Volume": _Kind(encryption=_switched("Encrypted"), retention=_until_deleted),
    "AWS::ECR::Repository": _Kind(
        encryption=_within("EncryptionConfiguration", _key("KmsKey")), retention=_image_retention
    ),
    "AWS::EFS::FileSystem": _Kind(encryption=_switched("Encrypted"), retention=_until_deleted),
    "AWS::ElastiCache::CacheCluster": _Kind(
        encryption=lambda _graph, _properties: _UNENCRYPTED,
        retention=_until_deleted,
        backup=_snapshots("SnapshotRetentionLimit", 0),
    ),
    "AWS::ElastiCache::ReplicationGroup": _Kind(
        encryption=_switched("AtRestEncryptionEnabled"),
        retention=_until_deleted,
        backup=_snapshots("SnapshotRetentionLimit", 0),
    ),
    "AWS::ElastiCache::ServerlessCache": _Kind(
        encryption=_key("KmsKeyId"), retention=_until_deleted, backup=_snapshots("SnapshotRetentionLimit", 0)
    ),
    "AWS::Elasticsearch::Domain": _SEARCH,
    "AWS::FSx::FileSystem": _Kind(
        encryption=_file_system_encryption, retention=_file_system_retention, backup=_file_system_backup
    ),
    "AWS::FSx::Volume": _Kind(),
    "AWS::KMS::Key": _Kind(
        encryption=_no_content,
        retention=_key_deletion,
        backup=_key_rotation,
        destroyed=_KEY_DESTROYED,
        replaced=_KEY_REPLACED,
    ),
    "AWS::Kinesis::Stream": _Kind(encryption=_stream_encryption, retention=_stream_retention),
    "AWS::Logs::LogGroup": _Kind(encryption=_key("KmsKeyId"), retention=_log_retention),
    "AWS::MSK::Cluster": _Kind(
        encryption=_within("EncryptionInfo", _within("EncryptionAtRest", _key("DataVolumeKMSKeyId"))),
        retention=lambda _graph, _properties: "as its topics say",
    ),
    "AWS::MemoryDB::Cluster": _Kind(
        encryption=_key("KmsKeyId"), retention=_until_deleted, backup=_snapshots("SnapshotRetentionLimit", 0)
    ),
    "AWS::Neptune::DBCluster": _DATABASE,
    "AWS::OpenSearchService::Domain": _SEARCH,
    "AWS::RDS::DBCluster": _DATABASE,
    "AWS::RDS::DBInstance": _DATABASE,
    "AWS::Redshift::Cluster": _Kind(
        encryption=_key("KmsKeyId"), retention=_until_deleted, backup=_snapshots("AutomatedSnapshotRetentionPeriod", 1)
    ),
    "AWS::RedshiftServerless::Namespace": _Kind(encryption=_key("KmsKeyId"), retention=_until_deleted),
    "AWS::S3::Bucket": _Kind(encryption=_bucket_encryption, retention=_bucket_retention, backup=_bucket_backup),
    "AWS::S3Express::DirectoryBucket": _Kind(encryption=_bucket_encryption, retention=_bucket_retention),
    "AWS::SQS::Queue": _Kind(),
    "AWS::SecretsManager::Secret": _Kind(encryption=_key("KmsKeyId"), retention=_until_deleted),
}
HOLDS_DATA: Final = _KINDS.keys() - {_LOGS, "AWS::SQS::Queue"}
"""Types whose loss is a loss of data."""
