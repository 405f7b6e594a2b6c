"""What nodes keep of logs, and where Slurm keeps its accounting."""

from dataclasses import dataclass
from pathlib import Path

AUTHORITY_FILE = "accounting-ca.pem"
"""Name of the certificates of an accounting database in the folder that nodes download."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogRotation:
    """How long logs stay on a node. HyperPod ships the provisioning log to CloudWatch, and no other.

    Attributes:
        days: How many days are kept. Default: 14.
        size_mb: A log of more MB is rotated before its day is over. Default: 200.
    """

    days: int = 14
    size_mb: int = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalAccounting:
    """Slurm's accounting in a MariaDB on the controller; its password is made there and never leaves it.

    The history is as lasting as the controller's root volume: a software update of the cluster wipes it.

    Attributes:
        schema: Name of the schema. Default: slurm_acct_db.
    """

    schema: str = "slurm_acct_db"


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseAccounting:
    """Slurm's accounting in a MySQL-compatible database; the controller reads its password with the nodes' role.

    ``HyperPodCluster`` fills it in from its ``accounting``. With one of your own, let the nodes' role read the secret
    and the nodes reach the database.

    Attributes:
        endpoint: Its host name.
        secret_arn: ARN of the secret with ``username`` and ``password``.
        port: Its port. Default: 3306.
        schema: Name of the schema, which the user must be allowed to create. Default: slurm_acct_db.
        authority: File of certificates that the database's own is checked against, as the Region's bundle of RDS.
            Default - slurmdbd speaks with the database as its client library does: without a check.
    """

    endpoint: str
    secret_arn: str
    port: int = 3306
    schema: str = "slurm_acct_db"
    authority: str | Path | None = None


Accounting = LocalAccounting | DatabaseAccounting
"""Where Slurm keeps its accounting."""
