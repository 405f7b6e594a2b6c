"""Clusters whose shared directories cannot work."""

from cdk_trainyard.parallelcluster import SharedEbs, SharedEfs, SharedLustre, SharedOpenZfs, StorageDeletion, VolumeType
from cdk_trainyard.parallelcluster.resolved import ResolvedCluster
from tools.contract.table.clusters import Imported, cluster, flexible, queue


def bad_storage(parts: Imported) -> dict[str, ResolvedCluster]:
    """Return clusters whose shared directories cannot work.

    Args:
        parts: Parts that exist already.
    """
    lustre = SharedLustre(file_system=parts.lustre)
    return {
        "a Lustre of 1300 GiB": cluster(storage=[SharedLustre(capacity_gib=1300)]),
        "a Lustre of no size": cluster(storage=[SharedLustre()]),
        "a Lustre of 251 MB/s": cluster(storage=[SharedLustre(capacity_gib=1200, throughput_mb_s_per_tib=251)]),
        "a scratch Lustre with a throughput": cluster(
            storage=[SharedLustre(capacity_gib=1200, deployment_type="SCRATCH_2", throughput_mb_s_per_tib=125)]
        ),
        "a SCRATCH_1 Lustre of 4800 GiB": cluster(
            storage=[SharedLustre(capacity_gib=4800, deployment_type="SCRATCH_1")]
        ),
        "a PERSISTENT_1 Lustre without throughput": cluster(
            storage=[SharedLustre(capacity_gib=1200, deployment_type="PERSISTENT_1")]
        ),
        "an unknown deployment type": cluster(
            storage=[SharedLustre(capacity_gib=1200, deployment_type="PERSISTENT_3")]
        ),
        "PERSISTENT_2 on hard disks": cluster(storage=[SharedLustre(capacity_gib=6000, storage_type="HDD")]),
        "a hard disk Lustre of 1200 GiB": cluster(
            storage=[
                SharedLustre(
                    capacity_gib=1200, deployment_type="PERSISTENT_1", storage_type="HDD", throughput_mb_s_per_tib=40
                )
            ]
        ),
        "two things on /fsx": cluster(storage=[lustre, SharedEbs(at="/fsx", name="other")]),
        "a directory of the system": cluster(storage=[SharedEbs(at="/usr")]),
        "Slurm's directory": cluster(storage=[SharedEbs(at="/opt/slurm")]),
        "a path with a dot at its beginning": cluster(storage=[SharedEbs(at="/.hidden", name="hidden")]),
        "two new Lustre file systems": cluster(
            storage=[SharedLustre(capacity_gib=1200), SharedLustre(at="/b", capacity_gib=1200)]
        ),
        "a new Lustre and a queue in two subnets": cluster(
            queue(flexible("c5.xlarge", "c6i.xlarge"), subnets=[parts.private, parts.other_zone]),
            storage=[SharedLustre(capacity_gib=1200)],
        ),
        "two new EFS file systems": cluster(storage=[SharedEfs(at="/a"), SharedEfs(at="/b")]),
        "six volumes": cluster(storage=[SharedEbs(at=f"/v{index}") for index in range(6)]),
        "21 existing FSx volumes": cluster(
            storage=[SharedOpenZfs(at=f"/z{index}", volume_id=f"fsvol-{index:017x}") for index in range(21)]
        ),
        "two names alike": cluster(storage=[SharedEbs(at="/a", name="x"), SharedEbs(at="/b", name="x")]),
        "a storage named default": cluster(storage=[SharedEbs(at="/a", name="default")]),
        "a storage name of 31": cluster(storage=[SharedEbs(at="/a", name="s" * 31)]),
        "one file system twice": cluster(storage=[lustre, SharedLustre(at="/again", file_system=parts.lustre)]),
        "a volume of 0 GiB": cluster(storage=[SharedEbs(at="/a", type=VolumeType.IO1, size_gib=2)]),
        "a gp3 volume with few operations": cluster(storage=[SharedEbs(at="/a", size_gib=100, iops=1000)]),
        "a gp3 volume with much throughput for few operations": cluster(
            storage=[SharedEbs(at="/a", size_gib=100, iops=3000, throughput_mb_s=1000)]
        ),
        "a gp3 volume of 1100 MB/s": cluster(
            storage=[SharedEbs(at="/a", size_gib=100, iops=10000, throughput_mb_s=1100)]
        ),
        "an io1 volume with more operations than it holds": cluster(
            storage=[SharedEbs(at="/a", type=VolumeType.IO1, size_gib=10, iops=1000)]
        ),
        "operations of a gp2 volume": cluster(storage=[SharedEbs(at="/a", type=VolumeType.GP2, iops=1000)]),
        "a RAID array of 6": cluster(storage=[SharedEbs(at="/a", raid_volumes=6)]),
        "RAID 5": cluster(storage=[SharedEbs(at="/a", raid_volumes=3, raid_level=5)]),
        "a volume that is none": cluster(storage=[SharedEbs(at="/a", volume_id="volume")]),
        "a snapshot that is none": cluster(storage=[SharedEbs(at="/a", snapshot_id="snapshot")]),
        "an OpenZFS volume that is none": cluster(storage=[SharedOpenZfs(at="/a", volume_id="fs-1")]),
        "a snapshot of EFS": cluster(storage=[SharedEfs(at="/a", deletion=StorageDeletion.SNAPSHOT)]),
        "a snapshot of Lustre": cluster(storage=[SharedLustre(capacity_gib=1200, deletion=StorageDeletion.SNAPSHOT)]),
    }
