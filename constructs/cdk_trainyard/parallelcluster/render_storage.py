"""Shared directories to their entries in the configuration of ParallelCluster. Nothing is decided here."""

from typing import Any

from cdk_trainyard.parallelcluster.context import volume_name
from cdk_trainyard.parallelcluster.spec_storage import SharedEbs, SharedEfs, SharedFsxVolume, SharedVolume
from cdk_trainyard.storage.mount_facts import MountFacts

Config = dict[str, Any]
_REMOVAL = {"DESTROY": "Delete", "SNAPSHOT": "Snapshot"}


def mounted_lustre(mount: MountFacts) -> Config:
    """Return the entry of a file system of FSx for Lustre that every node mounts.

    Args:
        mount: The file system.
    """
    return {
        "Name": volume_name(mount.path),
        "MountDir": mount.path,
        "StorageType": "FsxLustre",
        "FsxLustreSettings": {"FileSystemId": mount.identity},
    }


def shared_storage(one: SharedVolume, kind: str = "") -> Config:
    """Return the entry of a shared directory.

    Args:
        one: The shared directory.
        kind: What a volume of FSx is: ``openzfs`` or ``ontap``.
    """
    kind, settings = _settings(one, kind)
    entry: Config = {"Name": one.name, "MountDir": one.at, "StorageType": kind}
    given = {key: value for key, value in settings.items() if value is not None}
    return entry | ({f"{kind}Settings": given} if given else {})


def _settings(one: SharedVolume, kind: str) -> tuple[str, Config]:
    match one:
        case SharedEbs():
            return "Ebs", _ebs(one)
        case SharedEfs():
            return "Efs", _efs(one)
        case SharedFsxVolume():
            return {"openzfs": "FsxOpenZfs", "ontap": "FsxOntap"}[kind], {"VolumeId": one.volume_id}
    raise TypeError(f"no shared storage: {one!r}")


def _ebs(ebs: SharedEbs) -> Config:
    if ebs.volume_id is not None:
        return {"VolumeId": ebs.volume_id}
    return {
        "VolumeType": ebs.type.value,
        "Size": ebs.size_gib,
        "Iops": ebs.iops,
        "Throughput": ebs.throughput_mb_s,
        "Encrypted": True,
        "KmsKeyId": ebs.key and ebs.key.key_arn,
        "SnapshotId": ebs.snapshot_id,
        "Raid": ebs.raid_volumes and {"Type": ebs.raid_level, "NumberOfVolumes": ebs.raid_volumes},
        "DeletionPolicy": _REMOVAL.get(ebs.removal_policy.name, "Retain"),
    }


def _efs(efs: SharedEfs) -> Config:
    if efs.file_system_id is not None:
        return {"FileSystemId": efs.file_system_id, "EncryptionInTransit": True}
    kept = _REMOVAL.get(efs.removal_policy.name, "Retain")
    return {"Encrypted": True, "KmsKeyId": efs.key and efs.key.key_arn, "DeletionPolicy": kept}
