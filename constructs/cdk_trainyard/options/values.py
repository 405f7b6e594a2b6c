"""Values of a file: texts, numbers, truth values and choices, judged one by one. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final

from cdk_trainyard.errors import asked
from cdk_trainyard.options.fields import Items, Object, Scalar, keys_of, required_keys
from cdk_trainyard.options.flow import items_of, unquoted
from cdk_trainyard.options.kinds import ALL_IN, NOWHERE, Choice, Environment, Kind, Open, counted
from cdk_trainyard.options.members import instead, spellings
from cdk_trainyard.options.numbers import NumberElsewhere
from cdk_trainyard.options.remedies import (
    INTRINSIC,
    MOST_DIGITS,
    alone,
    as_written,
    in_brackets,
    in_quotes,
    is_long,
    is_nothing,
    plain,
    plainly,
    splits,
)
from cdk_trainyard.options.secrets import secret_problem
from cdk_trainyard.problems import At, Flaw, either, shown
from cdk_trainyard.tokens import Unknown, dummy

_SYMBOLS: Final = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_LONG: Final = f" of at most {MOST_DIGITS} digits"
_OF_SOMETHING: Final = ("name", "key_pair")
"""How keys end whose value is a name; nobody calls a thing true, and a bucket of that name is somebody else's."""
_ANY_WORD: Final = "x"
"""What is no value where not any text is."""
Judged = tuple[Any, list[Flaw]]
"""What a value is in a specification, unknown where its form is wrong, and what is wrong with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Values:
    """Judges the values of one file.

    Attributes:
        environment: Where the deployment goes.
        sources: Every scalar as it is written in the file, for those that must be put in quotes.
    """

    environment: Environment
    sources: dict[At, str] = field(default_factory=dict)

    def value(self, shape: Scalar | Object, data: Any, at: At) -> Judged:
        """Judge a value, or what names an object of CDK.

        Args:
            shape: What it must be; no object that a section of its own says.
            data: What the file has.
            at: Where it has it.
        """
        if isinstance(shape, Scalar):
            return self._scalar(shape.type, shape.kinds, data, at)
        if shape.nothing is not None and data == shape.nothing and not isinstance(data, bool):
            return None, []
        stand_in = shape.type
        if shape.nothing is not None and is_nothing(data):
            must = f"must be {_SYMBOLS[stand_in.written]}"
            return Unknown(), [self.flaw(must, data, at, f"; write {shape.nothing} for none")]
        value, found = self._scalar(stand_in.written, (stand_in.kind,), data, at)
        if isinstance(value, Unknown):
            return value, found
        return stand_in(value * shape.unit.seconds if shape.unit else value), found

    def meant(self, spec: type, data: object) -> dict[str, str]:
        """Return the key of a section that text in its place is a value of, with the value; of no key that takes any.

        A file whose name begins as a key does is one of it; a word for none is no value.

        Args:
            spec: What the section is.
            data: What the file has.
        """
        if not isinstance(data, str):
            return {}
        options, needed = keys_of(spec), required_keys(spec)
        if (file := re.fullmatch(r"(\w+)\.[\w.-]+", data, re.ASCII)) and file[1] in options:
            return {file[1]: data}
        for key in needed or options:
            shape = options[key].shape
            several = isinstance(shape, Items) and shape.by_name is None
            item = shape.item if isinstance(shape, Items) and several else shape
            if not isinstance(item, Scalar | Object) or (isinstance(item, Object) and item.section is not None):
                continue
            is_member = isinstance(item, Scalar) and issubclass(item.type, Enum)
            if is_nothing(data) and not is_member:
                continue
            if self._of_item(item, _ANY_WORD) and not self._of_item(item, data):
                written = in_quotes(data)
                return {key: f"[{written}]" if several else written}
        return {}

    def no_list(self, item: Scalar | Object, data: Any, at: At, *, is_command: bool) -> Flaw:
        """Say of what stands where a list of values must how to write it as one, or what is wrong with it as an item.

        Args:
            item: What each item must be.
            data: What the file has, which is no list.
            at: Where it has it.
            is_command: Whether the items are the words of a command.
        """
        if isinstance(data, Mapping):
            return self.flaw("must be a list", data, at, "; begin each item with '- '")
        text = self.sources.get(at, data if isinstance(data, str) else "")
        text = text[1:-1] if text[:1] + text[-1:] == "()" else text
        wanted = item.type.written if isinstance(item, Object) else item.type
        is_open = isinstance(item, Scalar) and any(isinstance(kind, Open) for kind in item.kinds)
        quoted = items_of(data, is_json=not is_open and not self._of_item(item, data))
        if quoted and not any(self._of_item(item, each) for each in quoted):
            return self.flaw("must be a list", data, at, unquoted(data))
        for words in (
            splits(text, is_command=is_command, is_open=is_open) if isinstance(data, str) or not is_open else ()
        ):
            items = [plain(wanted, word) for word in dict.fromkeys(words)]
            if not any(self._of_item(item, each) for each in items):
                return self.flaw("must be a list", data, at, f"; write [{', '.join(map(in_brackets, items))}]")
        found = self._of_item(item, plain(wanted, text)) if text and "\n" not in text else []
        each = f"; each item {replace(found[0], got='')}" if found else ""
        return self.flaw("must be a list", data, at, each)

    def numbers_elsewhere(self, data: Any, at: At) -> Iterator[tuple[At, Flaw]]:
        """Yield what in a JSON value other readers of YAML take for numbers, with its place and what to write.

        Args:
            data: What the file has.
            at: Where it has it.
        """
        inside = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, tuple) else ()
        for step, each in inside:
            yield from self.numbers_elsewhere(each, (*at, step))
        if isinstance(data, NumberElsewhere):
            number = plainly(int, data) or plainly(float, data)
            remedy = f'; write {f"{number}, or " if number else ""}"{data}" in quotes for text'
            yield at, self.flaw("must be a plain number, or text in quotes", data, at, remedy)

    def flaw(self, must: str, data: Any, at: At, remedy: str = "") -> Flaw:
        """Return what is wrong with what a file has, which is shown as the file has it.

        Args:
            must: What it must be.
            data: What the file has.
            at: Where it has it.
            remedy: What to do about it. Default - as is told of whatever is written so.
        """
        wrong = Flaw(must, got=self._got(data, at), remedy=remedy)
        return wrong if remedy or secret_problem(data) else as_written(wrong, data)

    def _of_item(self, shape: Scalar | Object, data: Any) -> list[Flaw]:
        """Return what is wrong with an item that a file may have."""
        return Values(environment=self.environment).value(shape, data, ())[1]

    def _scalar(self, wanted: type, kinds: Sequence[Kind], data: Any, at: At) -> Judged:
        value, found = self._judged(wanted, kinds, data, at)
        for text, wrong in alone(data, is_text=wanted is str) if found and isinstance(data, str) else ():
            if not self._judged(wanted, kinds, plain(wanted, text), at)[1]:
                return value, [wrong]
        return value, found

    def _judged(self, wanted: type, kinds: Sequence[Kind], data: Any, at: At) -> Judged:
        if issubclass(wanted, Enum):
            return self._member(wanted, data, at)
        fits = isinstance(data, (int, float) if wanted is float else wanted)
        is_other = isinstance(data, bool | NumberElsewhere)
        if not fits or (is_other and wanted is not bool):
            wrong = self._of_another_type(wanted, kinds, data, at)
            return self.sources[at] if wrong.remedy == self._quotes(at) else Unknown(), [wrong]
        of_form = list(_found(kinds, data, NOWHERE))
        if dummy(data):
            wrong = next(iter(of_form), Flaw("must be a value", got=shown(data)))
            return Unknown(), [replace(wrong, remedy=", which CDK writes until it has looked one up")]
        if secret := secret_problem(data):
            return Unknown(), [Flaw(secret)]
        found = [self._in_its_words(wrong, data, at) for wrong in _found(kinds, data, self.environment)]
        return (Unknown(), [as_written(wrong, data) for wrong in found]) if of_form else (data, found)

    def _in_its_words(self, wrong: Flaw, data: Any, at: At) -> Flaw:
        """Return what is wrong with a number that is shown as the file has it, as ``-0``."""
        is_number = isinstance(data, int | float) and not isinstance(data, bool)
        return replace(wrong, got=self._got(data, at)) if is_number and wrong.got == shown(data) else wrong

    def _member(self, wanted: type[Enum], data: Any, at: At) -> Judged:
        words = spellings(wanted)
        if isinstance(data, str) and data in words:
            return words[data], []
        hint = instead(wanted, data) or self._one_of(wanted, (), data)
        return Unknown(), [self.flaw(f"must be {either(words, all_in=ALL_IN)}", data, at, hint)]

    def _of_another_type(self, wanted: type, kinds: Sequence[Kind], data: Any, at: At) -> Flaw:
        """Say what a value must be, and how to write it if it can be that."""
        if wanted is str and at in self.sources:
            return self._in_quotes(kinds, data, at)
        if wanted in {int, float} and is_long(data):
            return self.flaw(f"must be {_SYMBOLS[wanted]}{_LONG}", data, at)
        remedy = plainly(wanted, data, next((step for step in at[::-1] if isinstance(step, str)), ""))
        if remedy and (wrong := next(_found(kinds, plain(wanted, remedy), NOWHERE), None)):
            return replace(wrong, got=self._got(data, at))
        if wanted is str and isinstance(data, Mapping) and len(data) == 1 and " " in next(iter(data)):
            remedy = "; ': ' makes a mapping of the line: put all of it in quotes"
            return self.flaw("must be text", data, at, remedy)
        choices = [either(map(str, kind.values), all_in=kind.where) for kind in kinds if isinstance(kind, Choice)]
        what = next(iter(choices), f"{_SYMBOLS[wanted]}{counted(kinds)}")
        quoted = isinstance(data, str) and data.strip().lower() == remedy
        without = ", without quotes" if quoted else ", without a tag" if remedy == self._got(data, at) else ""
        hint = f"; write {remedy}{without}" if remedy else ""
        return self.flaw(f"must be {what}", data, at, hint or self._one_of(wanted, kinds, data))

    def _one_of(self, wanted: type, kinds: Sequence[Kind], data: Any) -> str:
        """Return what to do about a list in place of one value; a list of what is to be switched on is a switch."""
        if not isinstance(data, tuple):
            return ""
        item = data[0] if len(data) == 1 else None
        is_value = isinstance(item, str | int | float)
        is_right = is_value and not self._of_item(Scalar(type=wanted, kinds=tuple(kinds)), item)
        if is_right or (wanted is bool and data):
            return f"; write {in_brackets(item) if is_right else 'true'}"
        return "; write one of them" if len(data) > 1 else "; write one value"

    def _in_quotes(self, kinds: Sequence[Kind], data: Any, at: At) -> Flaw:
        """Return what is wrong with text that YAML reads as something else: in quotes it may be of a wrong form."""
        source = self.sources[at]
        wrong = next(_found(kinds, source, NOWHERE), None)
        is_switch = isinstance(data, bool) and str(at[-1]).endswith(_OF_SOMETHING)
        examples = [each for kind in kinds if isinstance(kind, Open) for each in kind.examples]
        if examples and not is_switch and plain(float, examples[0]) == examples[0]:  # a rule judges text, no number
            return wrong or self.flaw(f"must be text, as {examples[0]}", data, at)
        words = [each for kind in kinds if isinstance(kind, Open) for each in kind.keywords.get("enum", ())]
        named = [each for each in words if each.endswith(source)]
        remedy = "; write the name" if is_switch else asked("", named) or self._quotes(at)
        return wrong or self.flaw("must be text", data, at, remedy)

    def _quotes(self, at: At) -> str:
        """Return what to do about text that YAML reads as something else: nothing more, and rules may judge it."""
        return f'; put it in quotes: "{self.sources.get(at, "")}"'

    def _got(self, data: Any, at: At) -> str:
        match data:
            case Mapping():
                other = next((key for key in data if len(data) == 1 and INTRINSIC.fullmatch(key)), "")
                return f"{shown(other)} of CloudFormation, in whose place nothing is put" if other else "a mapping"
            case tuple():
                return "a list"
        if secret_problem(data):
            return "a secret"
        is_number = isinstance(data, NumberElsewhere) or not isinstance(data, str | bool)
        return self.sources.get(at, shown(data)) if is_number else shown(data)


def _found(kinds: Sequence[Kind], data: Any, environment: Environment) -> Iterator[Flaw]:
    """Yield what is wrong with a value of the right type, by each kind."""
    return filter(None, (kind.problem(data, environment) for kind in kinds))
