"""Shared directories to their entries in the configuration of ParallelCluster. Nothing is decided here."""

from typing import Any

from cdk_trainyard.parallelcluster.resolved import ResolvedStorage
from cdk_trainyard.parallelcluster.shared_storage import SharedEbs, SharedEfs, SharedLustre, SharedOntap, SharedOpenZfs

Config = dict[str, Any]
DEFAULT_THROUGHPUT = {"PERSISTENT_2": 250}
"""MB/s per TiB of a Lustre file system that ParallelCluster makes, where the user says none."""


def shared_storage(storage: ResolvedStorage) -> Config:
    """Return one entry.

    Args:
        storage: The shared directory.
    """
    kind, settings = _settings(storage)
    entry: Config = {"Name": storage.name, "MountDir": storage.at, "StorageType": kind}
    given = {key: value for key, value in settings.items() if value is not None}
    return entry | ({f"{kind}Settings": given} if given else {})


def _settings(storage: ResolvedStorage) -> tuple[str, Config]:
    match storage.given:
        case SharedEbs() as ebs:
            return "Ebs", _ebs(ebs)
        case SharedEfs() as efs:
            return "Efs", _efs(efs)
        case SharedLustre() as lustre:
            return "FsxLustre", _lustre(lustre)
        case SharedOpenZfs(volume_id=volume_id):
            return "FsxOpenZfs", {"VolumeId": volume_id}
        case SharedOntap(volume_id=volume_id):
            return "FsxOntap", {"VolumeId": volume_id}


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
        "DeletionPolicy": ebs.deletion.value,
    }


def _efs(efs: SharedEfs) -> Config:
    if efs.file_system is not None:
        return {"FileSystemId": efs.file_system.file_system_id, "EncryptionInTransit": True}
    return {"Encrypted": True, "KmsKeyId": efs.key and efs.key.key_arn, "DeletionPolicy": efs.deletion.value}


def _lustre(lustre: SharedLustre) -> Config:
    if lustre.file_system is not None:
        return {"FileSystemId": lustre.file_system.file_system_id}
    throughput = lustre.throughput_mb_s_per_tib
    return {
        "StorageCapacity": lustre.capacity_gib,
        "DeploymentType": lustre.deployment_type,
        "PerUnitStorageThroughput": throughput or DEFAULT_THROUGHPUT.get(lustre.deployment_type),
        "StorageType": lustre.storage_type,
        "DataCompressionType": "LZ4",
        "KmsKeyId": lustre.key and lustre.key.key_arn,
        "DeletionPolicy": lustre.deletion.value,
    }
