"""What can be said of a ParallelCluster: a specification without CDK."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.lifecycle.spec import DatabaseServer
from cdk_trainyard.options.fields import Said, Unit, Unless
from cdk_trainyard.options.kinds import Choice, Open, Text
from cdk_trainyard.options.stand_ins import Removal
from cdk_trainyard.options.tags import Tags
from cdk_trainyard.options.texts import DATABASE_USER
from cdk_trainyard.parallelcluster.facts import parallelcluster_version
from cdk_trainyard.parallelcluster.spec_nodes import (
    HeadNode,
    ImageId,
    LoginPool,
    RawOverrides,
    SlurmParameters,
)
from cdk_trainyard.parallelcluster.spec_queues import Queue
from cdk_trainyard.parallelcluster.spec_storage import SharedStorage
from cdk_trainyard.storage.spec import NOT_OF_THE_SERVER, AccountingSpec

if TYPE_CHECKING:
    from aws_cdk import Duration, RemovalPolicy
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_secretsmanager as secretsmanager

    from cdk_trainyard.storage import AccountingDatabaseBase


class OperatingSystem(StrEnum):
    """Operating systems of the nodes. Rocky Linux needs an image of yours."""

    ALINUX2023 = "alinux2023"
    UBUNTU2204 = "ubuntu2204"
    UBUNTU2404 = "ubuntu2404"
    RHEL8 = "rhel8"
    RHEL9 = "rhel9"
    ROCKY8 = "rocky8"
    ROCKY9 = "rocky9"


class QueueUpdateStrategy(StrEnum):
    """What happens to nodes that a change of their queue replaces."""

    DRAIN = "DRAIN"
    """Jobs end first."""
    TERMINATE = "TERMINATE"
    """Jobs are cut off and queued again."""
    COMPUTE_FLEET_STOP = "COMPUTE_FLEET_STOP"
    """The change is refused while nodes run. CloudFormation cannot stop them, so this makes most changes impossible."""


class ScalingStrategy(StrEnum):
    """What happens when EC2 has fewer instances than the jobs need."""

    ALL_OR_NOTHING = "all-or-nothing"
    GREEDY_ALL_OR_NOTHING = "greedy-all-or-nothing"
    BEST_EFFORT = "best-effort"


_SchemaName = Annotated[
    str,
    Text(
        pattern=rf"{NOT_OF_THE_SERVER}[0-9a-z_]+",
        words="lower case letters, digits and '_', not digits alone, and no schema of the server's own",
        example="jobs",
        longest=64,
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class NewAccounting(AccountingSpec):
    """A new database (RDS for MySQL or MariaDB) for Slurm's accounting; it is kept when the deployment goes."""

    schema_name: _SchemaName | None = None
    """Schema: lower case letters, digits and ``_``. Default - made of the cluster's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmAccounting(DatabaseServer):
    """A MySQL-compatible database that exists, for Slurm's accounting: jobs, users, shares."""

    user_name: Annotated[str, DATABASE_USER]
    """Its user, who may create the schema."""
    password_secret: "secretsmanager.ISecret"
    """Secret with that user's password and nothing else: plain text, not JSON. Where a KMS key of your own encrypts it
    and a file names it, one of the ``policies`` of ``head_node`` must let that decrypt with it."""
    security_group: "ec2.ISecurityGroup | None" = None
    """The database's security group; the head node is let in. Default - you let it in yourself."""
    schema_name: _SchemaName | None = None
    """Schema: lower case letters, digits and ``_``. Default - made of the cluster's name."""

    @classmethod
    def of(cls, database: "AccountingDatabaseBase") -> "SlurmAccounting":
        """Return a database of the app, or one that ``AccountingDatabase.from_attributes`` took.

        Args:
            database: The database; an imported one needs its ``password_secret``.
        """
        return cls(
            endpoint=database.endpoint,
            user_name=database.user,
            password_secret=database.password_secret,
            port=database.port,
            schema_name=database.schema_name,
            security_group=None if database.rules_exist else database.connections.security_groups[0],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmSettings:
    """Settings of Slurm."""

    update_strategy: QueueUpdateStrategy = QueueUpdateStrategy.DRAIN
    """What happens to nodes that a change of their queue replaces: jobs end first (DRAIN), are cut off (TERMINATE), or
    the change is refused while nodes run (COMPUTE_FLEET_STOP). Default: DRAIN."""
    idle_time: Annotated["Duration | None", Unit("minutes"), Said("idle_minutes")] = None
    """How long a node may be idle before it goes, in minutes; for ever is ``ScaledownIdletime: -1`` of
    ``SlurmSettings`` in ``raw_overrides``. Default - 10 minutes."""
    memory_scheduling: bool = False
    """Whether Slurm shares out memory too. Default: false."""
    scaling: ScalingStrategy | None = None
    """What happens when EC2 has fewer instances than the jobs need. Default - all-or-nothing."""
    accounting: Annotated[NewAccounting | SlurmAccounting | None, Unless("endpoint")] = None
    """The accounting database: in a file a new one, or with ``endpoint`` one that exists. Default - none."""
    custom: Sequence[SlurmParameters] = ()
    """Parameters of slurm.conf; each entry is a line. Default - none."""
    managed_dns: bool | None = None
    """Whether node names are in a hosted zone of Route 53.
    Default - where the head node has a route to the internet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParallelClusterMonitoring:
    """What a cluster tells about itself."""

    logs: bool = True
    """Whether logs go to CloudWatch; cannot be changed. Default: true."""
    log_retention_days: Annotated[
        int | None, Choice(values=(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653))
    ] = None
    """How long they are kept, in days. Default - 180."""
    keep_logs: bool | None = None
    """Whether they outlive the cluster. Default - true."""
    dashboard: bool = True
    """Whether there is a dashboard. Default: true."""
    alarms: bool = True
    """Whether the head node has alarms. Default: true."""
    detailed: bool = False
    """Whether instances report every minute, for a price. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterIam:
    """Limits of the roles that ParallelCluster makes."""

    permissions_boundary: "iam.IManagedPolicy | None" = None
    """A policy that bounds them all. Default - none."""
    resource_prefix: Annotated[
        str | None, Open(rule="resource_prefix_problems", examples=("/parallelcluster/mine/",))
    ] = None
    """Path, name prefix or both of their names; cannot be changed. Default - ``/parallelcluster/``."""
    lambda_role: "iam.IRole | None" = None
    """Role of ParallelCluster's clean-up functions. Default - it makes one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """How long nodes may take to come up."""

    head_node: Annotated["Duration | None", Unit("minutes")] = None
    """Until the head node is set up, scripts included, in minutes; less than an hour, which CloudFormation waits for
    all, and cannot be changed. Default - 35 minutes."""
    compute_node: Annotated["Duration | None", Unit("minutes")] = None
    """Until a compute node is set up, scripts included, in minutes. Default - 35 minutes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParallelClusterSpec:
    """A cluster of AWS ParallelCluster: Slurm, a head node, and queues of nodes that come and go."""

    head_node: HeadNode
    """The head node."""
    queues: Sequence[Queue]
    """The queues, one to 50."""
    login_pools: Sequence[LoginPool] = ()
    """Login nodes. Default - none; users log in to the head node."""
    shared_storage: SharedStorage = SharedStorage()  # noqa: RUF009  a frozen value
    """Shared directories beside the file systems that are mounted. Default - ``/home`` of the head node alone, over
    NFS."""
    operating_system: Annotated[
        str, Open(rule="operating_system_problems", keywords={"enum": [system.value for system in OperatingSystem]})
    ] = OperatingSystem.ALINUX2023
    """Operating system of every node; Rocky Linux needs an image of yours. Default: alinux2023."""
    image_id: ImageId | None = None
    """An image of yours that ParallelCluster built, for every node; cannot be changed. Default - ParallelCluster's,
    which is the same for ever for a version."""
    cluster_name: Annotated[str | None, Open(rule="cluster_name_problems", examples=("train",))] = None
    """Its name, at most 60 characters (40 with accounting); another name is another cluster. Default - a unique name
    made of stack and construct path."""
    version: Annotated[
        str | None,
        Text(pattern=r"3\.[0-9]+\.[0-9]+", words="ParallelCluster's version 3", example=parallelcluster_version()),
    ] = None
    """Version of ParallelCluster; never changed, a new version is a new cluster. Default - the provider's, or the one
    whose rules are checked here."""
    slurm: SlurmSettings = SlurmSettings()
    """Settings of Slurm. Default - as each says."""
    monitoring: ParallelClusterMonitoring = ParallelClusterMonitoring()
    """What it tells about itself. Default - as each says."""
    iam: ClusterIam = ClusterIam()
    """Limits of the roles that ParallelCluster makes. Default - none."""
    timeouts: Timeouts = Timeouts()
    """How long nodes may take to come up. Default - as each says."""
    tags: Tags | None = None
    """Tags of everything that ParallelCluster makes, beside those of the stack. Default - none."""
    suppress_validators: Sequence[
        Annotated[str, Open(rule="suppressed_validator_problems", examples=("type:HeadNodeMemorySizeValidator",))]
    ] = ()
    """Checks of ParallelCluster to leave out when it makes the cluster, as ``type:HeadNodeMemorySizeValidator``, or
    ``ALL``. Default - none."""
    removal_policy: "RemovalPolicy" = Removal("DESTROY")  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """What becomes of the cluster when it leaves the stack; its nodes keep nothing that should outlive them, and cost
    by the hour. Default: DESTROY."""
    raw_overrides: RawOverrides | None = None
    """Keys of ParallelCluster's configuration that have no option here; checked against its schema, they add to what
    options say, and change none of it. Default - none."""
