"""Buckets whose objects stay under another key than the one that their readers may use.

Sources: Amazon S3 User Guide, "Using server-side encryption with AWS KMS keys (SSE-KMS)" (another default key changes
no object that there is); botocore 1.44.5, ``s3/2006-03-01``, UpdateObjectEncryption, and ``s3control/2018-08-20``,
S3UpdateObjectEncryptionOperation. Read 2026-11-28.
"""

from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.report.nested import at

FORMER_KEY: Final = (
    "objects keep the key that they were written with, and a role that may use the new one alone can read none of "
    "them; keep the former key, or bring all objects and versions under the new one (UpdateObjectEncryption of S3, by "
    "Batch Operations) before any node or job reads again"
)
"""What another key means, and what to do about it."""


def leaves_its_key(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether a bucket had a KMS key of its own and gets another, or none.

    Args:
        kind: The type of the resource.
        before: Its properties before.
        after: Its properties after.
    """
    key = _key(before) if kind == "AWS::S3::Bucket" else None
    return key is not None and key != _key(after)


def _key(bucket: Mapping[str, Any]) -> Any:
    match at(bucket, "BucketEncryption", "ServerSideEncryptionConfiguration"):
        case [rule, *_]:
            return at(rule, "ServerSideEncryptionByDefault", "KMSMasterKeyID")
        case _:
            return None
