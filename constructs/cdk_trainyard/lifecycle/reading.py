"""IAM statements with which nodes read their scripts from S3, and are told when one is missing.

``s3:ListBucket`` has no condition. S3 answers 404 for a key that is not there only to who may list the bucket, and 403
to all others (``API_GetObject`` and ``API_HeadObject`` in the S3 API reference); neither request carries an
``s3:prefix``, so that a condition on it would deny the bucket to them, and to ``HeadBucket`` too.
"""

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3


def script_statements(bucket: s3.IBucket, *, objects_arn: str) -> list[iam.PolicyStatement]:
    """Return the statements that let nodes read some scripts, and list the keys of the bucket; they write nothing.

    Args:
        bucket: The bucket. The key it is encrypted with, when known, may decrypt.
        objects_arn: What is read, a wildcard below one prefix.
    """
    key = bucket.encryption_key
    return [
        iam.PolicyStatement(actions=["s3:GetObject"], resources=[objects_arn]),
        iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn]),
        *([iam.PolicyStatement(actions=["kms:Decrypt"], resources=[key.key_arn])] if key else []),
    ]
