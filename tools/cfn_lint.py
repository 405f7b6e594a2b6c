"""Read what cfn-lint ships: CloudFormation's provider schemas, and AWS's lists of values beside them.

The package is found and not imported: that takes most of a second, and files are all that is read.
"""

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

SCHEMAS: Final = Path(str(distribution("cfn-lint").locate_file("cfnlint"))) / "data" / "schemas"
"""The folder of the schemas, which the other functions read."""


def read(*path: str) -> Any:
    """Return the content of a file of the schemas.

    Args:
        path: Its folders and its name, as ``extensions``, ``aws_rds_dbinstance``, ``engine.json``.
    """
    return json.loads(SCHEMAS.joinpath(*path).read_text(encoding="utf-8"))


def resource_schema(kind: str, region: str = "us-east-1") -> Any:
    """Return the provider schema of a resource type in a Region.

    Args:
        kind: The type, as ``AWS::S3::Bucket``.
        region: The Region.

    Raises:
        KeyError: The Region does not have it.
    """
    return read("resources", f"{read('providers', f'{region}.json')[kind]}.json")
