"""Generate what a HyperPod cluster's properties are from CloudFormation's provider schema, as cfn-lint ships it.

``python -m tools.generate_hyperpod_properties`` rewrites ``cdk_trainyard/hyperpod/data/properties.json``; a test
generates it again and compares. A property has its type and bounds, as JSON Schema writes them, without references.
What only the service itself knows, CloudFormation refuses: it learns it some weeks later.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools import cfn_lint

OUTPUT = Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "hyperpod" / "data" / "properties.json"
_REGION = "us-east-1"
_TYPE = "AWS::SageMaker::Cluster"
_KEPT = (
    *("type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "required"),
)


def properties() -> dict[str, Any]:
    """Return the properties, with where they come from."""
    schema = cfn_lint.resource_schema(_TYPE, _REGION)
    shape = _shape(schema, schema["definitions"])
    return {
        "source": f"{_TYPE} among CloudFormation's provider schemas of {_REGION}, as cfn-lint {version('cfn-lint')} "
        f"ships it, by tools/generate_hyperpod_properties.py",
        "date": cfn_lint.read("version.json")["schema_date"],
        "properties": shape["properties"],
    }


def _shape(shape: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in shape:
        return _shape(definitions[shape["$ref"].rpartition("/")[2]], definitions)
    if "oneOf" in shape:
        below = [_shape(each, definitions).get("properties", {}) for each in shape["oneOf"]]
        return {"type": "object", "properties": {name: each[name] for each in below for name in sorted(each)}}
    found = {name: shape[name] for name in _KEPT if name in shape}
    if "\\p{" in found.get("pattern", ""):
        del found["pattern"]  # a class of Unicode, which Python's expressions do not have
    if "items" in shape:
        found["items"] = _shape(shape["items"], definitions)
    if known := shape.get("properties"):
        found["properties"] = {name: _shape(below, definitions) for name, below in sorted(known.items())}
    return found


def text() -> str:
    """Return the content of the file."""
    return json.dumps(properties(), indent=2) + "\n"


if __name__ == "__main__":
    OUTPUT.write_text(text(), encoding="utf-8")
