"""YAML as Prometheus and Alertmanager read it, without a library: mappings and lists in blocks, texts in quotes."""

import json
from collections.abc import Iterator, Mapping, Sequence

from cdk_trainyard.json_value import JsonValue


def yaml_text(value: JsonValue) -> str:
    """Return a value as YAML that reads like what people write.

    Args:
        value: Mappings, lists, texts and numbers. A text may hold Tokens.
    """
    return "\n".join(_lines(value, "")) + "\n"


def _lines(value: JsonValue, margin: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _entry(f"{margin}{key}:", inner, f"{margin}  ")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            first, *others = _lines(inner, f"{margin}  ")
            yield f"{margin}- {first.lstrip()}"
            yield from others
    else:
        yield f"{margin}{_scalar(value)}"


def _entry(key: str, value: JsonValue, margin: str) -> Iterator[str]:
    if isinstance(value, str) and "\n" in value:
        yield f"{key} |"
        yield from (f"{margin}{line}".rstrip() for line in value.splitlines())
    elif isinstance(value, Mapping | Sequence) and not isinstance(value, str) and value:
        yield key
        yield from _lines(value, margin)
    else:
        yield f"{key} {_scalar(value)}"


def _scalar(value: JsonValue) -> str:
    """Return a text in the quotes that need no escapes in it: PromQL has double ones."""
    if isinstance(value, str) and value.isprintable() and ('"' in value or "\\" in value):
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value, ensure_ascii=False)
