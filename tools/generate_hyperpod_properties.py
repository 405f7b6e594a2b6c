"""Generate the names of a HyperPod cluster's properties from CloudFormation's provider schema, as cfn-lint ships it.

``python -m tools.generate_hyperpod_properties`` rewrites ``cdk_trainyard/hyperpod/data/properties.json``; a test
generates it again and compares. A property has the names of those below it; lists are left out, null is anything. What
only the service itself knows, by botocore's model of it, is there too: CloudFormation learns it some weeks later.
"""

import json
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import botocore
from botocore.session import Session

OUTPUT = Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "hyperpod" / "data" / "properties.json"
_REGION = "us-east-1"
_TYPE = "AWS::SageMaker::Cluster"


def properties() -> dict[str, Any]:
    """Return the names, with where they come from."""
    name = _read("providers", f"{_REGION}.json")[_TYPE]
    schema = _read("resources", f"{name}.json")
    service = Session().get_service_model("sagemaker")
    names = _merged(_names(schema, schema["definitions"]), _members(service.shape_for("CreateClusterRequest")))
    return {
        "source": f"{_TYPE} among CloudFormation's provider schemas of {_REGION}, as cfn-lint {version('cfn-lint')} "
        f"ships it, and CreateCluster in botocore {botocore.__version__}, by tools/generate_hyperpod_properties.py",
        "date": _read("version.json")["schema_date"],
        "properties": names,
    }


def _names(shape: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any] | None:
    if "$ref" in shape:
        return _names(definitions[shape["$ref"].rpartition("/")[2]], definitions)
    if shape.get("type") == "array":
        return _names(shape["items"], definitions)
    known = shape.get("properties")
    return {name: _names(below, definitions) for name, below in sorted(known.items())} if known else None


def _members(shape: Any) -> dict[str, Any] | None:
    if shape.type_name == "list":
        return _members(shape.member)
    return {name: _members(below) for name, below in shape.members.items()} if shape.type_name == "structure" else None


def _merged(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    if not one or not other:
        return one or other
    return {
        name: _merged(one[name], other[name]) if name in one and name in other else one.get(name, other.get(name))
        for name in sorted({*one, *other})
    }


def _read(*path: str) -> Any:
    return json.loads(files("cfnlint.data.schemas").joinpath(*path).read_text(encoding="utf-8"))


def text() -> str:
    """Return the content of the file."""
    return json.dumps(properties(), indent=2) + "\n"


if __name__ == "__main__":
    OUTPUT.write_text(text(), encoding="utf-8")
