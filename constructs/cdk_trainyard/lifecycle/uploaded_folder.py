"""A folder of scripts in a bucket, under the hash of its content, and the permission to read it."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from constructs import Construct, IDependable

from cdk_trainyard.lifecycle.bundle import Bundle
from cdk_trainyard.lifecycle.reading import script_statements
from cdk_trainyard.lifecycle.uploader import HASH_LENGTH, ROOT_PREFIX, Uploader


class UploadedFolder(Construct):
    """A folder below ``s3://<bucket>/lifecycle-scripts/``: immutable, and read-only to nodes.

    Attributes:
        bucket: The bucket.
        content_hash: SHA-256, in hex, of every name and byte.
        prefix: The folder's place in the bucket, without a slash at its end.
        uploaded: Depend on it, and the files are there.
    """

    bucket: s3.IBucket
    content_hash: str
    prefix: str
    uploaded: IDependable

    def _upload(
        self,
        bundle: Bundle,
        bucket: s3.IBucket,
        family: str,
        *,
        beside: Sequence[str] = (),
        data: Sequence[deployment.ISource] = (),
    ) -> None:
        """Upload the folder, beside its earlier versions.

        Args:
            bundle: The files.
            bucket: Where they go.
            family: What all versions of the folder are below.
            beside: What enters the hash beside the files. Default - nothing.
            data: Files beside them whose text holds Tokens. Default - none.
        """
        self.bucket, self._family = bucket, f"{ROOT_PREFIX}/{family}"
        self.content_hash = bundle.digest(*beside)
        self.prefix = f"{self._family}/{self.content_hash[:HASH_LENGTH]}"
        self.uploaded = Uploader.of(self).upload(
            self, "Resource", bucket=bucket, prefix=self.prefix, bundle=bundle, data=data
        )

    @property
    def s3_uri(self) -> str:
        """The folder's address, ``s3://<bucket>/<prefix>/``."""
        return f"s3://{self.bucket.bucket_name}/{self.prefix}/"

    @property
    def objects_arn(self) -> str:
        """ARN of what nodes may read, the wildcard that ``read_statements`` has: this folder and its earlier versions.

        During an update the policy changes before the cluster does; a node that starts in between still runs the
        version before.
        """
        return self.bucket.arn_for_objects(f"{self._family}/*")

    def read_statements(self) -> list[iam.PolicyStatement]:
        """Return the permissions of a node: list and read this folder and its earlier versions. It can never write."""
        return script_statements(self.bucket, objects_arn=self.objects_arn)
