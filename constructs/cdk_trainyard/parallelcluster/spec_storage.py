"""What can be said of the directories that the nodes of a ParallelCluster share, beside its mounts. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.options.fields import As
from cdk_trainyard.options.kinds import Number, Text, resource_id
from cdk_trainyard.options.stand_ins import Removal, VolumeRemoval
from cdk_trainyard.parallelcluster.spec_nodes import MountDir, VolumeType

if TYPE_CHECKING:
    from aws_cdk import RemovalPolicy
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_kms as kms

VolumeName = Annotated[
    str,
    Text(
        pattern=r"(?!default$)[A-Za-z0-9+=._:@/-]+",
        words="letters, digits and +-=._:@/, and not 'default'",
        example="shared",
        longest=30,
    ),
]
"""A name that is the value of a tag (``SHARED_STORAGE_NAME_REGEX`` of ParallelCluster's validators)."""
EfsId = Annotated[str, resource_id("fs", "a file system of EFS")]
FsxVolumeId = Annotated[
    str, Text(pattern=r"fsvol-[0-9a-f]{17}", words="the id of a volume of FSx", example="fsvol-0123456789abcdef0")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedVolume:
    """What every shared directory says."""

    at: MountDir
    """Where it is mounted."""
    name: VolumeName | None = None
    """Its name in the cluster: another name is another, empty volume. Default - made of ``at``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedEbs(SharedVolume):
    """An EBS volume of the head node, shared with all nodes over NFS. Not for training data: one machine serves it."""

    size_gib: Annotated[int | None, Number(minimum=1, unit="GiB")] = None
    """Size in GiB. It cannot be changed later. Default - 40."""
    type: VolumeType = VolumeType.GP3
    """Type of the volume. Default: gp3."""
    iops: Annotated[int | None, Number(minimum=1)] = None
    """Operations per second. Default - EC2's for the type."""
    throughput_mb_s: Annotated[int | None, Number(minimum=1, unit="MB/s")] = None
    """Throughput in MB/s, of gp3. Default - 125."""
    key: "kms.IKey | None" = None
    """KMS key that encrypts it, one that exists too: the head node attaches it. Default - the account's EBS key."""
    snapshot_id: Annotated[str | None, resource_id("snap", "a snapshot")] = None
    """Snapshot to begin with. Default - an empty volume."""
    volume_id: Annotated[str | None, resource_id("vol", "a volume of EBS")] = None
    """A volume that exists, in the head node's zone; then only ``at``, ``name`` and its KMS key are given beside it.
    Default - ParallelCluster makes one."""
    raid_volumes: Annotated[int | None, Number(minimum=2, maximum=5)] = None
    """Number of volumes to join into one, 2 to 5. Default - one volume."""
    raid_level: Annotated[int, Number(minimum=0, maximum=1)] = 0
    """What ``raid_volumes`` are: 0 (faster) or 1 (mirrored). Default: 0."""
    removal_policy: "Annotated[RemovalPolicy, As(VolumeRemoval)]" = VolumeRemoval("RETAIN")  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """What becomes of it when it leaves the cluster, or the cluster goes. Default: RETAIN."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedEfs(SharedVolume):
    """An EFS file system: one that exists, or with no ``file_system_id`` one that ParallelCluster makes."""

    file_system_id: EfsId | None = None
    """One that exists, with mount targets in the zones of the nodes. Default - ParallelCluster makes one, which goes
    with the cluster unless ``removal_policy`` says otherwise."""
    security_group: "ec2.ISecurityGroup | None" = None
    """Security group of one that exists; the nodes are let in. Default - none; one that exists needs it."""
    key: "kms.IKey | None" = None
    """KMS key of one that ParallelCluster makes. Default - the account's EFS key."""
    removal_policy: "RemovalPolicy" = Removal("RETAIN")  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """What becomes of one that ParallelCluster makes: RETAIN or DESTROY. Default: RETAIN."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedFsxVolume(SharedVolume):
    """A volume of FSx that exists. Its security group must let the nodes in."""

    volume_id: FsxVolumeId
    """The volume, ``fsvol-…``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedStorage:
    """Directories that all nodes share, by kind, beside the file systems that are mounted."""

    ebs: Sequence[SharedEbs] = ()
    """EBS volumes of the head node. Default - none."""
    efs: Sequence[SharedEfs] = ()
    """EFS file systems. Default - none."""
    openzfs: Sequence[SharedFsxVolume] = ()
    """Volumes of FSx for OpenZFS; TCP and UDP 111, 2049 and 20001 to 20003. Default - none."""
    ontap: Sequence[SharedFsxVolume] = ()
    """Volumes of FSx for NetApp ONTAP; TCP and UDP 111, 635, 2049 and 4046. Default - none."""
