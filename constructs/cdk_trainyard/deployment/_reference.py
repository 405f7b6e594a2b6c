"""The reference of the deployment file as Markdown, made from its JSON Schema."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]
_TYPES: Final = {"string": "text", "integer": "whole number", "boolean": "`true` or `false`", "object": "mapping"}


def reference(schema: Schema) -> str:
    """Return one table for each section, in the order in which a reader meets them.

    Args:
        schema: The JSON Schema of the deployment file.
    """
    return "\n".join(_tables(schema))


def _tables(schema: Schema) -> Iterator[str]:
    waiting: list[tuple[str, Schema]] = [("", schema)]
    seen: set[str] = set()
    while waiting:
        path, node = waiting.pop(0)
        if path:
            yield f"### `{path}`\n\n{node.get('description', '')}\n"
        below: list[tuple[str, Schema]] = []
        yield "| key | value | meaning |\n|---|---|---|"
        for key, inner in node.get("properties", {}).items():
            mark = " (required)" if key in node.get("required", ()) else ""
            yield f"| `{key}`{mark} | {_value(schema, inner)} | {_cell(inner.get('description', ''))} |"
            for name, target in _sections(schema, inner):
                if name not in seen:
                    seen.add(name)
                    below.append((_label(path, key, inner, target, schema), target))
        yield ""
        waiting = below + waiting


def _label(path: str, key: str, inner: Schema, target: Schema, schema: Schema) -> str:
    existing = ""
    if "if" in inner and target is _resolved(schema, inner["then"]):
        existing = f", with {inner['if']['required'][0]}"
    suffix = {"array": "[]", "object": ".<name>"}.get(inner.get("type", ""), "")
    return f"{f'{path}.' if path else ''}{key}{suffix}{existing}".replace(", with vpc_id.", ".")


def _sections(schema: Schema, node: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the sections that a value is made of, by name."""
    for inner in (node, node.get("else"), node.get("then"), node.get("items"), node.get("additionalProperties")):
        if isinstance(inner, Mapping) and "$ref" in inner:
            target = _resolved(schema, inner)
            if "properties" in target:
                yield inner["$ref"], target


def _resolved(schema: Schema, node: Schema) -> Schema:
    if "$ref" not in node:
        return node
    target: Schema = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return target


def _value(schema: Schema, node: Schema) -> str:
    target = _resolved(schema, node)
    match target:
        case {"const": value}:
            text = f"`{value}`"
        case {"enum": values}:
            text = ", ".join(f"`{value}`" for value in values)
        case {"items": item}:
            text = f"list of: {_value(schema, item)}"
        case {"anyOf": _, "examples": [example, *_]}:
            text = f"text, as `{example}`"
        case {"if": _} | {"properties": _}:
            text = "mapping, see below"
        case {"additionalProperties": {"$ref": _}}:
            text = "mapping of mappings, see below"
        case {"minimum": low, "maximum": high}:
            text = f"{_TYPES[target['type']]}, {low} to {high}"
        case {"examples": [example, *_]}:
            text = f"{_TYPES[target['type']]}, as `{example}`"
        case _:
            text = _TYPES[target["type"]]
    return text


def _cell(text: str) -> str:
    return re.sub(r"([|<>*])", r"\\\1", text)
