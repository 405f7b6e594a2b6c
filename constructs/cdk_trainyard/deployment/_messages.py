"""What pydantic finds, in the words of this library."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from cdk_trainyard.deployment._document import Document, KeyPath, Problem
from cdk_trainyard.deployment._section import REFUSED
from cdk_trainyard.errors import did_you_mean

Schema = Mapping[str, Any]
_LONGEST: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fault:
    """One finding, with what its sentence may need.

    Attributes:
        path: Where in the data.
        value: What stands there (for a missing key: the section that lacks it).
        source: How it is written in the file, when it is a scalar.
        node: What the JSON Schema says of that place.
        around: What the JSON Schema says of the section that holds it.
        choices: The values allowed, of an enumeration.
    """

    path: KeyPath
    value: Any
    source: str | None
    node: Schema
    around: Schema
    choices: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The place in words: ``'count'``, or ``item 2 of 'zones'``."""
        last = self.path[-1]
        return repr(last) if isinstance(last, str) else f"item {last + 1} of {self.path[-2]!r}"

    @property
    def section(self) -> str:
        """Where the place is, in words: ``" in 'network'"``, or nothing at the top."""
        names = [part for part in self.path[:-1] if isinstance(part, str)]
        return f" in {names[-1]!r}" if names else ""

    @property
    def got(self) -> str:
        """The value in words."""
        match self.value:
            case Mapping():
                return "a mapping"
            case tuple():
                return "a list"
            case str():
                return repr(shorten(self.value))
            case bool():
                return "true" if self.value else "false"
        return shorten(self.source or str(self.value))


def shorten(text: str) -> str:
    """Cut text that would fill a message."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def translate(error: ValidationError, document: Document, schema: Schema) -> list[Problem]:
    """Turn pydantic's findings into sentences with places.

    Args:
        error: What validation raised.
        document: The file.
        schema: The model's JSON Schema: what is allowed where.
    """
    problems: list[Problem] = []
    for detail in error.errors(include_url=False):
        path, node, around = _follow(schema, tuple(detail["loc"]))
        context = detail.get("ctx", {})
        if detail["type"] == REFUSED:
            problems += [_placed(document, (*path, *below), text) for below, text in context["problems"]]
        elif path not in document.reported:
            fault = _Fault(
                path=path,
                value=detail["input"],
                source=document.sources.get(path),
                node=node,
                around=around,
                choices=tuple(re.findall(r"'([^']*)'", str(context.get("expected", "")))),
            )
            sentence = SENTENCES.get(detail["type"], _otherwise)(fault)
            problems.append(Problem(place=_where(document, detail["type"], path), text=sentence))
    return problems


def _placed(document: Document, section: KeyPath, text: str) -> Problem:
    return Problem(place=document.place(document.nearest(section, text)), text=text)


def _where(document: Document, kind: str, path: KeyPath) -> Any:
    """An unknown key is wrong where it begins, whatever its value; the rest where :meth:`Document.place` says."""
    return document.keys[path] if kind == "extra_forbidden" and path in document.keys else document.place(path)


def _follow(schema: Schema, location: KeyPath) -> tuple[KeyPath, Schema, Schema]:
    """Walk the schema along pydantic's location: the path in the data, its node, and the node around it."""
    path: KeyPath = ()
    node = around = _deref(schema, schema)
    for part in location:
        if "oneOf" in node:  # pydantic puts the name of the chosen model into the location
            node = schema["$defs"][part]
            continue
        around = node
        path = (*path, part)
        inner = node.get("items", {}) if isinstance(part, int) else _property(node, part)
        node = _deref(schema, inner)
    return path, node, around


def _property(node: Schema, key: str) -> Schema:
    known: Schema = node.get("properties", {})
    others = node.get("additionalProperties")
    found: Schema = known[key] if key in known else others if isinstance(others, Mapping) else {}
    return found


