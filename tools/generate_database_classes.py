"""Generate the classes of RDS that a database of Slurm's accounting can be of, from cfn-lint's data.

``python -m tools.generate_database_classes`` rewrites ``cdk_trainyard/storage/data/database_classes.json``; a test
generates it again and compares. A class is in it when RDS lets it be ordered with each engine in the version that is
made; which Regions have it is not in it.
"""

import json
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tools import cfn_lint

OUTPUT: Final = (
    Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "storage" / "data" / "database_classes.json"
)
_ENGINES: Final = {"mysql": r"^(8\.4\..+|8\.4)$", "mariadb": r"^(11\.4\..+|11\.4)$"}
"""The versions that ``AccountingDatabase`` makes, as cfn-lint's data has them."""


def classes() -> dict[str, Any]:
    """Return everything."""
    names = set.intersection(*(_orderable(engine, asked) for engine, asked in _ENGINES.items()))
    parts = sorted((name.removeprefix("db.").split(".") for name in names), key=_by_size)
    return {
        "source": f"cfn-lint {version('cfn-lint')}, aws_rds_dbinstance/db_instance_class.json, of mysql 8.4 and "
        "mariadb 11.4, by tools/generate_database_classes.py",
        "families": {family: [size for _, size in sizes] for family, sizes in groupby(parts, key=lambda part: part[0])},
    }


def _by_size(parts: list[str]) -> tuple[str, int, int]:
    family, size = parts
    number = size.removesuffix("xlarge")
    return family, int(number) if number.isdigit() else 0, ("micro", "small", "medium", "large", size).index(size)


def _orderable(engine: str, asked: str) -> set[str]:
    for row in cfn_lint.read("extensions", "aws_rds_dbinstance", "db_instance_class.json")["allOf"]:
        said = row["if"]["properties"]
        if (said["Engine"].get("const"), said["EngineVersion"].get("pattern")) == (engine, asked):
            return set(row["then"]["properties"]["DBInstanceClass"]["enum"])
    raise SystemExit(f"cfn-lint {version('cfn-lint')} no longer has {engine} {asked}; read what it has now")


def dump(value: dict[str, Any]) -> str:
    """Write JSON, a family on a line."""
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(sizes)}" for name, sizes in value["families"].items())
    return f'{{\n "source": {json.dumps(value["source"])},\n "families": {{\n{rows}\n }}\n}}\n'


def main() -> None:
    """Rewrite the committed data."""
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(dump(classes()))


if __name__ == "__main__":
    main()
