"""A database of the deployment's own for Slurm's accounting, whatever runs the jobs."""

from typing import Annotated

from pydantic import Field

from cdk_trainyard.deployment._section import KeyArn, Section


class AccountingSection(Section):
    """A new database (RDS for MySQL) for Slurm's accounting; it is kept when the deployment goes."""

    schema_name: str | None = None
    """Schema of the accounting. Default - named after the cluster."""
    instance_type: Annotated[str, Field(examples=["t4g.medium"])] = "t4g.medium"
    """Size of the instance. Default: t4g.medium."""
    storage_gb: Annotated[int, Field(ge=20, le=65536)] = 20
    """Storage to begin with, in GB. Default: 20."""
    max_storage_gb: Annotated[int, Field(ge=20, le=65536)] = 200
    """Storage to grow to, in GB. Default: 200."""
    multi_az: bool = True
    """Whether a standby runs in a second zone. Default: true."""
    backup_retention_days: int = 35
    """How long automatic backups are kept. Default: 35."""
    key_arn: KeyArn | None = None
    """KMS key of storage and secrets. Default - the account's AWS managed keys."""
    deletion_protection: bool = True
    """Whether deleting it needs a second step. Default: true."""
