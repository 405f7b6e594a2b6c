"""Permissions on a bucket as verbs, with exact actions: what a role needs to read or write one prefix, and no more.

``BucketGrants`` is for users; the functions are for rooms above this one, which write managed policies of their own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from cdk_trainyard.operators import granted

JOBS_NAME_KEYS = "jobs name their own keys in the buckets that were made for them"
"""Why jobs are granted whole buckets, for reviewers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Verb:
    objects: tuple[str, ...]
    lists: bool
    key: tuple[str, ...]


_READ = _Verb(objects=("s3:GetObject",), lists=True, key=("kms:Decrypt",))
# Parts of a multipart upload are decrypted when S3 puts them together, so a writer needs both key actions.
_WRITE = _Verb(
    objects=("s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:PutObject", "s3:PutObjectTagging"),
    lists=False,
    key=("kms:Decrypt", "kms:GenerateDataKey"),
)
_DELETE = _Verb(objects=("s3:DeleteObject",), lists=False, key=())


def read_statements(bucket: s3.IBucket, *, prefix: str = "") -> list[iam.PolicyStatement]:
    """Return the statements that let somebody list and read the objects under ``prefix``.

    Args:
        bucket: The bucket. The key it is encrypted with, when known, may decrypt.
        prefix: A key prefix, ``tokenized/``.
            Default - the whole bucket.
    """
    return _statements(bucket, prefix, [_READ])


def write_statements(bucket: s3.IBucket, *, prefix: str = "") -> list[iam.PolicyStatement]:
    """Return the statements that let somebody put and tag objects under ``prefix``; neither list, read nor delete.

    Args:
        bucket: The bucket. The key it is encrypted with, when known, may encrypt.
        prefix: A key prefix, ``runs/``.
            Default - the whole bucket.
    """
    return _statements(bucket, prefix, [_WRITE])


def read_write_statements(bucket: s3.IBucket, *, prefix: str = "") -> list[iam.PolicyStatement]:
    """Return the statements that let somebody list, read, put and tag objects under ``prefix``; not delete.

    Args:
        bucket: The bucket. The key it is encrypted with, when known, may encrypt and decrypt.
        prefix: A key prefix, ``runs/``.
            Default - the whole bucket.
    """
    return _statements(bucket, prefix, [_READ, _WRITE])


def delete_statements(bucket: s3.IBucket, *, prefix: str = "") -> list[iam.PolicyStatement]:
    """Return the statements that let somebody delete objects under ``prefix``. Versions stay until they expire.

    Args:
        bucket: The bucket.
        prefix: A key prefix, ``runs/``.
            Default - the whole bucket.
    """
    return _statements(bucket, prefix, [_DELETE])


def job_statements(
    *, read: Sequence[s3.IBucket], read_write: Sequence[s3.IBucket]
) -> tuple[list[iam.PolicyStatement], list[str]]:
    """Return what jobs need of whole buckets, and the wildcards in it that reviewers ask about; nothing is deleted.

    Args:
        read: The buckets that are listed and read.
        read_write: The buckets that are written too.
    """
    statements = [statement for bucket in read for statement in read_statements(bucket)]
    statements += [statement for bucket in read_write for statement in read_write_statements(bucket)]
    return statements, [objects_arn(bucket) for bucket in (*read, *read_write)]


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefixGrant:
    """What somebody may do with the objects under a prefix: list and read them, and with ``writes`` put and tag them.

    Attributes:
        bucket: The bucket.
        prefix: The key prefix. Default - the whole bucket.
        writes: Whether objects are written, too.
    """

    bucket: s3.IBucket
    prefix: str = ""
    writes: bool = False

    def includes(self, other: "PrefixGrant") -> bool:
        """Return whether another grant adds nothing to this one."""
        return (
            self.bucket.node.path == other.bucket.node.path
            and _clean(other.prefix).startswith(_clean(self.prefix))
            and (self.writes or not other.writes)
        )

    def statements(self, *, beside: "Sequence[PrefixGrant]") -> list[iam.PolicyStatement]:
        """Return what it adds to other grants.

        Args:
            beside: The others.
        """
        if any(other.includes(self) for other in beside):
            return []
        if not self.writes:
            return read_statements(self.bucket, prefix=self.prefix)
        read = any(other.includes(replace(self, writes=False)) for other in beside)
        return (write_statements if read else read_write_statements)(self.bucket, prefix=self.prefix)


