"""EBS volumes of a group's nodes."""

from dataclasses import dataclass

from aws_cdk import aws_kms as kms


@dataclass(frozen=True, kw_only=True, slots=True)
class EbsVolume:
    """One EBS volume of every node in a group.

    A group has at most one root entry and one secondary volume. HyperPod decides the size of the root volume (100 GB);
    the root entry exists only to encrypt it with a key of yours. The secondary volume is mounted at ``/opt/sagemaker``,
    where containers and images belong: a root volume filled by images is the commonest way to lose a node.

    Attributes:
        size_gb: Size of a secondary volume in GB, 1 to 16384; never given for a root volume.
        key: The key it is encrypted with. It needs continuous provisioning, and HyperPod cannot change it later. AWS
            recommends one key for each group (``smcluster-cmk`` in the SageMaker developer guide).
            Default - a key that AWS owns.
        root: Whether this is the root volume. Default: False.
    """

    size_gb: int | None = None
    key: kms.IKey | None = None
    root: bool = False
