"""What can be wrong with logs and accounting. Pure: nothing is created here."""

import re
from pathlib import Path

from cdk_trainyard.lifecycle.node_basics import DatabaseAccounting
from cdk_trainyard.lifecycle.node_setup import NodeSetup
from cdk_trainyard.tokens import unresolved

_SCHEMA = re.compile(r"[A-Za-z0-9_$]{1,64}")
_SECRET = re.compile(r"arn:[a-z-]+:secretsmanager:[a-z0-9-]+:\d{12}:secret:\S+")
_PORTS = range(1, 65536)
_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"


def logs_problems(setup: NodeSetup) -> list[str]:
    """Logs are kept for a while, and not for ever.

    Args:
        setup: The setup.
    """
    wanted = [("days", setup.logs.days), ("size_mb", setup.logs.size_mb)] if setup.logs else []
    return [
        f"'{name}' of LogRotation must be 1 or more, got {value}"
        for name, value in wanted
        if not unresolved(value) and value < 1
    ]


def accounting_problems(setup: NodeSetup) -> list[str]:
    """The accounting database can be found and asked.

    Args:
        setup: The setup.
    """
    accounting = setup.accounting
    if accounting is None:
        return []
    problems: list[str] = []
    if not unresolved(accounting.schema) and not _SCHEMA.fullmatch(accounting.schema):
        problems.append(
            f"'schema' of the accounting must be 1 to 64 letters, digits, '_' and '$', got {accounting.schema!r}"
        )
    if isinstance(accounting, DatabaseAccounting):
        problems += _database_problems(accounting)
    return problems


def _database_problems(accounting: DatabaseAccounting) -> list[str]:
    problems: list[str] = []
    if not unresolved(accounting.secret_arn) and not _SECRET.fullmatch(accounting.secret_arn):
        problems.append(
            f"'secret_arn' must be the ARN of a secret in AWS Secrets Manager, got {accounting.secret_arn!r}"
        )
    if not unresolved(accounting.port) and accounting.port not in _PORTS:
        problems.append(f"'port' of DatabaseAccounting must be 1 to 65535, got {accounting.port}")
    if accounting.authority is not None:
        path = Path(accounting.authority)
        if not path.is_file():
            problems.append(f"'authority' must be an existing file, got '{path}'")
        elif _CERTIFICATE not in path.read_bytes():
            problems.append(f"'authority' must hold certificates (PEM), got '{path}' without one")
    return problems
