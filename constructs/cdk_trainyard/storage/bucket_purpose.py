"""What a bucket is for, and what follows from it, as one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

EXPIRING_PREFIX = "runs/"
"""Objects of a checkpoint bucket under this prefix expire by age."""
RETENTION_TAG = "trainyard-retention"
"""The tag by which an object anywhere in a checkpoint bucket says what happens to it."""
EXPIRING_TAG_VALUE = "expire"
"""The value of the tag with which an object expires by age. Any other value, and no tag, keep it."""


class BucketPurpose(StrEnum):
    """What a training bucket holds."""

    SCRIPTS = "scripts"
    DATASETS = "datasets"
    CHECKPOINTS = "checkpoints"
    MODELS = "models"
    ACCESS_LOGS = "access-logs"

    @property
    def policy(self) -> "BucketPolicy":
        """How its objects age."""
        return _POLICIES[self]


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketPolicy:
    """How objects of one purpose age.

    Attributes:
        noncurrent_days: Overwritten and deleted versions stay for so long. None: no versions.
        expire_days: Objects expire at this age (checkpoints: those that are marked for it). None: never.
        tiered: Objects go to INTELLIGENT_TIERING, which moves them between access tiers and back free of charge.
    """

    noncurrent_days: int | None
    expire_days: int | None = None
    tiered: bool = False


_POLICIES: Mapping[BucketPurpose, BucketPolicy] = {
    BucketPurpose.SCRIPTS: BucketPolicy(noncurrent_days=90),
    BucketPurpose.DATASETS: BucketPolicy(noncurrent_days=30, tiered=True),
    BucketPurpose.CHECKPOINTS: BucketPolicy(noncurrent_days=7, expire_days=30),
    BucketPurpose.MODELS: BucketPolicy(noncurrent_days=90),
    BucketPurpose.ACCESS_LOGS: BucketPolicy(noncurrent_days=None, expire_days=365),
}
