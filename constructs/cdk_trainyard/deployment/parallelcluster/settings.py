"""Parts of the ``cluster:`` section with ``orchestrator: parallelcluster`` that concern all nodes."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from cdk_trainyard.deployment._section import (
    LAX,
    KeyArn,
    OrExisting,
    RetentionDays,
    RoleArn,
    SecretArn,
    Section,
    SecurityGroupId,
    TagKey,
    TagValue,
    resource_id,
    shown,
    text,
)
from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.parallelcluster import QueueUpdateStrategy, ScalingStrategy, StorageDeletion, VolumeType

PolicyArn = Annotated[
    str,
    text(
        r"^arn:[a-z-]+:iam::([0-9]{12}|aws):policy/.+$",
        "an ARN, arn:<partition>:iam::<account>:policy/<name>",
        example="arn:<partition>:iam::<account>:policy/<name>",
    ),
]
VolumeId = Annotated[str, resource_id("vol")]
SnapshotId = Annotated[str, resource_id("snap")]
FsxVolumeId = Annotated[str, resource_id("fsvol")]
FileSystemId = Annotated[str, resource_id("fs")]
At = Annotated[str, Field(examples=["/shared"])]
Addresses = Annotated[str, Field(examples=["203.0.113.7/32"])]
ImageId = Annotated[str, Field(examples=["ami-0123456789abcdef0"])]
Minutes = Annotated[int, Field(ge=0)]
Tags = Mapping[TagKey, TagValue]
Raw = Mapping[str, Any]


# ---------------------------------------------------------------- shared directories
class EbsSection(Section):
    """An EBS volume of the head node, shared with all nodes over NFS. Not for training data: one machine serves it."""

    at: At
    """Where it is mounted."""
    name: str | None = None
    """Its name in the cluster: another name is another, empty volume. Default - made of at."""
    size_gib: int | None = None
    """Size in GiB. It cannot be changed later. Default - 40."""
    type: Annotated[VolumeType, LAX] = VolumeType.GP3
    """Type of the volume. Default: gp3."""
    iops: int | None = None
    """Operations per second. Default - EC2's for the type."""
    throughput_mb_s: int | None = None
    """Throughput in MB/s, of gp3. Default - 125."""
    key_arn: KeyArn | None = None
    """KMS key that encrypts it. Default - the account's EBS key."""
    snapshot_id: SnapshotId | None = None
    """Snapshot to begin with. Default - an empty volume."""
    volume_id: VolumeId | None = None
    """A volume that exists, in the head node's zone; then only at and name are given beside it.
    Default - ParallelCluster makes one."""
    raid_volumes: int | None = None
    """Number of volumes to join into one, 2 to 5. Default - one volume."""
    raid_level: int = 0
    """What raid_volumes are: 0 (faster) or 1 (mirrored). Default: 0."""
    deletion: Annotated[StorageDeletion, LAX] = StorageDeletion.RETAIN
    """What becomes of it when it leaves the cluster, or the cluster goes. Default: Retain."""


class EfsSection(Section):
    """An EFS file system: one that exists, or with no file_system_id one that ParallelCluster makes."""

    at: At
    """Where it is mounted."""
    name: str | None = None
    """Its name in the cluster. Default - made of at."""
    file_system_id: FileSystemId | None = None
    """One that exists, with mount targets in the zones of the nodes. Default - ParallelCluster makes one."""
    security_group_id: SecurityGroupId | None = None
    """Security group of one that exists; the nodes are let in. Default - none; one that exists needs it."""
    key_arn: KeyArn | None = None
    """KMS key of one that ParallelCluster makes. Default - the account's EFS key."""
    deletion: Annotated[StorageDeletion, LAX] = StorageDeletion.RETAIN
    """What becomes of one that ParallelCluster makes. Default: Retain."""


class FsxVolumeSection(Section):
    """A volume of FSx that exists. Its security group must let the nodes in."""

    at: At
    """Where it is mounted."""
    volume_id: FsxVolumeId
    """The volume."""
    name: str | None = None
    """Its name in the cluster. Default - made of at."""


