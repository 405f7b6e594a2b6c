"""The JSON Schema of deployment files, which editors complete and check them with.

``python -m cdk_trainyard.deployment.schema`` prints it; ``--write`` renews the committed file and the reference in this
room's README.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.deployment._reference import reference
from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.deployment.orchestrators import OWN
from cdk_trainyard.options.schema import Schemas

SCHEMA_FILE: Final = Path(__file__).with_name("deployment.schema.json")
"""The committed schema."""
README: Final = Path(__file__).with_name("README.md")
"""Holds the reference, between two marks."""
BEGIN: Final = "<!-- reference, made by python -m cdk_trainyard.deployment.schema --write: begin -->\n"
END: Final = "<!-- reference: end -->\n"


def deployment_schema() -> dict[str, Any]:
    """Return the JSON Schema of deployment files: what they share, and a ``cluster`` that depends."""
    schemas = Schemas()
    whole = schemas.of(Deployment)
    clusters = {name: schemas.refer(row.spec) for name, row in OWN.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "$defs": dict(sorted(schemas.definitions.items())),
        "anyOf": [{"required": ["orchestrator", "cluster"]}, {"required": ["serving"]}],
        "dependentRequired": {"orchestrator": ["cluster"], "cluster": ["orchestrator"]},
        "allOf": [
            {
                "if": {"properties": {"orchestrator": {"const": name}}, "required": ["orchestrator"]},
                "then": {"properties": {"cluster": cluster}},
            }
            for name, cluster in clusters.items()
        ],
    }


def schema_text() -> str:
    """Return the schema as it is committed."""
    return json.dumps(deployment_schema(), indent=2, ensure_ascii=False) + "\n"


def with_reference(readme: str) -> str:
    """Return a README with its reference renewed."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{reference(deployment_schema())}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the schema, or write what is made from it."""
    parser = argparse.ArgumentParser(prog="python -m cdk_trainyard.deployment.schema", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew deployment.schema.json and the reference")
    if not parser.parse_args(arguments).write:
        sys.stdout.write(schema_text())
        return
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    README.write_text(with_reference(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