def _deref(schema: Schema, node: Schema) -> Schema:
    if "$ref" not in node:
        return node
    target: Schema = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return {**target, **node}


# ---------------------------------------------------------------- the sentences, one per kind of finding


def _missing(fault: _Fault) -> str:
    examples = fault.node.get("examples")
    hint = f"; for example {fault.path[-1]}: {examples[0]}" if examples else ""
    return f"{fault.subject} must be given{fault.section}{hint}"


def _unknown(fault: _Fault) -> str:
    known = sorted(fault.around.get("properties", {}))
    hint = did_you_mean(str(fault.path[-1]), known) or f"; known are {', '.join(known)}"
    return f"{fault.subject} is not a key{fault.section or ' of a deployment'}{hint}"


def _text(fault: _Fault) -> str:
    quoted = fault.source is not None
    remedy = f'; put it in quotes: "{shorten(fault.source or "")}"' if quoted else ""
    return f"{fault.subject} must be text, got {fault.got}{remedy}"


def _number(fault: _Fault) -> str:
    return f"{fault.subject} must be a whole number, got {fault.got}"


def _boolean(fault: _Fault) -> str:
    return f"{fault.subject} must be true or false, got {fault.got}"


def _list(fault: _Fault) -> str:
    remedy = f"; write [{shorten(fault.source)}]" if fault.source else ""
    return f"{fault.subject} must be a list, got {fault.got}{remedy}"


def _mapping(fault: _Fault) -> str:
    known = list(fault.node.get("properties", {})) or ["a name"]
    return f"{fault.subject} must be a mapping ('{known[0]}: …' on lines below it), got {fault.got}"


def _range(fault: _Fault) -> str:
    low, high = fault.node.get("minimum"), fault.node.get("maximum")
    if low is not None and high is not None:
        return f"{fault.subject} must be {low} to {high}, got {fault.got}"
    bound = f"at least {low}" if high is None else f"at most {high}"
    return f"{fault.subject} must be {bound}, got {fault.got}"


def _length(fault: _Fault) -> str:
    low, high = fault.node.get("minLength", 0), fault.node.get("maxLength", "any number of")
    return f"{fault.subject} must have {low} to {high} characters, got {len(fault.value)}"


def _size(fault: _Fault) -> str:
    low = fault.node.get("minItems", fault.node.get("minProperties", 0))
    high = fault.node.get("maxItems", fault.node.get("maxProperties"))
    bound = f"{low} to {high} entries" if high else f"at least {low} {'entry' if low == 1 else 'entries'}"
    return f"{fault.subject} must have {bound}, got {len(fault.value)}"


def _pattern(fault: _Fault) -> str:
    return f"{fault.subject} must be {fault.node['patternErrorMessage']}, got {fault.got}"


def _choice(fault: _Fault) -> str:
    allowed = fault.choices or tuple(str(value) for value in fault.node.get("enum", ()))
    hint = did_you_mean(fault.value, allowed) if isinstance(fault.value, str) else ""
    return f"{fault.subject} must be {_either(allowed)}, got {fault.got}{hint}"


def _either(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _otherwise(fault: _Fault) -> str:
    return f"{fault.subject} cannot be {fault.got}; see its description in the deployment file's reference"


SENTENCES: Final[Mapping[str, Callable[[_Fault], str]]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "string_type": _text,
    "int_type": _number,
    "bool_type": _boolean,
    "tuple_type": _list,
    "dict_type": _mapping,
    "mapping_type": _mapping,
    "model_type": _mapping,
    "model_attributes_type": _mapping,
    "greater_than_equal": _range,
    "less_than_equal": _range,
    "string_too_short": _length,
    "string_too_long": _length,
    "too_short": _size,
    "too_long": _size,
    "string_pattern_mismatch": _pattern,
    "literal_error": _choice,
    "enum": _choice,
}
"""Pydantic's error type → the function that says it. A test compares it with the errors that the models can raise."""
