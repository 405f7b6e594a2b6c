"""The JSON Schema of a specification, which editors complete and check files with."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

from cdk_trainyard.options.fields import (
    Chosen,
    Field,
    Items,
    Json,
    Named,
    Object,
    Part,
    Scalar,
    Shape,
    docs_of,
    fields_of,
    keys_of,
)
from cdk_trainyard.options.members import spelling, spellings
from cdk_trainyard.options.stand_ins import StandIn

_TYPES: Final = {int: "integer", float: "number", bool: "boolean", str: "string"}


class Schemas:
    """Collects the schemas of specifications, each once, under its name.

    Attributes:
        definitions: ``$defs`` of the schema that refers to them.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._specs: dict[str, type] = {}

    def refer(self, spec: type) -> dict[str, Any]:
        """Return a reference to the schema of a specification."""
        known = self._specs.setdefault(spec.__name__, spec)
        if known is not spec:
            raise TypeError(f"{spec.__module__} and {known.__module__} have each a {spec.__name__}; rename one")
        if spec.__name__ not in self.definitions:
            self.definitions[spec.__name__] = {}  # it is under way
            self.definitions[spec.__name__] = self.of(spec)
        return {"$ref": f"#/$defs/{spec.__name__}"}

    def of(self, spec: type, *, without: str = "") -> dict[str, Any]:
        """Return the schema of a specification's section.

        Args:
            spec: The specification.
            without: An option that the section has as its own key. Default - there is none.
        """
        options = [(field, doc) for field, doc in _described(spec) if field.name != without]
        dependent = dict(_dependent(spec))
        return {
            "type": "object",
            "description": " ".join((spec.__doc__ or "").partition("\n\n")[0].split()),
            "properties": {
                str(field.key): {**self.value(field.shape), **_default(field), "description": doc}
                for field, doc in options
            },
            "required": [field.key for field in fields_of(spec).values() if field.required and field.name != without],
            **({"dependentRequired": dependent} if dependent else {}),
            "additionalProperties": False,
        }

    def value(self, shape: Shape) -> dict[str, Any]:  # noqa: PLR0911  one for each shape
        """Return the schema of a value."""
        match shape:
            case Scalar():
                return _scalar(shape)
            case Object():
                return self._object(shape)
            case Part(spec=spec, existing=type() as existing, unless=key):
                return {"if": {"required": [key]}, "then": self.refer(existing), "else": self.refer(spec)}
            case Part(spec=spec):
                return self.refer(spec)
            case Items(item=Part(spec=spec), by_name=str(name)):
                self.definitions[spec.__name__] = self.of(spec, without=name)
                names = _scalar(fields_of(spec)[name].shape)
                return {
                    "type": "object",
                    "propertyNames": names,
                    "additionalProperties": {"$ref": f"#/$defs/{spec.__name__}"},
                }
            case Items(item=item):
                return {"type": "array", "items": self.value(item)}
            case Named(item=item, names=names):
                kinds = Scalar(type=str, kinds=names)
                return {"type": "object", "propertyNames": _scalar(kinds), "additionalProperties": self.value(item)}
            case Chosen() | Json():
                return {"type": "object"}

    def _object(self, shape: Object) -> dict[str, Any]:
        if shape.section is not None:
            return self.refer(shape.section.spec)
        found = {"type": _TYPES[shape.type.written], **shape.type.kind.schema()}
        return found if shape.nothing is None else {**found, "enum": [shape.nothing, *found["enum"]]}


def _described(spec: type) -> Iterator[tuple[Field, str]]:
    """Yield the options that a section has, those of inline parts among them, with what is said of them."""
    docs: Mapping[str, str] = docs_of(spec)
    for name, field in fields_of(spec).items():
        if field.inline and isinstance(field.shape, Part):
            yield from _described(field.shape.spec)
        elif field.key is not None:
            yield field, docs.get(name, "").replace("``", "")


def _dependent(spec: type) -> Iterator[tuple[str, list[str]]]:
    """Yield which options of an inline part that may be left out are required beside each of its others."""
    for field in fields_of(spec).values():
        if field.inline and field.optional and isinstance(field.shape, Part):
            inner = keys_of(field.shape.spec)
            required = [key for key, option in inner.items() if option.required]
            yield from ((key, [name for name in required if name != key]) for key in inner if required != [key])


def _scalar(shape: Shape) -> dict[str, Any]:
    if not isinstance(shape, Scalar):
        raise TypeError(f"a name must be text, got {shape}")
    if issubclass(shape.type, Enum):
        return {"enum": list(spellings(shape.type))}
    keywords = [kind.schema() for kind in shape.kinds]
    return {"type": _TYPES[shape.type], **{word: value for words in keywords for word, value in words.items()}}


def _default(field: Field) -> dict[str, Any]:
    """Return a default that a file could say; what a section is by default, its description says."""
    default = field.default.value if isinstance(field.default, StandIn) else field.default
    if isinstance(field.shape, Object) and field.shape.unit and default is not None:
        default //= field.shape.unit.seconds
    items = default if isinstance(default, tuple) else (default,)
    if field.required or not items or not all(isinstance(item, str | int | float) for item in items):
        return {}
    words = [spelling(item) if isinstance(item, Enum) else item for item in items]
    return {"default": words if isinstance(default, tuple) else words[0]}
