#!/usr/bin/env python3
"""Print slurmdbd.conf. The password goes nowhere else.

Standard input holds the JSON of a secret, with ``username`` and ``password``; when it is empty, a password is made up.
Written for the Python of the nodes (3.8 and newer), without any dependency.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import sys

_EX_DATAERR = 65
_FINE = re.compile(r"[^\s\"#\\]+")  # Slurm has no way to write the others


def render(chosen: argparse.Namespace, secret: dict[str, str]) -> str:
    """Return the file."""
    fields = {
        "AuthType": "auth/munge",
        "DbdHost": chosen.host,
        "DbdAddr": chosen.address,
        "SlurmUser": chosen.slurm_user,
        "LogFile": "/var/log/slurm/slurmdbd.log",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": chosen.database,
        "StoragePort": chosen.port,
        "StorageLoc": chosen.schema,
        "StorageUser": secret["username"],
        "StoragePass": secret["password"],
        **({"StorageParameters": f"SSL_CA={chosen.authority}"} if chosen.authority else {}),
    }
    return "".join(f"{name}={value}\n" for name, value in fields.items())


def main(arguments: list[str]) -> int:
    """Print the file; what is wrong with the secret is said without it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("host", "address", "slurm-user", "database", "port", "schema"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--authority", default="", help="certificates that the database's own is checked against")
    chosen = parser.parse_args(arguments)
    try:
        given = sys.stdin.read().strip()
        secret = json.loads(given) if given else {"username": "slurm", "password": secrets.token_urlsafe(30)}
        wrong = [name for name in ("username", "password") if not _FINE.fullmatch(str(secret[name]))]
    except (ValueError, KeyError, TypeError):
        sys.stderr.write("the secret must be JSON with 'username' and 'password'\n")
        return _EX_DATAERR
    if wrong:
        sys.stderr.write(f"the {wrong[0]} of the secret must be without spaces, quotes, '#' and backslashes\n")
        return _EX_DATAERR
    sys.stdout.write(render(chosen, secret))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
