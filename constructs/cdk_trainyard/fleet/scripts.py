"""The upload of a fleet's set-up scripts to S3, under the hash of their content."""

from dataclasses import replace

from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.lifecycle import rules
from cdk_trainyard.lifecycle.bundle import Bundle, BundleFile, read_bundle
from cdk_trainyard.lifecycle.uploaded_folder import UploadedFolder
from cdk_trainyard.node_scripts import scripts_folder

_FAMILY = "fleet"
_SHARED_STEPS = ("devices", "lustre")
"""Steps of other nodes that fit these as they are."""
_IMAGE = "image/"
"""What images are built with."""
_SHARED_WITH_IMAGES = ("image/kernel.sh", "image/lustre.sh")
"""Those of them that a node may need: its image can be somebody else's."""


def fleet_bundle() -> Bundle:
    """Return what a node downloads: the fleet's steps, those that it shares with other nodes, and the step library."""
    root = scripts_folder()
    whole = read_bundle(("", root / "fleet"), ("lib", root / "lib"))
    own = (file for file in whole.files if not file.name.startswith(_IMAGE) or file.name in _SHARED_WITH_IMAGES)
    bundle = replace(whole, files=tuple(own))
    for step in _SHARED_STEPS:
        data = (root / "hyperpod" / "steps" / f"{step}.sh").read_bytes()
        bundle = bundle.with_file(BundleFile(name=f"steps/{step}.sh", data=data))
    return bundle


class FleetScripts(UploadedFolder):
    """The scripts that set a fleet's nodes up, below ``s3://<bucket>/lifecycle-scripts/fleet/``: immutable, read-only.

    They hold nothing of a fleet: what differs between nodes is written by their user data.

    Args:
        bucket: Where they go.

    Attributes:
        bucket: The bucket.
        content_hash: SHA-256, in hex, of every name and byte.
        prefix: Their place in the bucket, without a slash at its end.
        uploaded: Depend on it, and the files are there.
    """

    def __init__(self, scope: Construct, construct_id: str, *, bucket: s3.IBucket) -> None:
        super().__init__(scope, construct_id)
        bundle = fleet_bundle()
        raise_problems(self, rules.content_problems(bundle))
        self._upload(bundle, bucket, _FAMILY)

    @classmethod
    def of(cls, scope: Construct, bucket: s3.IBucket) -> "FleetScripts":
        """Return the scripts of the stack that ``scope`` is in, and define them there for the first that asks.

        Args:
            scope: Who asks.
            bucket: The bucket.
        """
        stack = Stack.of(scope)
        construct_id = f"FleetScripts{bucket.node.addr[-8:]}"
        found = stack.node.try_find_child(construct_id)
        return found if isinstance(found, cls) else cls(stack, construct_id, bucket=bucket)
