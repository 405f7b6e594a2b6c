"""A section whose model is imported when a file has it, so that nobody waits for what they do not use."""

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from cdk_trainyard.deployment._section import Section


@dataclass(frozen=True, slots=True)
class OnDemand:
    """Annotates a section by the name of its model, as ``"package.module:Model"``."""

    name: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Validate with the model; what it finds keeps its place."""
        return core_schema.nullable_schema(core_schema.no_info_plain_validator_function(self._validate))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return what the model's own schema is."""
        # what is inside another schema is written once, under its name; what is not, again at each place
        return handler(core_schema.nullable_schema(self._model().__pydantic_core_schema__))

    def _validate(self, value: Any) -> Section:
        return self._model().model_validate(value)

    def _model(self) -> type[Section]:
        model: type[Section] = resolve_name(self.name)
        return model
