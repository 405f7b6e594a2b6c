"""Sections that are specifications of a room: `options` reads them, and the model of the file takes what was read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from cdk_trainyard.deployment._document import Document, KeyPath
from cdk_trainyard.deployment._schema import DEFINITION_KEY, NAME_KEY
from cdk_trainyard.options.fields import Part
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.reading import Reader
from cdk_trainyard.options.schema import Schemas
from cdk_trainyard.options.writing import written
from cdk_trainyard.problems import Problem


@dataclass(frozen=True, slots=True)
class Specified:
    """Annotates a section that is a specification, or one of two of which a key decides."""

    part: Part

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Take what was read."""
        kinds = tuple(kind for kind in (self.part.spec, self.part.existing) if kind)
        return core_schema.is_instance_schema(
            kinds, serialization=core_schema.plain_serializer_function_ser_schema(written)
        )

    def __get_pydantic_json_schema__(
        self, _schema: core_schema.CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the specification, each part under its name."""
        schemas = Schemas()
        found: JsonSchemaValue = _named(schemas.value(self.part), schemas.definitions)
        return found


def read_specified(
    document: Document, parts: Mapping[KeyPath, Part], environment: Environment
) -> tuple[dict[str, Any], list[Problem]]:
    """Return what a file says, its specified sections read, and what is wrong with their form.

    Args:
        document: The file.
        parts: The specified sections by their paths.
        environment: Where the deployment goes.
    """
    data = dict(document.data)
    reader = Reader(environment=environment, sources=document.sources)
    for path, part in parts.items():
        around = data
        for key in path[:-1]:
            inner = around.get(str(key))
            if isinstance(inner, Mapping):
                around[str(key)] = inner = dict(inner)
            around = inner if isinstance(inner, dict) else {}
        if path[-1] in around:
            said = around[str(path[-1])]
            keys = said if isinstance(said, Mapping) else ()
            around[str(path[-1])] = reader.read(part.chosen(keys), said, path)
    return data, reader.problems


def _named(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_named(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        said = {key: text for key, text in node.items() if key != "$ref"}
        return {NAME_KEY: name, DEFINITION_KEY: _named(definitions[name], definitions), **said}
    return {key: _named(inner, definitions) for key, inner in node.items()}
