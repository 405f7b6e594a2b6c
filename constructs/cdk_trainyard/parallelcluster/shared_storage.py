"""Directories that all nodes of a cluster share."""

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_efs as efs
from aws_cdk import aws_kms as kms

from cdk_trainyard.storage import Lustre


class StorageDeletion(StrEnum):
    """What becomes of storage that ParallelCluster made, when it leaves the configuration or the cluster goes."""

    DELETE = "Delete"
    RETAIN = "Retain"
    SNAPSHOT = "Snapshot"
    """A snapshot is kept; EBS only."""


class VolumeType(StrEnum):
    """Types of EBS volumes."""

    GP3 = "gp3"
    GP2 = "gp2"
    IO1 = "io1"
    IO2 = "io2"
    ST1 = "st1"
    SC1 = "sc1"
    STANDARD = "standard"


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedEbs:
    """An EBS volume of the head node, shared with all nodes over NFS. Not for training data: one machine serves it.

    Attributes:
        at: Where it is mounted.
        name: Its name in the cluster: another name is another, empty volume. Default - made of ``at``.
        size_gib: Size in GiB. It cannot be changed later. Default: 40.
        type: Type of the volume. Default: GP3.
        iops: Operations per second. Default - EC2's for the type.
        throughput_mb_s: Throughput in MB/s, of GP3. Default - 125.
        key: Key that encrypts it. Default - the account's EBS key.
        snapshot_id: Snapshot to begin with, ``snap-…``. Default - an empty volume.
        volume_id: A volume that exists, ``vol-…``, in the head node's zone; then nothing else is given.
            Default - ParallelCluster makes one.
        raid_volumes: Number of volumes to join into one, 2 to 5. Default - one volume.
        raid_level: 0 (faster) or 1 (mirrored), with ``raid_volumes``. Default: 0.
        deletion: What becomes of it. Default: RETAIN.
    """

    at: str
    name: str | None = None
    size_gib: int | None = None
    type: VolumeType = VolumeType.GP3
    iops: int | None = None
    throughput_mb_s: int | None = None
    key: kms.IKey | None = None
    snapshot_id: str | None = None
    volume_id: str | None = None
    raid_volumes: int | None = None
    raid_level: int = 0
    deletion: StorageDeletion = StorageDeletion.RETAIN


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedEfs:
    """An EFS file system.

    Attributes:
        at: Where it is mounted.
        name: Its name in the cluster. Default - made of ``at``.
        file_system: A file system that exists, with mount targets in the zones of the nodes.
            Default - ParallelCluster makes one, which goes with the cluster unless ``deletion`` says otherwise.
        key: Key of one made here. Default - the account's EFS key.
        deletion: What becomes of one made here. Default: RETAIN.
    """

    at: str
    name: str | None = None
    file_system: efs.IFileSystem | None = None
    key: kms.IKey | None = None
    deletion: StorageDeletion = StorageDeletion.RETAIN


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedLustre:
    """An FSx for Lustre file system: one of ``LustreFileSystem``, one that exists, or one that ParallelCluster makes.

    Let it be a ``LustreFileSystem``: one that ParallelCluster makes has no EFA, ties its queues to their subnets for
    ever, and belongs to the cluster.

    Attributes:
        at: Where it is mounted. Default: ``/fsx``.
        name: Its name in the cluster. Default - made of ``at``.
        file_system: The file system. Default - ParallelCluster makes one, by what follows.
        capacity_gib: Capacity in GiB.
        deployment_type: ``SCRATCH_1``, ``SCRATCH_2``, ``PERSISTENT_1`` or ``PERSISTENT_2``. Default: PERSISTENT_2.
        throughput_mb_s_per_tib: Throughput of persistent types. Default: 250 for PERSISTENT_2.
        storage_type: ``SSD`` or ``HDD`` (PERSISTENT_1 only). Default - SSD.
        key: Key of persistent types. Default - the account's FSx key.
        deletion: What becomes of one that ParallelCluster makes. Default: RETAIN.
    """

    at: str = "/fsx"
    name: str | None = None
    file_system: Lustre | None = None
    capacity_gib: int | None = None
    deployment_type: str = "PERSISTENT_2"
    throughput_mb_s_per_tib: int | None = None
    storage_type: str | None = None
    key: kms.IKey | None = None
    deletion: StorageDeletion = StorageDeletion.RETAIN


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedOpenZfs:
    """A volume of FSx for OpenZFS that exists.

    Attributes:
        at: Where it is mounted.
        volume_id: The volume, ``fsvol-…``. Its security group must let the cluster in: TCP and UDP 111, 2049 and 20001
            to 20003.
        name: Its name in the cluster. Default - made of ``at``.
    """

    at: str
    volume_id: str
    name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedOntap:
    """A volume of FSx for NetApp ONTAP that exists.

    Attributes:
        at: Where it is mounted.
        volume_id: The volume, ``fsvol-…``. Its security group must let the cluster in: TCP and UDP 111, 635, 2049 and
            4046.
        name: Its name in the cluster. Default - made of ``at``.
    """

    at: str
    volume_id: str
    name: str | None = None


SharedStorage = SharedEbs | SharedEfs | SharedLustre | SharedOpenZfs | SharedOntap
"""Everything that can be mounted."""
