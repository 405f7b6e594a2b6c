"""The ``storage:`` section: the shared file systems and the buckets."""

from typing import Annotated, Literal

from pydantic import Field

from cdk_trainyard.deployment._section import (
    LAX,
    BucketName,
    KeyArn,
    MountPath,
    OrExisting,
    RetentionDays,
    Section,
    SecurityGroupId,
    Zone,
    resource_id,
    shown,
    text,
)
from cdk_trainyard.storage import LustreCompression, LustreLogLevel, LustreStorage, LustreType, RepositoryEvent

_Bucket = Literal["scripts", "datasets", "checkpoints", "models"]
_FileSystemId = Annotated[str, resource_id("fs")]
_DnsName = Annotated[
    str,
    text(
        r"^fsi?-[0-9a-f]{8,}\..{4,253}$",
        "the DNS name that the FSx console shows",
        example="fs-0123456789abcdef0.fsx.<region>.<suffix>",
    ),
]


class DataRepositorySection(Section):
    """A directory of the file system that shows a prefix of a bucket."""

    file_system_path: Annotated[str, Field(examples=["/datasets"])]
    """The directory, from the root of the file system and not from the mount point."""
    bucket: _Bucket
    """Which of the deployment's buckets."""
    prefix: str = ""
    """The prefix in the bucket. Default - the whole bucket."""
    import_events: tuple[Annotated[RepositoryEvent, LAX], ...] = tuple(RepositoryEvent)
    """Changes in S3 that show on the file system. Default - all: NEW, CHANGED and DELETED."""
    export_events: tuple[Annotated[RepositoryEvent, LAX], ...] = ()
    """Changes on the file system that are written to S3; with DELETED, rm deletes in S3. Default - none."""
    import_existing: bool = True
    """Whether objects that are there already are listed when the link is made. Default: true."""
    chunk_mib: int | None = None
    """Stripe size of imported files in MiB. Default - 1024, FSx's own."""


class BackupsSection(Section):
    """Automatic daily backups of the file system; FSx deletes them with it."""

    retention_days: int = 7
    """How long a backup is kept, up to 90 days; 0 takes none. Default: 7."""
    hour: int | None = None
    """Start of the backup window, 0 to 23 UTC. Default - FSx chooses."""
    minute: int = 0
    """Minute of the start. Default: 0."""


class MaintenanceSection(Section):
    """When FSx may patch the file system, once a week, in UTC."""

    day: Literal["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"]
    """The day of the week."""
    hour: int
    """The hour, 0 to 23."""
    minute: int = 0
    """The minute. Default: 0."""


class RootSquashSection(Section):
    """Whom the root user of a client is on the file system; exempt the nodes whose scripts make home directories."""

    uid: int
    """User id that root becomes."""
    gid: int
    """Group id that root becomes."""
    no_squash_nids: tuple[str, ...] = ()
    """Clients whose root stays root, as Lustre network ids (10.1.0.[1-20]@tcp). Default - none."""


