"""How the objects of a bucket age, and what becomes of the bucket, in CDK's words."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3

from cdk_trainyard.retention import KEPT
from cdk_trainyard.storage.bucket_purpose import (
    EXPIRING_PREFIX,
    EXPIRING_TAG_VALUE,
    RETENTION_TAG,
    BucketPolicy,
    BucketPurpose,
)

_ABORT_DAYS = 7


def retention(purpose: BucketPurpose) -> RemovalPolicy:
    """Return what becomes of a bucket that is not emptied with its stack.

    Access logs are kept even when their first creation fails: load balancers write a test file at once, S3 delivers
    within the hour (aws-cdk#21776), and CloudFormation cannot delete a bucket that is not empty.

    Args:
        purpose: What the bucket holds.
    """
    return RemovalPolicy.RETAIN if purpose is BucketPurpose.ACCESS_LOGS else KEPT


def lifecycle_rules(purpose: BucketPurpose, *, expire_after_days: int | None = None) -> list[s3.LifecycleRule]:
    """Return the lifecycle rules of a purpose.

    S3 can select objects for expiry by prefix or tag and cannot spare any, so nothing expires in a checkpoint bucket
    unless its writer put it under ``runs/`` or tagged it ``trainyard-retention=expire``.

    Args:
        purpose: What the bucket holds.
        expire_after_days: The age in days at which objects expire.
            Default - checkpoints 30, access logs 365; others never.
    """
    policy = purpose.policy
    rules = [_housekeeping(policy)]
    if policy.tiered:
        tier = s3.Transition(storage_class=s3.StorageClass.INTELLIGENT_TIERING, transition_after=Duration.days(0))
        rules.append(s3.LifecycleRule(id="tier", transitions=[tier]))
    if policy.expire_days is not None:
        age = Duration.days(policy.expire_days if expire_after_days is None else expire_after_days)
        rules += _expiry(purpose, age)
    return rules


def _housekeeping(policy: BucketPolicy) -> s3.LifecycleRule:
    versioned = policy.noncurrent_days is not None
    return s3.LifecycleRule(
        id="housekeeping",
        abort_incomplete_multipart_upload_after=Duration.days(_ABORT_DAYS),
        noncurrent_version_expiration=None if policy.noncurrent_days is None else Duration.days(policy.noncurrent_days),
        expired_object_delete_marker=True if versioned else None,
    )


def _expiry(purpose: BucketPurpose, age: Duration) -> list[s3.LifecycleRule]:
    if purpose is not BucketPurpose.CHECKPOINTS:
        return [s3.LifecycleRule(id="expire", expiration=age)]
    return [
        s3.LifecycleRule(id="expire-runs", prefix=EXPIRING_PREFIX, expiration=age),
        s3.LifecycleRule(id="expire-tagged", tag_filters={RETENTION_TAG: EXPIRING_TAG_VALUE}, expiration=age),
    ]
