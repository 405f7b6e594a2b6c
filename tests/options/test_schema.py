"""The JSON Schema of a specification accepts what the reader accepts."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.reading import Reader
from cdk_trainyard.options.schema import Schemas
from tests.options.example_spec import Cluster


def schema() -> dict[str, Any]:
    schemas = Schemas()
    return {**schemas.of(Cluster), "$defs": schemas.definitions}


SCHEMA = schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
VALUES = st.sampled_from(
    [
        0,
        90,
        4,
        101,
        -1,
        1.5,
        "compute",
        "Spot",
        "MONDAY",
        "abc",
        "A",
        True,
        {},
        [],
        [{}],
        {"a": "b"},
        {"size_gb": 1},
        [{"size_gb": 1}],
        ["MONDAY"],
        {"store_id": "a"},
    ]
)
GROUP = st.fixed_dictionaries(
    {"job": st.sampled_from(["compute", "x"]), "count": st.sampled_from([1, 101, "1"])},
    optional=dict.fromkeys(("volumes", "cooldown_minutes", "capacity", "price", "size", "key_arn"), VALUES),
)
CLUSTER = st.fixed_dictionaries(
    {"groups": st.one_of(VALUES, st.dictionaries(st.sampled_from(["abc", "A"]), GROUP, max_size=2))},
    optional=dict.fromkeys(("store", "tags", "logs_days", "raw_overrides", "other"), VALUES),
)


def as_read(value: Any) -> Any:
    """YAML's lists are read as tuples."""
    if isinstance(value, dict):
        return {key: as_read(inner) for key, inner in value.items()}
    return tuple(map(as_read, value)) if isinstance(value, list) else value


@given(CLUSTER)
def test_schema_and_reader_agree(data: dict[str, Any]) -> None:
    reader = Reader(environment=Environment())
    reader.read(Cluster, as_read(data), ())
    assert VALIDATOR.is_valid(data) is (reader.problems == [])


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_options_say_what_stands_below_them() -> None:
    assert SCHEMA["properties"]["groups"]["description"] == "Its groups."
    assert SCHEMA["description"] == "A cluster, with"


@pytest.mark.parametrize(
    ("definition", "key", "default"),
    [
        ("Volume", "root", False),
        ("NewStore", "days", ["MONDAY"]),
        ("Group", "volumes", None),
        ("Volume", "size_gb", None),
    ],
)
def test_plain_defaults_are_said(definition: str, key: str, default: object) -> None:
    assert SCHEMA["$defs"][definition]["properties"][key].get("default") == default
