"""Clusters whose shared directories cannot work."""

from aws_cdk import RemovalPolicy

from cdk_trainyard.parallelcluster import SharedEbs, SharedEfs, SharedFsxVolume, SharedStorage, VolumeType
from cdk_trainyard.storage import Mount
from tools.contract.table.clusters import Candidate, Imported, cluster


def bad_storage(parts: Imported) -> dict[str, Candidate]:
    """Return clusters whose shared directories cannot work.

    Args:
        parts: Parts that exist already.
    """
    lustre = Mount(file_system=parts.lustre)
    return {
        "two things on /fsx": cluster(
            mounts=[lustre], shared_storage=SharedStorage(ebs=[SharedEbs(at="/fsx", name="other")])
        ),
        "a directory of the system": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/usr")])),
        "Slurm's directory": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/opt/slurm")])),
        "a path with a dot at its beginning": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/.hidden", name="hidden")])
        ),
        "two new EFS file systems": cluster(shared_storage=SharedStorage(efs=[SharedEfs(at="/a"), SharedEfs(at="/b")])),
        "six volumes": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at=f"/v{index}") for index in range(6)])),
        "21 existing FSx volumes": cluster(
            shared_storage=SharedStorage(
                openzfs=[SharedFsxVolume(at=f"/z{index}", volume_id=f"fsvol-{index:017x}") for index in range(21)]
            )
        ),
        "two names alike": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", name="x"), SharedEbs(at="/b", name="x")])
        ),
        "a storage named default": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", name="default")])),
        "a storage name of 31": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", name="s" * 31)])),
        "one file system twice": cluster(mounts=[lustre, Mount(at="/again", file_system=parts.lustre)]),
        "a volume of 0 GiB": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", type=VolumeType.IO1, size_gib=2)])
        ),
        "a gp3 volume with few operations": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", size_gib=100, iops=1000)])
        ),
        "a gp3 volume with much throughput for few operations": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", size_gib=100, iops=3000, throughput_mb_s=1000)])
        ),
        "a gp3 volume of 1100 MB/s": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", size_gib=100, iops=10000, throughput_mb_s=1100)])
        ),
        "an io1 volume with more operations than it holds": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", type=VolumeType.IO1, size_gib=10, iops=1000)])
        ),
        "operations of a gp2 volume": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", type=VolumeType.GP2, iops=1000)])
        ),
        "a RAID array of 6": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", raid_volumes=6)])),
        "RAID 5": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", raid_volumes=3, raid_level=5)])),
        "a volume that is none": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", volume_id="volume")])),
        "a snapshot that is none": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", snapshot_id="snapshot")])
        ),
        "an OpenZFS volume that is none": cluster(
            shared_storage=SharedStorage(openzfs=[SharedFsxVolume(at="/a", volume_id="fs-1")])
        ),
        "throughput of EFS without its mode": _raw("Efs", ProvisionedThroughput=100),
        "a mode of EFS without its throughput": _raw("Efs", ThroughputMode="provisioned"),
        "a backup with a size": _raw("FsxLustre", BackupId="backup-0123456789abcdef0", StorageCapacity=1200),
        "a directory that stands for none": cluster(
            raw_overrides={"SharedStorage": [{"Name": "raw", "MountDir": "NONE", "StorageType": "Ebs"}]}
        ),
        "a snapshot of EFS": cluster(
            shared_storage=SharedStorage(efs=[SharedEfs(at="/a", removal_policy=RemovalPolicy.SNAPSHOT)])
        ),
    }


def _raw(kind: str, **settings: object) -> Candidate:
    entry = {"Name": "raw", "MountDir": "/raw", "StorageType": kind, f"{kind}Settings": settings}
    return cluster(raw_overrides={"SharedStorage": [entry]})
