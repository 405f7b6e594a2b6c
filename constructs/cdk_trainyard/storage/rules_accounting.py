"""What can be wrong with an accounting database, and how to put it right. Pure: nothing is created here."""

import re

from aws_cdk import Duration

from cdk_trainyard.tokens import unresolved

_ZONES_OF_A_SUBNET_GROUP = 2
_BACKUP_DAYS = range(1, 36)
"""Automatic backups of RDS; 0 would turn them off (RDS ``BackupRetentionPeriod``)."""
_SCHEMA_NAME = re.compile(r"[a-zA-Z0-9$_]{1,64}")
"""What HyperPod takes (``ClusterAccountingDatabase.Name``); ParallelCluster takes less."""


def subnet_zone_problems(zones: list[str]) -> list[str]:
    """A subnet group of RDS spans two zones.

    Args:
        zones: Zones of the network's service subnets.
    """
    if any(unresolved(zone) for zone in zones) or len(set(zones)) >= _ZONES_OF_A_SUBNET_GROUP:
        return []
    found = ", ".join(sorted(set(zones))) or "none"
    rule = f"'network' must have 'service_subnets' in at least {_ZONES_OF_A_SUBNET_GROUP} zones for a database"
    return [f"{rule}, got {found}; give TrainingNetwork 'service_zones'"]


def schema_name_problems(schema_name: str | None) -> list[str]:
    """The schema's name is one that the API accepts.

    Args:
        schema_name: The name, or None.
    """
    if schema_name is None or unresolved(schema_name) or _SCHEMA_NAME.fullmatch(schema_name):
        return []
    return [f"'schema_name' must be 1 to 64 letters, digits, '_' and '$', got {schema_name!r}"]


def retention_problems(retention: Duration) -> list[str]:
    """Automatic backups are on.

    Args:
        retention: How long they are kept.
    """
    if retention.is_unresolved() or retention.to_days(integral=False) in _BACKUP_DAYS:
        return []
    return [f"'backup_retention' must be 1 to 35 days, got {retention.to_human_string()}"]
