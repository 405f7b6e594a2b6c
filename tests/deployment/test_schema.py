"""The JSON Schema that editors use, and the reference that is made from it."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cdk_trainyard.deployment import Deployment, schema
from tests.deployment.good_file import GOOD, GOOD_PARALLELCLUSTER, GOOD_SERVING, edited
from tests.support import DEPLOYMENTS, ROOT

DATA = Path(__file__).parent / "data"
FILES = [*DEPLOYMENTS, *sorted(DATA.glob("*.yaml"))]


@cache
def made_schema() -> dict[str, Any]:
    """The schema as the specifications make it now."""
    return schema.deployment_schema()


compared: dict[tuple[str, str], bool] = {}
"""Patterns and texts that were held against one another here, and whether they fit."""


def fits(_: Any, pattern: str, text: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    """Compare a text; Python's expressions write letters and blanks of Unicode in another way."""
    found = re.search(pattern.replace(r"\p{L}\p{N}_", r"\w").replace(r"\p{Z}", r"\s"), str(text))
    if not compared.setdefault((pattern, str(text)), found is not None):
        yield jsonschema.ValidationError(f"{text!r} does not match {pattern}")


@cache
def validator() -> jsonschema.Draft202012Validator:
    kind = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": fits})
    return kind(made_schema())


def accepts(text: str) -> bool:
    return bool(validator().is_valid(yaml.safe_load(text)))


@cache
def described_nodes() -> dict[str, dict[str, Any]]:
    return {"the file": made_schema(), **made_schema()["$defs"]}


def described_keys() -> list[tuple[str, str]]:
    return [(name, key) for name, node in described_nodes().items() for key in node.get("properties", {})]


def test_the_committed_schema_is_that_of_the_specifications() -> None:
    """Otherwise: python -m cdk_trainyard.deployment.schema --write."""
    assert schema.SCHEMA_FILE.read_text(encoding="utf-8") == schema.schema_text()


def test_the_schema_is_a_schema() -> None:
    as_patterns_are = jsonschema.FormatChecker(())  # "regex" would be Python's
    jsonschema.Draft202012Validator.check_schema(made_schema(), format_checker=as_patterns_are)


def test_the_schema_is_printed_and_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema.main([])
    assert json.loads(capsys.readouterr().out) == made_schema()
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


def nodes_with_patterns(node: Any) -> Iterator[dict[str, Any]]:
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes_with_patterns(inner)
    if isinstance(node, dict) and isinstance(node.get("pattern"), str):
        yield node


AS_EDITORS_DO = """
const asked = JSON.parse(require('fs').readFileSync(0));
console.log(JSON.stringify(asked.filter(([pattern, text, fits]) => new RegExp(pattern, 'u').test(text) !== fits)));
"""


@pytest.mark.programs
def test_editors_read_patterns_as_check_does(tmp_path: Path) -> None:
    """Expressions are those of ECMA-262 with the flag ``u``, and not Python's."""
    tags = json.dumps({"Kostenträger": "Żółć", "项目": "大規模\u3000学習", "k:+-=._/@ x": ""}, ensure_ascii=False)
    tagged = tmp_path / "tagged.yaml"
    tagged.write_text(edited(("name: demo", f"name: demo\ntags: {tags}")), encoding="utf-8")
    Deployment.load(tagged)
    assert all(accepts(path.read_text(encoding="utf-8")) for path in (*FILES, tagged))
    nodes = [*nodes_with_patterns(made_schema())]
    examples = {(node["pattern"], text): True for node in nodes for text in node.get("examples", ()) if "<" not in text}
    asked = [[*pair, fits] for pair, fits in {**compared, **examples}.items()]
    assert {pattern for pattern, _, _ in asked} == {node["pattern"] for node in nodes}
    done = subprocess.run(
        [os.environ["JSII_NODE"], "-e", AS_EDITORS_DO],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []


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
        ("tensor_parallel: 2", "tensor_parallel: 3"),
        ("batch: 4", "batch: 0"),
        ("preset: llama-3.2-3b", "preset: lama"),
        ("kind: tgi", "kind: tgv"),
        ("inf2.xlarge", "trn1.2xlarge"),
        ("kind: api-key", "kind: password"),
        ("serving:", "orchestrator: hyperpod\nserving:"),
        ("serving:", "cluster: {}\nserving:"),
        ("serving:", "servings:"),
    ],
)
def test_fails_in_the_editor_already_for_what_is_served(old: str, new: str) -> None:
    assert accepts(GOOD_SERVING)
    assert not accepts(edited((old, new), good=GOOD_SERVING))


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


def is_described(name: str, key: str) -> bool:
    """Whether the description of a key is a sentence, and says the default that the key has."""
    node = described_nodes()[name]
    inner = node["properties"][key]
    description = inner["description"]
    if not description[0].isupper() or not description.endswith("."):
        return False
    if key in node.get("required", ()):
        return "Default" not in description
    said = re.search(r"\bDefault(:| -) ([^.]+(\.[^. ]+)*)\.$", description)
    default = inner.get("default")
    value = json.dumps(default) if isinstance(default, bool) else str(default)
    return said is not None and (said[1] != ":" or said[2] == value)


def test_every_key_is_described_and_says_its_default() -> None:
    keys = described_keys()
    assert len(keys) > 400
    assert [key for key in keys if not is_described(*key)] == []


def test_the_reference_is_that_of_the_specifications() -> None:
    """Otherwise: python -m cdk_trainyard.deployment.schema --write."""
    readme = schema.README.read_text(encoding="utf-8")
    assert schema.with_reference(readme) == readme


def test_every_key_is_in_the_reference() -> None:
    readme, nodes = schema.README.read_text(encoding="utf-8"), described_nodes()
    missing = [
        f"{name}.{key}"
        for name, key in described_keys()
        if f"| `{key}`{' (required)' if key in nodes[name].get('required', ()) else ''} |" not in readme
    ]
    assert missing == []
