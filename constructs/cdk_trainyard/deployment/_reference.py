"""The reference of the deployment file as Markdown, made from its JSON Schema."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_TYPES: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
    "object": "mapping",
}


Schema = Mapping[str, Any]
"""A JSON Schema, or a node of one."""


def reference(schema: Schema) -> str:
    """Return one table for each section, in the order in which a reader meets them.

    Args:
        schema: The JSON Schema of the deployment file.
    """
    return "\n".join(_tables(schema))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """A section to be written.

    Attributes:
        path: Where it is in a file.
        node: What the schema says of it.
        remark: When it is that, where there is a choice.
    """

    path: str
    node: Schema
    remark: str = ""


def _tables(schema: Schema) -> Iterator[str]:
    waiting = [_Table(path="", node=schema)]
    seen: set[str] = set()
    while waiting:
        table = waiting.pop(0)
        if table.path:
            yield f"### `{table.path}{table.remark}`\n\n{table.node.get('description', '')}\n"
        yield "| key | value | meaning |\n|---|---|---|"
        for key, inner in table.node.get("properties", {}).items():
            mark = " (required)" if key in table.node.get("required", ()) else ""
            yield f"| `{key}`{mark} | {_value(schema, inner)} | {_cell(inner.get('description', ''))} |"
        yield ""
        below = {name: inner for name, inner in reversed([*_below(schema, table)]) if name not in seen}
        seen |= below.keys()
        waiting = [*reversed(below.values()), *waiting]


def _below(schema: Schema, table: _Table) -> Iterator[tuple[str, _Table]]:
    """Yield the sections that a section is made of, by name."""
    prefix = f"{table.path}." if table.path else ""
    for key, inner in table.node.get("properties", {}).items():
        suffix = {"array": "[]", "object": ".<name>"}.get(inner.get("type", ""), "")
        for name, target in _sections(schema, inner):
            chosen = "if" in inner and target is _resolved(schema, inner["then"])
            remark = f", with {inner['if']['required'][0]}" if chosen else ""
            yield name, _Table(path=f"{prefix}{key}{suffix}", node=target, remark=remark)
    for choice in table.node.get("allOf", ()):
        ((word, value),) = choice["if"]["properties"].items()
        for key, inner in choice["then"]["properties"].items():
            for name, target in _sections(schema, inner):
                yield name, _Table(path=f"{prefix}{key}", node=target, remark=f", with {word} {value['const']}")


def _sections(schema: Schema, node: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the sections that a value is made of, by name."""
    for inner in (node, node.get("else"), node.get("then"), node.get("items"), node.get("additionalProperties")):
        if isinstance(inner, Mapping) and "$ref" in inner:
            target = _resolved(schema, inner)
            if "properties" in target:
                yield inner["$ref"], target


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


def _resolved(schema: Schema, node: Schema) -> Schema:
    """Return a node, or what stands under the name that it refers to."""
    if "$ref" not in node:
        return node
    target: Schema = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return target
