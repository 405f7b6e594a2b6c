"""Where `facts.json` comes from: CloudFormation's provider schemas, as cfn-lint ships them.

``python tests/local/provider_schemas.py`` writes the file again; a test compares it with what is installed.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cdk_trainyard.local
from cdk_trainyard.local import supported_types
from tools import cfn_lint

FACTS = Path(cdk_trainyard.local.__file__).parent / "resources" / "facts.json"
_REGION = "us-east-1"
_OPEN_TYPES = frozenset({"AWS::CloudFormation::CustomResource"})


def _paths(schema: dict[str, Any], key: str) -> list[str]:
    return sorted(path.removeprefix("/properties/") for path in schema.get(key) or [])


def _facts(schema: dict[str, Any]) -> dict[str, Any]:
    read_only = _paths(schema, "readOnlyProperties")
    settable = sorted(set(schema.get("properties", {})) - set(read_only))
    rows = {
        "properties": settable,
        "required": sorted(schema.get("required") or []),
        "create_only": _paths(schema, "createOnlyProperties"),
        "read_only": [path for path in read_only if "*" not in path],
    }
    return {key: value for key, value in rows.items() if value or key == "properties"}


def extract() -> dict[str, Any]:
    """Return the facts of every supported type."""
    return {
        "source": f"CloudFormation provider schemas of {_REGION}, as shipped by cfn-lint {version('cfn-lint')}",
        "date": cfn_lint.read("version.json")["schema_date"],
        "types": {
            name: _facts(cfn_lint.resource_schema(name, _REGION)) for name in sorted(supported_types() - _OPEN_TYPES)
        },
    }


def text() -> str:
    """Return the content of the file."""
    facts = extract()
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in facts["types"].items())
    head = "".join(f"  {json.dumps(key)}: {json.dumps(facts[key])},\n" for key in ("source", "date"))
    return f'{{\n{head}  "types": {{\n{rows}\n  }}\n}}\n'


if __name__ == "__main__":
    FACTS.write_text(text(), encoding="utf-8")
