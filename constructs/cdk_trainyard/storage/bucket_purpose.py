"""What a bucket is for, and what follows from it: versioning and lifecycle rules, as one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3

from cdk_trainyard.retention import KEPT

EXPIRING_PREFIX = "runs/"
"""Objects of a checkpoint bucket under this prefix expire by age."""
RETENTION_TAG = "trainyard-retention"
"""The tag by which an object anywhere in a checkpoint bucket says what happens to it."""
EXPIRING_TAG_VALUE = "expire"
"""The value of the tag with which an object expires by age. Any other value, and no tag, keep it."""

_ABORT_DAYS = 7


class BucketPurpose(StrEnum):
    """What a training bucket holds."""

    SCRIPTS = "scripts"
    DATASETS = "datasets"
    CHECKPOINTS = "checkpoints"
    MODELS = "models"
    ACCESS_LOGS = "access-logs"

    @property
    def expires(self) -> bool:
        """Whether objects of this purpose expire by age."""
        return _POLICIES[self].expire_days is not None

    @property
    def retention(self) -> RemovalPolicy:
        """What becomes of a bucket that is not emptied with its stack.

        Access logs are kept even when their first creation fails: load balancers write a test file at once, S3 delivers
        within the hour (aws-cdk#21776), and CloudFormation cannot delete a bucket that is not empty.
        """
        return RemovalPolicy.RETAIN if self is BucketPurpose.ACCESS_LOGS else KEPT

    @property
    def versioned(self) -> bool:
        """Whether what is overwritten or deleted stays readable for a while."""
        return _POLICIES[self].noncurrent_days is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Policy:
    """How objects of one purpose age.

    Attributes:
        noncurrent_days: Overwritten and deleted versions stay for so long. None: no versions.
        expire_days: Objects expire at this age (checkpoints: those that are marked for it). None: never.
        tiered: Objects go to INTELLIGENT_TIERING, which moves them between access tiers and back free of charge.
    """

    noncurrent_days: int | None
    expire_days: int | None = None
    tiered: bool = False


_POLICIES: Mapping[BucketPurpose, _Policy] = {
    BucketPurpose.SCRIPTS: _Policy(noncurrent_days=90),
    BucketPurpose.DATASETS: _Policy(noncurrent_days=30, tiered=True),
    BucketPurpose.CHECKPOINTS: _Policy(noncurrent_days=7, expire_days=30),
    BucketPurpose.MODELS: _Policy(noncurrent_days=90),
    BucketPurpose.ACCESS_LOGS: _Policy(noncurrent_days=None, expire_days=365),
}


def lifecycle_rules(purpose: BucketPurpose, *, expire_after_days: int | None = None) -> list[s3.LifecycleRule]:
    """Return the lifecycle rules of a purpose.

    S3 can select objects for expiry by prefix or tag and cannot spare any, so nothing expires in a checkpoint bucket
    unless its writer put it under ``runs/`` or tagged it ``trainyard-retention=expire``.

    Args:
        purpose: What the bucket holds.
        expire_after_days: The age in days at which objects expire.
            Default - checkpoints 30, access logs 365; others never.
    """
    policy = _POLICIES[purpose]
    rules = [_housekeeping(policy)]
    if policy.tiered:
        tier = s3.Transition(storage_class=s3.StorageClass.INTELLIGENT_TIERING, transition_after=Duration.days(0))
        rules.append(s3.LifecycleRule(id="tier", transitions=[tier]))
    if policy.expire_days is not None:
        age = Duration.days(policy.expire_days if expire_after_days is None else expire_after_days)
        rules += _expiry(purpose, age)
    return rules


def _housekeeping(policy: _Policy) -> s3.LifecycleRule:
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
