"""What can be said of storage: file systems, their links to S3, buckets, the accounting database. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum, nonmember
from typing import TYPE_CHECKING, Annotated, Final

from cdk_trainyard.lifecycle.spec import MYSQL_PORT
from cdk_trainyard.network.spec import BucketName, SecurityGroupId, Zone
from cdk_trainyard.options.arns import WORKSPACE
from cdk_trainyard.options.fields import INLINE, As, InFile, Said, Unit
from cdk_trainyard.options.kinds import Number, Open, Text, resource_id
from cdk_trainyard.options.node_paths import NodePath
from cdk_trainyard.options.stand_ins import DatabaseClass, ImageRepository, Retention, Span
from cdk_trainyard.options.texts import EXACT, LINE
from cdk_trainyard.storage.bucket_purpose import BucketPurpose
from cdk_trainyard.storage.file_system_name import FileSystemName
from cdk_trainyard.storage.lustre_deployment import LustreDeployment
from cdk_trainyard.storage.lustre_facts import MAX_BACKUP_DAYS, METADATA_VERSION

if TYPE_CHECKING:
    from aws_cdk import Duration, RemovalPolicy
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_logs as logs
    from aws_cdk import aws_s3 as s3

MountPath = Annotated[str, NodePath()]
"""Where nodes mount a file system."""
FileSystemId = Annotated[str, resource_id("fs", "a file system of FSx")]
MOST_DAYS: Final = 2**31 - 1
"""What a lifecycle rule of S3 may wait (``Days`` is an integer of XML Schema's ``int``)."""
Hour = Annotated[int, Number(minimum=0, maximum=23)]
Minute = Annotated[int, Number(minimum=0, maximum=59)]
_ANY_CASE: Final = "_".join("".join(f"[{a}{a.upper()}]" for a in word) for word in ("information", "schema"))
NOT_OF_THE_SERVER: Final = rf"(?!(mysql|sys|{_ANY_CASE}|performance_schema|[0-9]+)$)"
"""Schemas of the server's own, and what is no name without quotes, as slurmdbd writes it (MySQL 8.4 Reference Manual,
"Data Dictionary Schema" to "MySQL sys Schema"; "Schema Object Names": "may not consist solely of digits"). Of
them ``INFORMATION_SCHEMA`` alone is no directory, and one in any case ("Using Collation in INFORMATION_SCHEMA
Searches")."""
SchemaName = Annotated[
    str,
    Text(
        pattern=rf"{NOT_OF_THE_SERVER}[a-zA-Z0-9$_]{{1,64}}",
        words="1 to 64 letters, digits, '_' and '$', not digits alone, and no schema of the server's own",
        example="slurm_acct_db",
    ),
]
"""What HyperPod takes (``ClusterAccountingDatabase.Name``); ParallelCluster takes less."""


class DatabaseEngine(StrEnum):
    """The engine of RDS that Slurm's accounting is kept in; Slurm takes either (``accounting``, slurm.schedmd.com)."""

    MYSQL = "mysql"
    MARIADB = "mariadb"


class LustreCompression(StrEnum):
    """How FSx compresses what is written, without the clients noticing."""

    FORMER_VALUES = nonmember({"true": "write LZ4"})

    NONE = "NONE"
    LZ4 = "LZ4"


class LustreLogLevel(StrEnum):
    """Which events of the data repositories go to CloudWatch Logs."""

    DISABLED = "DISABLED"
    WARN_ONLY = "WARN_ONLY"
    ERROR_ONLY = "ERROR_ONLY"
    WARN_ERROR = "WARN_ERROR"


class RepositoryEvent(StrEnum):
    """What happens to a file or an object, and is carried over to the other side."""

    NEW = "NEW"
    CHANGED = "CHANGED"
    DELETED = "DELETED"


class Weekday(IntEnum):
    """A day of the week by FSx's number."""

    MONDAY = 1
    TUESDAY = 2
    WEDNESDAY = 3
    THURSDAY = 4
    FRIDAY = 5
    SATURDAY = 6
    SUNDAY = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceTime:
    """When FSx may patch the file system, once a week, in UTC."""

    day: Weekday
    """The day of the week."""
    hour: Hour
    """The hour, 0 to 23."""
    minute: Minute = 0
    """The minute, 0 to 59. Default: 0."""

    @property
    def text(self) -> str:
        """The time as FSx reads it: ``7:03:00`` is Sunday at three."""
        return f"{self.day.value}:{self.hour:02}:{self.minute:02}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreBackups:
    """Automatic daily backups of a file system. FSx deletes them together with it."""

    retention_days: Annotated[int, Number(minimum=0, maximum=MAX_BACKUP_DAYS)] = 7
    """How long a backup is kept, in days; 0 takes none. Default: 7."""
    hour: Hour | None = None
    """Start of the backup window in UTC, 0 to 23. Default - FSx chooses."""
    minute: Minute = 0
    """Minute of the start, 0 to 59. Default: 0."""

    @property
    def start(self) -> str | None:
        """The start as FSx reads it: ``03:00``; None when FSx chooses."""
        return None if self.hour is None else f"{self.hour:02}:{self.minute:02}"


_KEYS: Final = replace(EXACT, example="tokenized/", shortest=0, longest=None)
_UserId = Annotated[int, Number(minimum=0, maximum=4294967294)]


@dataclass(frozen=True, kw_only=True, slots=True)
class RootSquash:
    """Whom the root user of a client is on the file system.

    Lifecycle scripts run as root and make home directories: exempt the nodes that do by their address.
    """

    uid: _UserId
    """User id that root becomes; 0 with gid 0 switches a root squash off that was on before."""
    gid: _UserId
    """Group id that root becomes."""
    no_squash_nids: Sequence[Annotated[str, Open(rule="root_squash_problems", examples=("10.1.0.[1-20]@tcp",))]] = ()
    """Up to 64 clients whose root stays root, as Lustre network ids: ``10.1.0.6@tcp`` or a range,
    ``10.1.[2-10].[1-255]@tcp``. Default - none."""

    @classmethod
    def disabled(cls) -> "RootSquash":
        """Root stays root: what switches a root squash off that was on before."""
        return cls(uid=0, gid=0)

    @property
    def text(self) -> str:
        """The ids as FSx reads them: ``365534:65534``."""
        return f"{self.uid}:{self.gid}"


@dataclass(frozen=True, kw_only=True, slots=True)
class DataRepository:
    """A directory of the file system that shows a prefix of a bucket.

    Files appear by name at once and are read from S3 when they are first opened.
    """

    file_system_path: Annotated[str, LINE, Open(rule="repository_problems", examples=("/datasets",))]
    """The directory, from the root of the file system and not from the mount point."""
    bucket: "s3.IBucket"
    """The bucket, in the Region of the file system; in a file, one of the deployment's: scripts, datasets, checkpoints
    or models."""
    prefix: Annotated[str, _KEYS, Open(rule="repository_problems", examples=("tokenized/",))] = ""
    """The prefix in the bucket, as S3 has it: it is FSx that reads it, and no line of a file. Default - the whole
    bucket."""
    import_events: Sequence[RepositoryEvent] = tuple(RepositoryEvent)
    """Changes in S3 that show on the file system. Default - all: NEW, CHANGED and DELETED."""
    export_events: Sequence[RepositoryEvent] = ()
    """Changes on the file system that are written to S3; with DELETED, ``rm`` deletes in S3; none to the bucket of
    scripts, which root runs. Default - none."""
    import_existing: bool = True
    """Whether objects that are there already are listed when the link is made. Default: true."""
    chunk_mib: Annotated[int | None, Number(minimum=1, maximum=512000, unit="MiB")] = None
    """Stripe size of imported files in MiB. Default - 1024, FSx's own."""

    @property
    def segments(self) -> tuple[str, ...]:
        """The directories of ``file_system_path``; none for the root."""
        return tuple(segment for segment in self.file_system_path.split("/") if segment)

    @property
    def s3_url(self) -> str:
        """The S3 side as FSx reads it: ``s3://bucket/prefix/``."""
        prefix = self.prefix.strip("/")
        return f"s3://{self.bucket.bucket_name}" + (f"/{prefix}/" if prefix else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreSpec:
    """A new FSx for Lustre file system."""

    deployment: Annotated[LustreDeployment, INLINE] = LustreDeployment()  # noqa: RUF009  a frozen value
    """Deployment type, storage class and throughput; another type is another, empty file system.
    Default - PERSISTENT_2 on SSD at 250 MB/s per TiB."""
    capacity_gib: Annotated[int | None, Number(minimum=1, unit="GiB")] = None
    """Storage in GiB, none for INTELLIGENT_TIERING; it can grow and never shrink. Default - the smallest of the kind:
    1200 of SSD, with EFA 4800 to 38400."""
    efa_enabled: bool = False
    """Whether nodes reach it over EFA as well; fixed when it is made. Default: false."""
    metadata_iops: Annotated[int | None, Number(minimum=1)] = None
    """Metadata operations of the disks per second; can only grow. Default - PERSISTENT_2: FSx decides by
    capacity, INTELLIGENT_TIERING: 6000; other types have no such setting."""
    lustre_version: Annotated[str, Open(rule="version_problems", examples=(METADATA_VERSION,))] = METADATA_VERSION
    """Version of Lustre. PERSISTENT_2 has a metadata configuration with 2.15 only. Default: 2.15."""
    compression: LustreCompression = LustreCompression.LZ4
    """How the servers compress what is written. Default: LZ4."""
    root_squash: RootSquash | None = None
    """Whom the clients' root is; set by a small Lambda function, as CloudFormation cannot. Default - root is root."""
    data_repositories: Sequence[DataRepository] = ()
    """Up to 8 links to S3. Default - none."""
    key: "kms.IKey | None" = None
    """KMS key of a persistent file system. Default - the account's FSx key; scratch file systems have their own."""
    backups: LustreBackups | None = None
    """Automatic daily backups, deleted with the file system. Default - kept for a week; none for scratch file systems
    and with ``data_repositories``."""
    maintenance: MaintenanceTime | None = None
    """When FSx may patch it, once a week. Default - FSx chooses."""
    log_level: LustreLogLevel = LustreLogLevel.WARN_ERROR
    """Which events of the data repositories are logged. Default: WARN_ERROR."""
    log_retention: "logs.RetentionDays" = Retention(90)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """How long those logs are kept. Default: 90."""
    removal_policy: "RemovalPolicy | None" = None
    """What becomes of the file system and its log when they leave the stack. Default - they are retained; scratch file
    systems, which keep nothing for long anyway, are deleted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingLustreSpec:
    """An FSx for Lustre file system that exists already."""

    file_system_id: FileSystemId
    """Its id, as ``fs-0123456789abcdef0``."""
    dns_name: FileSystemName
    """Its DNS name, as the FSx console shows it."""
    mount_name: Annotated[
        str,
        Text(pattern=r"[A-Za-z0-9_-]{1,8}", words="the mount name that the FSx console shows", example="fsxabcde"),
    ]
    """Its mount name, as the FSx console shows it: 1 to 8 letters, digits, ``_`` or ``-``."""
    security_group_id: SecurityGroupId
    """Its security group; it and that of the nodes let one another in."""
    rules_exist: bool = False
    """Whether both groups do so already: EC2 refuses a rule that exists. Otherwise the rules are added.
    Default: false."""
    zone: Zone | None = None
    """Its zone. Default - not known; nothing is checked against it."""
    efa_enabled: bool = False
    """Whether it was made with EFA. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenZfs:
    """A file system on FSx for OpenZFS that exists already."""

    dns_name: FileSystemName
    """Its DNS name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingBucket:
    """A bucket that exists already, in the same Region; its rules and its policy stay yours."""

    bucket_name: BucketName
    """Its name."""
    key: "kms.IKey | None" = None
    """The KMS key it is encrypted with. Default - S3's own encryption."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingLogBucket:
    """A bucket for access logs that exists already, in the same Region; its rules and its policy stay yours."""

    bucket_name: BucketName
    """Its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketSpec:
    """A bucket for one purpose: closed, encrypted, logged, versioned where it matters, aging by rule."""

    purpose: BucketPurpose
    """What it holds; versions and lifecycle rules follow from it."""
    bucket_name: BucketName | None = None
    """Its name, which nobody else in the partition may have; another name is another bucket. Default - CloudFormation
    makes one up."""
    key: "kms.IKey | None" = None
    """The KMS key it is encrypted with. Default - one of its own, rotated every year. ``ACCESS_LOGS`` uses S3's own
    encryption."""
    access_logs: "Annotated[s3.IBucket | None, InFile(ExistingLogBucket)]" = None
    """The bucket that its access log goes to, under the prefix of its purpose. Default - one of its own.
    ``ACCESS_LOGS`` is not logged."""
    expire_after_days: Annotated[int | None, Number(minimum=1, maximum=MOST_DAYS)] = None
    """The age at which objects expire, in days: in ``CHECKPOINTS`` those under ``runs/`` or tagged
    ``trainyard-retention=expire``, in ``ACCESS_LOGS`` all. Default - checkpoints 30 days, access logs 365; other
    purposes keep everything."""
    auto_delete: bool = False
    """Whether the bucket goes with all it holds, and a key made here, when it leaves the stack; otherwise both are
    retained. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketsSpec:
    """The buckets of a training environment; those that are not given are made."""

    scripts: "Annotated[s3.IBucket | None, InFile(ExistingBucket)]" = None
    """An existing bucket of lifecycle scripts, which root runs on the nodes. Default - one is made, and kept unless
    ``auto_delete`` is true."""
    datasets: "Annotated[s3.IBucket | None, InFile(ExistingBucket)]" = None
    """An existing bucket of training data. Default - one is made, and kept unless ``auto_delete`` is true."""
    checkpoints: "Annotated[s3.IBucket | None, InFile(ExistingBucket)]" = None
    """An existing bucket of checkpoints. Default - one is made, and kept unless ``auto_delete`` is true."""
    models: "Annotated[s3.IBucket | None, InFile(ExistingBucket)]" = None
    """An existing bucket of trained models. Default - one is made, and kept unless ``auto_delete`` is true."""
    access_logs: "Annotated[s3.IBucket | None, InFile(ExistingLogBucket)]" = None
    """An existing bucket for the access logs of those made here. Default - one is made, and kept unless ``auto_delete``
    is true."""
    key: "kms.IKey | None" = None
    """KMS key of those made here; with another one later, what was written before cannot be read. Default - one is
    made, rotated every year."""
    checkpoint_days: Annotated[int | None, Number(minimum=1, maximum=MOST_DAYS)] = None
    """The age at which checkpoints expire that are under ``runs/`` or tagged for it, in days. Default - 30 days."""
    auto_delete: bool = False
    """Whether what is made here goes, with all it holds, when the deployment goes; otherwise it is retained.
    Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountingSpec:
    """A new database (RDS for MySQL or MariaDB) for Slurm's accounting; it is kept when the deployment goes."""

    engine: DatabaseEngine = DatabaseEngine.MYSQL
    """The engine of RDS: mysql (8.4) or mariadb (11.4). Another one is another database, empty. Default: mysql."""
    schema_name: SchemaName | None = None
    """Schema of the accounting, 1 to 64 letters, digits, ``_`` and ``$``. Default - ``slurm_acct_db_`` and the
    cluster's unique name, so that clusters can share the database."""
    instance_type: Annotated["ec2.InstanceType", As(DatabaseClass)] = DatabaseClass("t4g.medium")  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """Size of the instance. Default: t4g.medium."""
    storage_gb: Annotated[int, Number(minimum=20, maximum=65536, unit="GB")] = 20
    """Storage to begin with, in GB; it grows up to ``max_storage_gb``. Default: 20."""
    max_storage_gb: Annotated[int, Number(minimum=20, maximum=65536, unit="GB")] = 200
    """Storage to grow to, in GB. Default: 200."""
    multi_az: bool = True
    """Whether a standby runs in a second zone. Default: true."""
    port: Annotated[int, Number(minimum=1150, maximum=65535)] = MYSQL_PORT
    """Port. Default: 3306."""
    require_tls: bool = False
    """Whether connections without TLS are refused. slurmdbd of ParallelCluster uses TLS where it is offered
    (``slurm-accounting-v3`` in its user guide); of HyperPod that is not documented. Default: false."""
    backup_retention: Annotated["Duration", Unit("days")] = Span(35 * 86400)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """How long automatic backups are kept, 1 to 35 days. Default: 35."""
    key: "kms.IKey | None" = None
    """KMS key of storage and secrets. Default - the account's AWS managed keys."""
    deletion_protection: bool = True
    """Whether deleting it needs a second step, once the database stands: a small function switches the protection on
    then, so that a first creation that fails can be taken back. Default: true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGrantsSpec:
    """What nodes may pull and write beside what they need."""

    image_repositories: Annotated[
        "Sequence[Annotated[ecr.IRepository, As(ImageRepository)]]", Said("image_repositories")
    ] = ()
    """Private repositories (ECR) from which nodes pull container images; in a file names, ARNs, or "*" for all of the
    account in its Region. Default - none."""
    prometheus_workspace_arn: Annotated[str | None, replace(WORKSPACE, any_region=True)] = None
    """A workspace of Amazon Managed Service for Prometheus to which jobs may write metrics of their own, beside that of
    the nodes' metrics. Default - none."""
