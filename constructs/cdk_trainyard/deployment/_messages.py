"""What pydantic finds, in the words of this library."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from cdk_trainyard.deployment._document import Document, KeyPath, Problem
from cdk_trainyard.deployment._schema import Schema, resolved
from cdk_trainyard.deployment._section import NEVER_KEY
from cdk_trainyard.errors import did_you_mean

_LONGEST: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something of the wrong form: where, and the sentence about it."""

    path: KeyPath
    problem: Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class _Finding:
    """One finding of pydantic's, with what its sentence may need.

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


def translate(error: ValidationError, document: Document, schema: Schema) -> list[Fault]:
    """Turn pydantic's findings into sentences with places.

    Args:
        error: What validation raised.
        document: The file.
        schema: The model's JSON Schema: what is allowed where.
    """
    faults: list[Fault] = []
    for detail in error.errors(include_url=False):
        path, node, around = _follow(schema, tuple(detail["loc"]))
        if path in document.reported:
            continue
        finding = _Finding(
            path=path,
            value=detail["input"],
            source=document.sources.get(path),
            node=node,
            around=around,
            choices=tuple(re.findall(r"'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))),
        )
        text = SENTENCES.get(detail["type"], _otherwise)(finding)
        faults.append(Fault(path=path, problem=Problem(place=_where(document, detail["type"], path), text=text)))
    return faults


def _where(document: Document, kind: str, path: KeyPath) -> Any:
    """An unknown key is wrong where it begins, whatever its value; the rest where :meth:`Document.place` says."""
    return document.keys[path] if kind == "extra_forbidden" and path in document.keys else document.place(path)


def _follow(schema: Schema, location: KeyPath) -> tuple[KeyPath, Schema, Schema]:
    """Walk the schema along pydantic's location: the path in the data, its node, and the node around it."""
    path: KeyPath = ()
    node = around = schema
    for part in location:
        if "if" in node:  # pydantic puts the name of the chosen model into the location
            node = schema["$defs"][part]
            continue
        around = node
        path = (*path, part)
        inner = node.get("items", {}) if isinstance(part, int) else _property(node, part)
        node = {**resolved(schema, inner), **inner}
    return path, node, around


def _property(node: Schema, key: str) -> Schema:
    known: Schema = node.get("properties", {})
    others = node.get("additionalProperties")
    found: Schema = known[key] if key in known else others if isinstance(others, Mapping) else {}
    return found


# ---------------------------------------------------------------- the sentences, one per kind of finding


def _missing(found: _Finding) -> str:
    match found.node:
        case {"const": value} | {"examples": [value, *_]}:
            hint = f"; for example {found.path[-1]}: {value}"
        case {"enum": values}:
            hint = f"; it is {_either(tuple(map(str, values)))}"
        case _:
            hint = ""
    return f"{found.subject} must be given{found.section}{hint}"


def _unknown(found: _Finding) -> str:
    key = str(found.path[-1])
    if reason := found.around.get(NEVER_KEY, {}).get(key):
        return f"{found.subject} is not a key{found.section}: {reason}"
    known = sorted(found.around.get("properties", {}))
    hint = did_you_mean(key, known) or f"; known are {', '.join(known)}"
    return f"{found.subject} is not a key{found.section or ' of a deployment'}{hint}"


def _text(found: _Finding) -> str:
    quoted = found.source is not None
    remedy = f'; put it in quotes: "{shorten(found.source or "")}"' if quoted else ""
    return f"{found.subject} must be text, got {found.got}{remedy}"


def _unicode(found: _Finding) -> str:
    return f"{found.subject} must be text, got {found.got} with half a character; remove the \\ud… escape"


def _number(found: _Finding) -> str:
    return f"{found.subject} must be a whole number, got {found.got}"


def _decimal(found: _Finding) -> str:
    return f"{found.subject} must be a number, got {found.got}"


def _boolean(found: _Finding) -> str:
    return f"{found.subject} must be true or false, got {found.got}"


def _list(found: _Finding) -> str:
    remedy = f"; write [{shorten(found.source)}]" if found.source else ""
    return f"{found.subject} must be a list, got {found.got}{remedy}"


def _mapping(found: _Finding) -> str:
    known = list(found.node.get("properties", {})) or ["a name"]
    return f"{found.subject} must be a mapping ('{known[0]}: …' on lines below it), got {found.got}"


def _range(found: _Finding) -> str:
    low, high = found.node.get("minimum"), found.node.get("maximum")
    if low is not None and high is not None:
        return f"{found.subject} must be {low} to {high}, got {found.got}"
    bound = f"at least {low}" if high is None else f"at most {high}"
    return f"{found.subject} must be {bound}, got {found.got}"


def _length(found: _Finding) -> str:
    low, high = found.node.get("minLength", 0), found.node.get("maxLength", "any number of")
    return f"{found.subject} must have {low} to {high} characters, got {len(found.value)}"


def _pattern(found: _Finding) -> str:
    return f"{found.subject} must be {found.node['patternErrorMessage']}, got {found.got}"


def _choice(found: _Finding) -> str:
    allowed = found.choices or tuple(str(value) for value in found.node.get("enum", ()))
    hint = did_you_mean(found.value, allowed) if isinstance(found.value, str) else ""
    return f"{found.subject} must be {_either(allowed)}, got {found.got}{hint}"


def _either(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _otherwise(found: _Finding) -> str:
    return f"{found.subject} cannot be {found.got}; see its description in the deployment file's reference"


SENTENCES: Final[Mapping[str, Callable[[_Finding], str]]] = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "string_type": _text,
    "string_unicode": _unicode,
    "int_type": _number,
    "float_type": _decimal,
    "bool_type": _boolean,
    "tuple_type": _list,
    "dict_type": _mapping,
    "model_type": _mapping,
    "greater_than_equal": _range,
    "less_than_equal": _range,
    "string_too_short": _length,
    "string_too_long": _length,
    "string_pattern_mismatch": _pattern,
    "literal_error": _choice,
    "enum": _choice,
}
"""Pydantic's error type → what says it. A test compares them with the errors that the models can raise."""
