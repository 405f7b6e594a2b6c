"""Settings of the whole cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.parallelcluster.queue import SlurmValues
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


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmAccounting:
    """The database of Slurm's accounting: jobs, users, shares. ``of`` takes an ``AccountingDatabase``.

    Attributes:
        endpoint: Host name of a MySQL-compatible database.
        user_name: Its user, who may create the schema.
        password: The user's password and nothing else: plain text, not JSON.
        port: Its port. Default: 3306.
        schema_name: Schema: lower case letters, digits and ``_``. Default - made of the cluster's name.
        connections: The database as something that can be connected to, so that the head node is let in.
            Default - nothing is opened.
    """

    endpoint: str
    user_name: str
    password: secretsmanager.ISecret
    port: int = 3306
    schema_name: str | None = None
    connections: ec2.IConnectable | None = None

    @classmethod
    def of(cls, database: AccountingDatabaseBase) -> "SlurmAccounting":
        """Return a database of the app, or one that ``AccountingDatabase.from_attributes`` took.

        Args:
            database: The database; an imported one needs its ``password_secret``.
        """
        return cls(
            endpoint=database.endpoint,
            user_name=database.user,
            password=database.password_secret,
            port=database.port,
            schema_name=database.schema_name,
            connections=database,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SlurmSettings:
    """Settings of Slurm.

    Attributes:
        update_strategy: What happens to nodes that a change replaces. Default: DRAIN.
        idle_time: How long a node may be idle before it goes. Default - 10 minutes.
        memory_scheduling: Whether Slurm shares out memory too. Default: False.
        scaling: What happens when EC2 has fewer instances than the jobs need. Default - ALL_OR_NOTHING.
        accounting: The accounting database. Default - none.
        custom: Parameters of ``slurm.conf``; each entry is a line. Default - none.
        managed_dns: Whether node names are in a hosted zone of Route 53. Default - where there is a way out to it.
    """

    update_strategy: QueueUpdateStrategy = QueueUpdateStrategy.DRAIN
    idle_time: Duration | None = None
    memory_scheduling: bool = False
    scaling: ScalingStrategy | None = None
    accounting: SlurmAccounting | None = None
    custom: Sequence[SlurmValues] = ()
    managed_dns: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterMonitoring:
    """What a cluster tells about itself.

    Attributes:
        logs: Whether logs go to CloudWatch; cannot be changed. Default: True.
        log_retention_days: How long they are kept, one of the periods of CloudWatch Logs. Default: 180.
        keep_logs: Whether they outlive the cluster. Default: True.
        dashboard: Whether there is a dashboard. Default: True.
        alarms: Whether the head node has alarms. Default: True.
        detailed: Whether instances report every minute, for a price. Default: False.
    """

    logs: bool = True
    log_retention_days: int = 180
    keep_logs: bool = True
    dashboard: bool = True
    alarms: bool = True
    detailed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterIam:
    """Limits of the roles that ParallelCluster makes.

    Attributes:
        permissions_boundary: A policy that bounds them all. Default - none.
        resource_prefix: Path (``/parallelcluster/mine/``), name prefix or both of their names; cannot be changed.
            Default - ``/parallelcluster/``.
        lambda_role: Role of ParallelCluster's clean-up functions. Default - it makes one.
    """

    permissions_boundary: iam.IManagedPolicy | None = None
    resource_prefix: str | None = None
    lambda_role: iam.IRole | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """How long nodes may take to come up.

    Attributes:
        head_node: Until the head node is set up, scripts included; cannot be changed, and CloudFormation waits no
            longer than an hour for all. Default - 35 minutes.
        compute_node: Until a compute node is set up, scripts included. Default - 35 minutes.
    """

    head_node: Duration | None = None
    compute_node: Duration | None = None
