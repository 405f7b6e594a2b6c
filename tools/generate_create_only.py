"""Generate which properties of a resource cannot change, from CloudFormation's provider schemas as cfn-lint ships them.

``python -m tools.generate_create_only`` rewrites ``cdk_trainyard/report/data/create_only.json``; a test generates it
again and compares. A change of a create-only property replaces the resource; one of a conditional one may. Where the
one property that identifies a resource may be given or left out, it is the resource's name.
"""

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools import cfn_lint

OUTPUT = Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "report" / "data" / "create_only.json"
_REGION = "us-east-1"
_LISTS = {"always": "createOnlyProperties", "maybe": "conditionalCreateOnlyProperties"}


def create_only() -> dict[str, Any]:
    """Return type to its properties, with where they come from."""
    return {
        "source": f"CloudFormation's provider schemas of {_REGION}, as cfn-lint {version('cfn-lint')} ships them, by "
        "tools/generate_create_only.py",
        "date": cfn_lint.read("version.json")["schema_date"],
        "types": dict(_types()),
    }


def _types() -> Iterator[tuple[str, dict[str, list[str]]]]:
    for kind, name in sorted(cfn_lint.read("providers", f"{_REGION}.json").items()):
        schema = cfn_lint.read("resources", f"{name}.json")
        found = {
            key: sorted(
                path.removeprefix("/properties/").replace("/properties/", "/") for path in schema.get(listed, [])
            )
            for key, listed in _LISTS.items()
        }
        found["name"] = _name(schema)
        if any(found.values()):
            yield kind, {key: paths for key, paths in found.items() if paths}


def _name(schema: dict[str, Any]) -> list[str]:
    """Return the property that alone identifies a resource, cannot change, and may be left out."""
    paths = schema.get("primaryIdentifier", [])
    can_be_given = {*schema.get("createOnlyProperties", [])} - {*schema.get("readOnlyProperties", [])}
    names = [path.removeprefix("/properties/") for path in paths if len(paths) == 1 and path in can_be_given]
    return [name for name in names if name in {*schema["properties"]} - {*schema.get("required", [])}]


def text() -> str:
    """Return the file's content: a line for each type."""
    content = create_only()
    types = content.pop("types")
    head = json.dumps(content, indent=2).removesuffix("\n}")
    lines = ",\n".join(f"    {json.dumps(kind)}: {json.dumps(each)}" for kind, each in types.items())
    return f'{head},\n  "types": {{\n{lines}\n  }}\n}}\n'


if __name__ == "__main__":
    OUTPUT.write_text(text())