class SharedStorageSection(Section):
    """Directories that all nodes share, by kind, beside the Lustre file system of the file's own storage section."""

    ebs: tuple[EbsSection, ...] = ()
    """EBS volumes of the head node. Default - none."""
    efs: tuple[EfsSection, ...] = ()
    """EFS file systems. Default - none."""
    openzfs: tuple[FsxVolumeSection, ...] = ()
    """Volumes of FSx for OpenZFS; TCP and UDP 111, 2049 and 20001 to 20003. Default - none."""
    ontap: tuple[FsxVolumeSection, ...] = ()
    """Volumes of FSx for NetApp ONTAP; TCP and UDP 111, 635, 2049 and 4046. Default - none."""


# ---------------------------------------------------------------- Slurm
class SlurmAccountingSection(Section):
    """A MySQL-compatible database that exists, for Slurm's accounting: jobs, users, shares."""

    endpoint: Annotated[str, Field(examples=["slurm.example.internal"])]
    """Its host name."""
    user_name: str
    """Its user, who may create the schema."""
    password_secret_arn: SecretArn
    """Secret with that user's password and nothing else: plain text, not JSON."""
    security_group_id: SecurityGroupId | None = None
    """The database's security group; the head node is let in. Default - you let it in yourself."""
    port: Annotated[int, Field(ge=1, le=65535)] = 3306
    """Its port. Default: 3306."""
    schema_name: str | None = None
    """Schema: lower case letters, digits and _. Default - made of the cluster's name."""


AnyAccounting = Annotated[AccountingSection | SlurmAccountingSection, OrExisting("endpoint")]
"""A new database, or with ``endpoint`` one that exists."""


class SlurmSection(Section):
    """Settings of Slurm."""

    update_strategy: Annotated[QueueUpdateStrategy, LAX] = QueueUpdateStrategy.DRAIN
    """What happens to nodes that a change of their queue replaces: jobs end first (DRAIN), are cut off (TERMINATE), or
    the change is refused while nodes run (COMPUTE_FLEET_STOP). Default: DRAIN."""
    idle_minutes: Minutes | None = None
    """How long a node may be idle before it goes. Default - 10 minutes."""
    memory_scheduling: bool = False
    """Whether Slurm shares out memory too. Default: false."""
    scaling: Annotated[ScalingStrategy, LAX] | None = None
    """What happens when EC2 has fewer instances than the jobs need. Default - all-or-nothing."""
    accounting: AnyAccounting | None = None
    """The accounting database. Default - none."""
    custom: tuple[Raw, ...] = ()
    """Parameters of slurm.conf; each entry is a line. Default - none."""
    managed_dns: bool | None = None
    """Whether node names are in a hosted zone of Route 53. Default - where there is a way out to it."""


# ---------------------------------------------------------------- the cluster
class MonitoringSection(Section):
    """What a cluster tells about itself."""

    logs: bool = True
    """Whether logs go to CloudWatch; cannot be changed. Default: true."""
    log_retention_days: RetentionDays = 180
    """How long they are kept. Default: 180."""
    keep_logs: bool = True
    """Whether they outlive the cluster. Default: true."""
    dashboard: bool = True
    """Whether there is a dashboard. Default: true."""
    alarms: bool = True
    """Whether the head node has alarms. Default: true."""
    detailed: bool = False
    """Whether instances report every minute, for a price. Default: false."""


class IamSection(Section):
    """Limits of the roles that ParallelCluster makes."""

    permissions_boundary_arn: PolicyArn | None = None
    """A policy that bounds them all. Default - none."""
    resource_prefix: Annotated[str | None, shown(examples=["/parallelcluster/mine/"])] = None
    """Path, name prefix or both of their names; cannot be changed. Default - /parallelcluster/."""
    lambda_role_arn: RoleArn | None = None
    """Role of ParallelCluster's clean-up functions. Default - it makes one."""


class TimeoutsSection(Section):
    """How long nodes may take to come up."""

    head_node_minutes: Minutes | None = None
    """Until the head node is set up, scripts included; less than an hour, and cannot be changed.
    Default - 35 minutes."""
    compute_node_minutes: Minutes | None = None
    """Until a compute node is set up, scripts included. Default - 35 minutes."""


RemovalPolicyName = Literal["RETAIN", "DESTROY"]
