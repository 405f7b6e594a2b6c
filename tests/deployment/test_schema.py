"""The JSON Schema that editors use, and the reference that is made from it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cdk_trainyard.deployment import schema
from cdk_trainyard.deployment._messages import SENTENCES
from cdk_trainyard.deployment._schema import schema_of
from cdk_trainyard.deployment.model import KINDS
from tests.deployment.good_file import GOOD, GOOD_PARALLELCLUSTER, edited
from tests.support import DEPLOYMENTS, ROOT

DATA = Path(__file__).parent / "data"
FILES = [*DEPLOYMENTS, *sorted(DATA.glob("*.yaml"))]
SCHEMA = schema.deployment_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
NODES = {"the file": SCHEMA, **SCHEMA["$defs"]}
KEYS = [(name, key) for name, node in NODES.items() for key in node.get("properties", {})]


def accepts(text: str) -> bool:
    return bool(VALIDATOR.is_valid(yaml.safe_load(text)))


def test_the_committed_schema_is_the_models() -> None:
    """Otherwise: python -m cdk_trainyard.deployment.schema --write."""
    assert schema.SCHEMA_FILE.read_text(encoding="utf-8") == schema.schema_text()


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_is_printed_and_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema.main([])
    assert json.loads(capsys.readouterr().out) == SCHEMA
    monkeypatch.setattr(schema, "SCHEMA_FILE", tmp_path / "schema.json")
    monkeypatch.setattr(schema, "README", tmp_path / "README.md")
    schema.README.write_text(f"# Title\n{schema.BEGIN}stale text\n{schema.END}The end.\n", encoding="utf-8")
    schema.main(["--write"])
    assert schema.SCHEMA_FILE.read_text(encoding="utf-8") == schema.schema_text()
    readme = schema.README.read_text(encoding="utf-8")
    assert readme.startswith("# Title\n")
    assert readme.endswith("The end.\n")
    assert "stale text" not in readme


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_name_the_schema_and_pass_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert named
    assert (path.parent / named[1]).resolve() == schema.SCHEMA_FILE
    assert accepts(text)


def test_both_systems_ship() -> None:
    assert {path.name for path in DEPLOYMENTS} >= {"hyperpod-cpu-ddp.yaml", "hyperpod-trn1-llama2.yaml"}
    assert json.loads((ROOT / "cdk.json").read_text())["context"]["deployment"] == "deployments/hyperpod-cpu-ddp.yaml"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zone: use1-az4", "zome: use1-az4"),
        ("count: 4", "count: four"),
        ("count: 4", "count: 6759"),
        ("count: 4", "count: 4\n      capacity: Sport"),
        ("ml.trn1.32xlarge", "ml.trn1.33xlarge"),
        ("ml.trn1.32xlarge", "ml.inf2.xlarge"),
        ("workers:", "worker_group:"),
        ("role: compute", "role: worker"),
        ("orchestrator: hyperpod", "orchestrator: eks"),
        ("name: demo", "name: 5"),
        ("name: demo", "name: demo\naccount: 111111111111"),
        ("region: us-east-1\n", ""),
        ("capacity_gib: 1200", "capacity_gib:"),
        ("zone: use1-az4", "vpc_id: vpc-12345678"),
        ("storage:", "storage:\n  buckets: {datasets: my-bucket}"),
    ],
)
def test_fails_in_the_editor_already(old: str, new: str) -> None:
    assert accepts(GOOD)
    assert not accepts(edited((old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("orchestrator: parallelcluster", "orchestrator: hyperpod"),
        ("max_count: 8", "max_cuont: 8"),
        ("alinux2023", "alinux2"),
        ("name: cpu", "name: CPU"),
        ("placement: cluster", "placement: close"),
        ("max_count: 8", "spot_price: cheap"),
        ("queues:", "groups:"),
    ],
)
def test_fails_in_the_editor_already_for_a_parallelcluster(old: str, new: str) -> None:
    assert accepts(GOOD_PARALLELCLUSTER)
    assert not accepts(edited((old, new), good=GOOD_PARALLELCLUSTER))


def test_sections_of_different_kinds_have_different_names() -> None:
    """They are written into one schema, by name."""
    known: dict[str, Any] = {}
    for kind in KINDS.values():
        for name, node in schema_of(kind)["$defs"].items():
            assert known.setdefault(name, node) == node


@pytest.mark.parametrize(("name", "key"), KEYS)
def test_every_key_is_described_and_says_its_default(name: str, key: str) -> None:
    inner = NODES[name]["properties"][key]
    description = inner["description"]
    assert description[0].isupper()
    assert description.endswith(".")
    if key in NODES[name].get("required", ()):
        assert "Default" not in description
        return
    said = re.search(r"\bDefault(:| -) ([^.]+(\.[^. ]+)*)\.$", description)
    assert said, description
    default = inner.get("default")
    if said[1] == ":":
        assert said[2] == (json.dumps(default) if isinstance(default, bool) else str(default))


def test_the_reference_is_the_models() -> None:
    """Otherwise: python -m cdk_trainyard.deployment.schema --write."""
    readme = schema.README.read_text(encoding="utf-8")
    assert schema.with_reference(readme) == readme


def test_every_key_is_in_the_reference() -> None:
    readme = schema.README.read_text(encoding="utf-8")
    missing = [
        f"{name}.{key}"
        for name, key in KEYS
        if f"| `{key}`{' (required)' if key in NODES[name].get('required', ()) else ''} |" not in readme
    ]
    assert missing == []


# ---------------------------------------------------------------- what pydantic can find
FINDINGS = {
    "model": {"model_type"},
    "model-fields": {"missing", "extra_forbidden"},
    "str": {"string_type", "string_unicode"},
    "int": {"int_type"},
    "float": {"float_type"},
    "bool": {"bool_type"},
    "tuple": {"tuple_type"},
    "dict": {"dict_type"},
    "literal": {"literal_error"},
    "enum": {"enum"},
}
BOUNDS = {
    "pattern": "string_pattern_mismatch",
    "min_length": "string_too_short",
    "max_length": "string_too_long",
    "ge": "greater_than_equal",
    "le": "less_than_equal",
}
SILENT = {"default", "nullable", "definitions", "definition-ref", "model-field", "any", "tagged-union"}
"""What refuses nothing itself; the choice between new and existing has always an answer."""


def core_nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        if isinstance(node.get("type"), str):
            yield node
        for inner in node.values():
            yield from core_nodes(inner)
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from core_nodes(inner)


def test_there_is_a_sentence_for_everything_that_can_be_found_and_nothing_else() -> None:
    nodes = [node for kind in KINDS.values() for node in core_nodes(kind.__pydantic_core_schema__)]
    kinds = {node["type"] for node in nodes} - SILENT
    bounds = {
        bound for node in nodes if node["type"] in {"str", "int", "tuple", "dict"} for bound in node.keys() & BOUNDS
    }
    assert kinds <= FINDINGS.keys()
    possible = set().union(*(FINDINGS[kind] for kind in kinds)) | {BOUNDS[bound] for bound in bounds}
    assert possible == SENTENCES.keys()
