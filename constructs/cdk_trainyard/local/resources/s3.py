"""S3: buckets and their policies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_trainyard.local.partition import url_suffix
from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.s3_lifecycle import lifecycle
from cdk_trainyard.local.resources.steps import Api, given, listed, pairs

S3 = Api("s3")
_HOME = "us-east-1"
_ACLS = {
    "PublicRead": "public-read",
    "PublicReadWrite": "public-read-write",
    "AuthenticatedRead": "authenticated-read",
    "LogDeliveryWrite": "log-delivery-write",
    "BucketOwnerRead": "bucket-owner-read",
    "BucketOwnerFullControl": "bucket-owner-full-control",
    "Private": "private",
}
_EVENT_TARGETS = {
    "TopicConfigurations": ("Topic", "TopicArn"),
    "QueueConfigurations": ("Queue", "QueueArn"),
    "LambdaConfigurations": ("Function", "LambdaFunctionArn"),
}


@dataclass(frozen=True, slots=True)
class _Setting:
    """A property of a bucket that is a call of its own.

    Attributes:
        put: Operation that sets it.
        parameter: Parameter of ``put`` that takes the value.
        value: The value, from CloudFormation's words.
        delete: Operation that removes it. Default - ``put`` with ``absent``.
        absent: Value of ``parameter`` when the property is gone.
    """

    put: str
    parameter: str
    value: Callable[[Any], Any] = lambda value: value
    delete: str | None = None
    absent: Any = None


def _encryption(value: Mapping[str, Any]) -> dict[str, Any]:
    rules = []
    for rule in value["ServerSideEncryptionConfiguration"]:
        default = rule.get("ServerSideEncryptionByDefault")
        rules.append(
            {
                **({"ApplyServerSideEncryptionByDefault": default} if default else {}),
                **({"BucketKeyEnabled": rule["BucketKeyEnabled"]} if "BucketKeyEnabled" in rule else {}),
            }
        )
    return {"Rules": rules}


def _logging(value: Mapping[str, Any]) -> dict[str, Any]:
    target = {"TargetBucket": value.get("DestinationBucketName"), "TargetPrefix": value.get("LogFilePrefix", "")}
    return {"LoggingEnabled": {**target, **{k: v for k, v in value.items() if k == "TargetObjectKeyFormat"}}}


def _cors(value: Mapping[str, Any]) -> dict[str, Any]:
    names = {"ExposedHeaders": "ExposeHeaders", "MaxAge": "MaxAgeSeconds", "Id": "ID"}
    return {"CORSRules": [{names.get(key, key): inner for key, inner in rule.items()} for rule in value["CorsRules"]]}


def _notifications(value: Mapping[str, Any]) -> dict[str, Any]:
    converted: dict[str, Any] = {"EventBridgeConfiguration": {}} if value.get("EventBridgeConfiguration") else {}
    for name, (key, api_key) in _EVENT_TARGETS.items():
        rows = [
            {
                api_key: row[key],
                "Events": [row["Event"]],
                **({"Filter": {"Key": {"FilterRules": row["Filter"]["S3Key"]["Rules"]}}} if "Filter" in row else {}),
            }
            for row in value.get(name, [])
        ]
        if rows:
            converted["LambdaFunctionConfigurations" if name.startswith("Lambda") else name] = rows
    return converted


def _object_lock(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"ObjectLockEnabled": "Enabled", **value}


_SETTINGS = {
    "AccelerateConfiguration": _Setting(
        "put_bucket_accelerate_configuration",
        "AccelerateConfiguration",
        lambda value: {"Status": value["AccelerationStatus"]},
        absent={"Status": "Suspended"},
    ),
    "BucketEncryption": _Setting(
        "put_bucket_encryption", "ServerSideEncryptionConfiguration", _encryption, "delete_bucket_encryption"
    ),
    "CorsConfiguration": _Setting("put_bucket_cors", "CORSConfiguration", _cors, "delete_bucket_cors"),
    "LifecycleConfiguration": _Setting(
        "put_bucket_lifecycle_configuration", "LifecycleConfiguration", lifecycle, "delete_bucket_lifecycle"
    ),
    "LoggingConfiguration": _Setting("put_bucket_logging", "BucketLoggingStatus", _logging, absent={}),
    "NotificationConfiguration": _Setting(
        "put_bucket_notification_configuration", "NotificationConfiguration", _notifications, absent={}
    ),
    "ObjectLockConfiguration": _Setting("put_object_lock_configuration", "ObjectLockConfiguration", _object_lock),
    "OwnershipControls": _Setting(
        "put_bucket_ownership_controls", "OwnershipControls", delete="delete_bucket_ownership_controls"
    ),
    "PublicAccessBlockConfiguration": _Setting(
        "put_public_access_block", "PublicAccessBlockConfiguration", delete="delete_public_access_block"
    ),
    "VersioningConfiguration": _Setting(
        "put_bucket_versioning", "VersioningConfiguration", absent={"Status": "Suspended"}
    ),
    "WebsiteConfiguration": _Setting("put_bucket_website", "WebsiteConfiguration", delete="delete_bucket_website"),
}


def _create(it: Resource) -> Mapping[str, Any]:
    parameters: dict[str, Any] = {"Bucket": it["BucketName"]}
    if it.where.region != _HOME:
        parameters["CreateBucketConfiguration"] = {"LocationConstraint": it.where.region}
    if "AccessControl" in it:
        parameters["ACL"] = _ACLS[it["AccessControl"]]
    if "OwnershipControls" in it:
        parameters["ObjectOwnership"] = it["OwnershipControls"]["Rules"][0]["ObjectOwnership"]
    if it.flag("ObjectLockEnabled"):
        parameters["ObjectLockEnabledForBucket"] = True
    return it.call("s3", "create_bucket", parameters)


def _settle(it: Resource) -> None:
    for name, setting in _SETTINGS.items():
        if name in it.properties:
            it.call("s3", setting.put, {"Bucket": it.id, setting.parameter: setting.value(it[name])})
    if it.get("Tags"):
        _retag(it)


def _update(it: Resource) -> None:
    for name, setting in _SETTINGS.items():
        if it.changed(name):
            _reset(it, name, setting)


def _reset(it: Resource, name: str, setting: _Setting) -> None:
    if name in it.properties:
        it.call("s3", setting.put, {"Bucket": it.id, setting.parameter: setting.value(it[name])})
    elif setting.delete:
        it.call("s3", setting.delete, {"Bucket": it.id})
    elif setting.absent is not None:
        it.call("s3", setting.put, {"Bucket": it.id, setting.parameter: setting.absent})


def _retag(it: Resource) -> None:
    tags = pairs(it.get("Tags"))
    if tags:
        it.call("s3", "put_bucket_tagging", {"Bucket": it.id, "Tagging": {"TagSet": listed(tags)}})
    else:
        it.call("s3", "delete_bucket_tagging", {"Bucket": it.id})


def _live(it: Resource) -> Mapping[str, Any]:
    """Only what ``cdk drift`` users change by hand: existence and versioning."""
    if "VersioningConfiguration" not in it:
        it.call("s3", "head_bucket", {"Bucket": it.id})
        return {}
    versioning = it.call("s3", "get_bucket_versioning", {"Bucket": it.id})
    return {"VersioningConfiguration": {"Status": versioning.get("Status", "Suspended")}}


def _domain(pattern: str) -> Callable[[Resource], str]:
    def read(it: Resource) -> str:
        return pattern.format(bucket=it.id, region=it.where.region, suffix=url_suffix(it.where.partition))

    return read


TYPES = (
    ResourceType(
        name="AWS::S3::Bucket",
        create=_create,
        identity=given("BucketName"),
        settle=_settle,
        update=_update,
        retag=_retag,
        delete=S3.forget("delete_bucket", lambda it: {"Bucket": it.id}),
        read=_live,
        attributes={
            "Arn": lambda it: it.where.arn("s3", it.id, region="", account=""),
            "DomainName": _domain("{bucket}.s3.{suffix}"),
            "DualStackDomainName": _domain("{bucket}.s3.dualstack.{region}.{suffix}"),
            "RegionalDomainName": _domain("{bucket}.s3.{region}.{suffix}"),
            "WebsiteURL": _domain("http://{bucket}.s3-website-{region}.{suffix}"),
        },
        named=Name(property="BucketName", limit=63, lower=True),
    ),
    ResourceType(
        name="AWS::S3::BucketPolicy",
        create=S3.call("put_bucket_policy", lambda it: {"Bucket": it["Bucket"], "Policy": it["PolicyDocument"]}),
        identity=given("Bucket"),
        update=S3.call("put_bucket_policy", lambda it: {"Bucket": it["Bucket"], "Policy": it["PolicyDocument"]}),
        delete=S3.forget("delete_bucket_policy", lambda it: {"Bucket": it["Bucket"]}),
    ),
)