def objects_arn(bucket: s3.IBucket, *, prefix: str = "") -> str:
    """Return the ARN pattern of the objects under ``prefix``: the wildcard that a reviewer of a policy asks about."""
    return bucket.arn_for_objects(f"{_clean(prefix)}*")


class BucketGrants:
    """Grants on any bucket, with exact actions and the key's permissions along.

    A role gets an inline policy, as from CDK's own grants. Where inline policies are unwelcome, give an
    ``iam.ManagedPolicy`` as the grantee.
    """

    def __init__(self, bucket: s3.IBucket) -> None:
        """Offer the verbs on ``bucket``."""
        self._bucket = bucket

    def read(self, grantee: iam.IGrantable, *, prefix: str = "") -> iam.Grant:
        """Let ``grantee`` list and read the objects under ``prefix``, which is the whole bucket without one."""
        return granted(grantee, *read_statements(self._bucket, prefix=prefix))

    def write(self, grantee: iam.IGrantable, *, prefix: str = "") -> iam.Grant:
        """Let ``grantee`` put and tag objects under ``prefix``, which is the whole bucket without one."""
        return granted(grantee, *write_statements(self._bucket, prefix=prefix))

    def read_write(self, grantee: iam.IGrantable, *, prefix: str = "") -> iam.Grant:
        """Let ``grantee`` list, read, put and tag objects under ``prefix``, which is the whole bucket without one."""
        return granted(grantee, *read_write_statements(self._bucket, prefix=prefix))

    def objects_arn(self, *, prefix: str = "") -> str:
        """Return the wildcard ARN that the verbs grant on, for reviewers; without ``prefix`` of the whole bucket."""
        return objects_arn(self._bucket, prefix=prefix)

    def delete(self, grantee: iam.IGrantable, *, prefix: str = "") -> iam.Grant:
        """Let ``grantee`` delete objects under ``prefix``, which is the whole bucket without one."""
        return granted(grantee, *delete_statements(self._bucket, prefix=prefix))


def _clean(prefix: str) -> str:
    stripped = prefix.strip("/")
    return f"{stripped}/" if stripped else ""


def _statements(bucket: s3.IBucket, prefix: str, verbs: Sequence[_Verb]) -> list[iam.PolicyStatement]:
    objects = sorted({action for verb in verbs for action in verb.objects})
    statements = [iam.PolicyStatement(actions=objects, resources=[objects_arn(bucket, prefix=prefix)])]
    if any(verb.lists for verb in verbs):
        statements.append(
            iam.PolicyStatement(
                actions=["s3:ListBucket"], resources=[bucket.bucket_arn], conditions=_listing(_clean(prefix))
            )
        )
    key_actions = sorted({action for verb in verbs for action in verb.key})
    if key_actions and bucket.encryption_key is not None:
        statements.append(iam.PolicyStatement(actions=key_actions, resources=[bucket.encryption_key.key_arn]))
    return statements


def _listing(prefix: str) -> Mapping[str, Mapping[str, Sequence[str]]] | None:
    """Allow listing of the prefix alone, with and without its slash: ``aws s3 ls`` sends what was typed."""
    return {"StringLike": {"s3:prefix": [prefix.removesuffix("/"), f"{prefix}*"]}} if prefix else None


def policy_text(key: str) -> str:
    """Return a key as a policy means it to the letter.

    Source: IAM user guide, "IAM policy elements: Variables and tags", on special characters.

    Args:
        key: The key.
    """
    return re.sub(r"[*?]", r"${\g<0>}", key)
