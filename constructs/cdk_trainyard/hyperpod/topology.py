"""Where the Slurm topology is written: in the cluster's own configuration, or in a file beside the scripts."""

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import aws_sns as sns

from cdk_trainyard.storage import AccountingDatabaseBase


class SlurmConfigStrategy(StrEnum):
    """Who owns the partitions in ``slurm.conf``."""

    MERGE = "Merge"
    """``slurm.conf`` does: partitions are added, what people wrote stays."""
    MANAGED = "Managed"
    """The template does, and an update fails when somebody has edited ``slurm.conf`` meanwhile."""
    OVERWRITE = "Overwrite"
    """The template does, and an update overwrites what somebody has edited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiTopology:
    """The topology is part of the cluster's configuration, as AWS recommends; it cannot be turned back afterwards.

    Attributes:
        strategy: Who owns the partitions in ``slurm.conf``. Documentation contradicts itself about the service's own
            default, so it is always written. With continuous provisioning the service accepts none (it merges).
            Default - ``MERGE``, or nothing with continuous provisioning.
    """

    strategy: SlurmConfigStrategy | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MultiHead:
    """Several controller nodes, one of them active.

    Attributes:
        database: Accounting database that the controllers share.
        shared_directory: Directory on a shared file system where the controllers keep their state. Default: /fsx.
        topic: Where a change of the active controller is told. Default - nowhere.
    """

    database: AccountingDatabaseBase
    shared_directory: str = "/fsx"
    topic: sns.ITopic | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LegacyTopology:
    """The topology is a file, ``provisioning_parameters.json``, beside the lifecycle scripts of every group.

    It is written from the same groups and mounts. Every group must run scripts, since the file comes with them.

    Attributes:
        multi_head: Several controller nodes, which only this topology knows. Default - one controller.
    """

    multi_head: MultiHead | None = None
