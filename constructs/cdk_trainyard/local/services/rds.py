"""RDS, with one correction: moto loses a subnet group when it is changed."""

from typing import Any

from moto.rds.models import DBSubnetGroup, RDSBackend

from cdk_trainyard.local.services.api import replace

_modify = RDSBackend.modify_db_subnet_group


def _modify_and_keep(backend: RDSBackend, subnet_name: str, *more: Any, **named: Any) -> DBSubnetGroup:
    group = _modify(backend, subnet_name, *more, **named)
    backend.subnet_groups[subnet_name] = group
    return group


def extend() -> None:
    """Correct moto's RDS."""
    replace(RDSBackend, {"modify_db_subnet_group": _modify_and_keep})
