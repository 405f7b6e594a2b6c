"""The JSON Schema of a model, in the form that editors and this room's messages use."""

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from cdk_trainyard.deployment._section import Section

Schema = Mapping[str, Any]
"""A JSON Schema, or a node of one."""
NAME_KEY: Final = "x-name"
"""A node with this key is written once, in ``$defs``, under that name."""
DEFINITION_KEY: Final = "x-definition"
"""What is written there, when the node says something of its own besides."""


@cache
def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a model, or of a union of models."""
    schema = TypeAdapter(kind).json_schema(schema_generator=_Generator)
    definitions: dict[str, Any] = {}
    tidy = _tidied(schema, definitions)
    return {**tidy, "$defs": dict(sorted((tidy["$defs"] | definitions).items()))}


def resolved(schema: Schema, node: Schema) -> Schema:
    """Return a node, or what stands under the name that it refers to."""
    if "$ref" not in node:
        return node
    target: Schema = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return target


class _Generator(GenerateJsonSchema):
    """Writes what a file can hold: a key that is left out, never one that is null."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        for name, text in _docstrings(schema["cls"]).items():
            found["properties"][name].setdefault("description", text)
        return found

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        # a section's default is said by its description
        return (
            super().default_schema(schema) if _plain(schema.get("default")) else self.generate_inner(schema["schema"])
        )

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        new, existing = (self.generate_inner(choice) for choice in schema["choices"].values())
        return {"if": {"required": [schema["metadata"]["key"]]}, "then": existing, "else": new}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  pydantic's hook
        return False


def _docstrings(model: type[Section]) -> dict[str, str]:
    """Return what stands below the fields; pydantic itself would read all sources whenever a file is loaded."""
    found = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, Section):
            [definition] = ast.parse(inspect.getsource(kind)).body
            for node, text in pairwise(ast.iter_child_nodes(definition)):
                match node, text:
                    case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(docstring))):
                        found[name] = inspect.cleandoc(docstring)
    return found


def _plain(default: Any) -> bool:
    return isinstance(default, str | int) or (
        isinstance(default, tuple) and bool(default) and all(map(_plain, default))
    )


def _tidied(node: Any, definitions: dict[str, Any], *, names: bool = False) -> Any:
    """Leave out titles, which are names of classes, join lines, and write named nodes once.

    Args:
        node: What to tidy.
        definitions: Where named nodes go.
        names: Whether the keys of ``node`` are the user's names, not words of JSON Schema.
    """
    if isinstance(node, list):
        return [_tidied(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    tidy = {
        key: _tidied(value, definitions, names=key in {"properties", "$defs"})
        for key, value in node.items()
        if names or key != "title"
    }
    if names:
        return tidy
    if "description" in tidy:
        tidy["description"] = " ".join(tidy["description"].replace("``", "").split())
    if NAME_KEY in tidy:
        name = tidy.pop(NAME_KEY)
        description = {key: tidy.pop(key) for key in ("description",) if key in tidy}
        definitions[name] = tidy.pop(DEFINITION_KEY, tidy)
        return {"$ref": f"#/$defs/{name}", **description}
    return tidy
