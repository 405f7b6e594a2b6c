"""ParallelCluster's schema: ``schema.json``, JSON Schema from its package by ``tools/contract/extract_schema.py``.

Each key has its update policy beside it (``x-update``), and each list of sections what identifies an entry
(``x-update-key``). Version and date stand in the file; nothing in it is typed by hand.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Schema = Mapping[str, Any]
_TRUE, _FALSE = {"true", "t", "yes", "y", "on", "1"}, {"false", "f", "no", "n", "off", "0"}
_TRUTH = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)
_READERS: Mapping[str, Callable[[str], object]] = {
    "integer": int,
    "number": float,
    "boolean": lambda text: _TRUTH[text.lower()],
}


@cache
def schema() -> Schema:
    """Return the JSON Schema of a configuration."""
    found: Schema = json.loads(files(__package__).joinpath("schema.json").read_text(encoding="utf-8"))
    return found


def schema_problems(config: Mapping[str, Any]) -> list[str]:
    """Return where a configuration is not one of ParallelCluster's: keys, types and values.

    Args:
        config: The configuration, as CloudFormation hands it to the provider.
    """
    errors = _validator().iter_errors(_read(config, schema()))
    return [f"{'.'.join(map(str, one.absolute_path)) or 'the configuration'}: {_words(one)}" for one in errors]


def _words(error: Any) -> str:
    """Return ParallelCluster's own words, where its schema has some."""
    return str(error.schema.get("description") or error.message)


def _read(value: Any, node: Schema) -> Any:
    """Return a value as ParallelCluster reads it; CloudFormation has turned numbers and truth into text."""
    if isinstance(value, Mapping):
        keys = node.get("properties", {})
        return {key: _read(inner, keys.get(key, {})) for key, inner in value.items()}
    if isinstance(value, list):
        return [_read(item, node.get("items", {})) for item in value]
    try:
        return _READERS[node["type"]](value) if isinstance(value, str) else value
    except (KeyError, ValueError):
        return value


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator, ValidationError, validators  # noqa: PLC0415  for who has a cluster

    def unique(_: Any, key: str, rows: Any, __: Schema) -> Iterator[ValidationError]:
        found = [row.get(key) for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
        for name in sorted({str(name) for name in found if found.count(name) > 1}):
            yield ValidationError(f"Duplicate {key} ({name}) detected.")

    judge = validators.extend(Draft202012Validator, {"x-unique": unique})  # type: ignore[no-untyped-call]
    return judge(schema())