class LustreSection(Section):
    """A new FSx for Lustre file system."""

    at: MountPath = "/fsx"
    """Where the nodes mount it. Default: /fsx."""
    capacity_gib: int | None = None
    """Storage in GiB; it can grow and never shrink. Default - the smallest of the kind: 1200, or more with EFA."""
    deployment: Annotated[LustreType, LAX] = LustreType.PERSISTENT_2
    """Deployment type; another one is another, empty file system. Default: PERSISTENT_2."""
    storage: Annotated[LustreStorage, LAX] = LustreStorage.SSD
    """Storage class. Default: SSD."""
    throughput_mb_s_per_tib: Annotated[int | None, shown(examples=[125, 250, 500, 1000])] = None
    """Throughput in MB/s for each TiB of storage. Default - 250 for PERSISTENT_2 on SSD; other kinds must say it."""
    throughput_mb_s: int | None = None
    """Throughput in MB/s of the whole file system, for INTELLIGENT_TIERING only. Default - 4000 there."""
    read_cache_gib: int | None = None
    """Read cache of INTELLIGENT_TIERING in GiB; 0 for none. Default - sized by FSx."""
    hdd_read_cache: bool = False
    """Whether HDD storage has an SSD read cache of a fifth of it. Default: false."""
    efa_enabled: bool = False
    """Whether nodes reach it over EFA as well; fixed when it is made. Default: false."""
    metadata_iops: int | None = None
    """Metadata operations of the disks per second; can only grow. Default - FSx decides by capacity."""
    lustre_version: str = "2.15"
    """Version of Lustre. Default: 2.15."""
    compression: Annotated[LustreCompression, LAX] = LustreCompression.LZ4
    """How the servers compress what is written. Default: LZ4."""
    root_squash: RootSquashSection | None = None
    """Whom the clients' root is. Default - root is root."""
    data_repositories: tuple[DataRepositorySection, ...] = ()
    """Up to 8 links to the deployment's buckets. Default - none."""
    backups: BackupsSection | None = None
    """Automatic backups. Default - a week; none for scratch storage and with data_repositories."""
    maintenance: MaintenanceSection | None = None
    """When FSx may patch it. Default - FSx chooses."""
    log_level: Annotated[LustreLogLevel, LAX] = LustreLogLevel.WARN_ERROR
    """Which events of the data repositories are logged. Default: WARN_ERROR."""
    log_retention_days: RetentionDays = 90
    """How long those logs are kept. Default: 90."""
    key_arn: KeyArn | None = None
    """KMS key of a persistent file system. Default - the account's FSx key."""
    removal_policy: Literal["RETAIN", "DESTROY"] | None = None
    """What becomes of it when it leaves the deployment. Default - RETAIN; DESTROY for scratch storage."""


class ExistingLustreSection(Section):
    """An FSx for Lustre file system that exists already."""

    at: MountPath = "/fsx"
    """Where the nodes mount it. Default: /fsx."""
    file_system_id: _FileSystemId
    """Its id."""
    dns_name: _DnsName
    """Its DNS name."""
    mount_name: str
    """Its mount name."""
    security_group_id: SecurityGroupId
    """Its security group, which lets the nodes' security group in."""
    zone: Zone | None = None
    """Its zone. Default - unknown; nothing is checked against it."""
    efa_enabled: bool = False
    """Whether it was made with EFA. Default: false."""


class OpenZfsSection(Section):
    """An FSx for OpenZFS file system that exists already."""

    dns_name: _DnsName
    """Its DNS name."""
    at: Annotated[MountPath, Field(examples=["/home"])] = "/home"
    """Where the nodes mount it. Default: /home."""


class ExistingBucketSection(Section):
    """A bucket that exists already, in the same region; its rules and its policy stay yours."""

    bucket_name: BucketName
    """Its name."""
    key_arn: KeyArn | None = None
    """The KMS key it is encrypted with. Default - S3's own encryption."""


class BucketsSection(Section):
    """The deployment's buckets; those that are not named here are made."""

    scripts: ExistingBucketSection | None = None
    """An existing bucket for lifecycle scripts, which root runs on the nodes. Default - one is made."""
    datasets: ExistingBucketSection | None = None
    """An existing bucket of training data. Default - one is made."""
    checkpoints: ExistingBucketSection | None = None
    """An existing bucket of checkpoints. Default - one is made."""
    models: ExistingBucketSection | None = None
    """An existing bucket of trained models. Default - one is made."""
    access_logs: ExistingBucketSection | None = None
    """An existing bucket for the access logs of those made here. Default - one is made."""
    key_arn: KeyArn | None = None
    """The KMS key of those made here. Default - one is made, rotated every year."""
    checkpoint_days: int | None = None
    """The age at which checkpoints expire that are under runs/ or tagged for it. Default - 30 days."""
    auto_delete: bool = False
    """Whether what is made here goes, with all it holds, when the deployment goes. Default: false."""


AnyLustre = Annotated[LustreSection | ExistingLustreSection, OrExisting("file_system_id")]
"""A new file system, or with ``file_system_id`` one that exists."""


class StorageSection(Section):
    """What the nodes share, and what outlives them."""

    lustre: AnyLustre | None = None
    """The shared file system: a new one, or with file_system_id one that exists. Default - none."""
    open_zfs: OpenZfsSection | None = None
    """An existing OpenZFS file system, for home directories. Default - none."""
    buckets: BucketsSection = BucketsSection()
    """The buckets. Default - all are made, and retained when the deployment goes."""
