"""The JSON Schema of a model, in the form that editors and this room's messages use."""

from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

NAME_KEY: Final = "x-name"
"""A node with this key is written once, in ``$defs``, under that name."""


@cache
def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a model, or of a union of models."""
    schema = TypeAdapter(kind).json_schema(schema_generator=_Generator)
    definitions: dict[str, Any] = {}
    tidy = _tidied(schema, definitions)
    return {**tidy, "$defs": dict(sorted((tidy["$defs"] | definitions).items()))}


class _Generator(GenerateJsonSchema):
    """Writes what a file can hold: a key that is left out, never one that is null."""

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
        definitions[name] = tidy
        return {"$ref": f"#/$defs/{name}", **description}
    return tidy
