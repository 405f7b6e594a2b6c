"""Plain data of a file in; a specification out, and every problem of its form.

What has a wrong form is answered here, once, and stands in the specification as unknown: rules find nothing wrong with
it, and judge everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, cast

from cdk_trainyard.options.choosing import of_the_other, part_chosen, section_spec
from cdk_trainyard.options.elsewhere import has
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
    fields_of,
    first_keys,
    keys_of,
    required_keys,
)
from cdk_trainyard.options.json_objects import is_unknown, json_object
from cdk_trainyard.options.kinds import ALL_IN, NOWHERE, Choice, Environment, Kind, Open, counted
from cdk_trainyard.options.members import instead, spellings
from cdk_trainyard.options.otherwise import also_at, otherwise
from cdk_trainyard.options.remedies import (
    INTRINSIC,
    MOST_DIGITS,
    alone,
    as_written,
    in_brackets,
    is_long,
    is_nothing,
    left_out,
    lines,
    plain,
    plainly,
    splits,
    unless_taken,
)
from cdk_trainyard.options.repeated import repeated_problems
from cdk_trainyard.options.secrets import secret_problem
from cdk_trainyard.options.signs import unlike_items
from cdk_trainyard.options.stand_ins import StandIn
from cdk_trainyard.options.unknown_keys import meaning
from cdk_trainyard.problems import At, Flaw, Problem, either, shown
from cdk_trainyard.tokens import Unknown, dummy

_SYMBOLS: Final = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_LONG: Final = f" of at most {MOST_DIGITS} digits"
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """Reads the sections of one file.

    Attributes:
        environment: Where the deployment goes.
        sources: Every scalar as it is written in the file, for those that must be put in quotes.
        problems: What was found, with the file's own keys as paths.
        unread: The keys that their section does not have.
        meant: The keys that misspelt ones most likely meant.
        outdented: Sections without a value, and the keys of their own that stand beside them.
        nothing: What stands for none where a key has no value, and none is something that the file can say.
        moved: Where items stand that should be elsewhere: the path that they should have → the one that they have.
        whole: What the file is, and what it says, where keys of other sections are looked for. None: in this one alone.
        shows: Whether a sentence says what there is.
    """

    environment: Environment
    sources: dict[At, str] = field(default_factory=dict)
    whole: tuple[type, Mapping[str, Any]] | None = None
    shows: bool = True
    problems: list[Problem] = field(default_factory=list)
    unread: set[At] = field(default_factory=set)
    meant: set[At] = field(default_factory=set)
    outdented: dict[At, list[At]] = field(default_factory=dict)
    nothing: dict[At, str] = field(default_factory=dict)
    moved: dict[At, At] = field(default_factory=dict)

    def read(self, spec: type, data: object, at: At, *, part: Part | None = None, without: str = "") -> Any:
        """Return a section as its specification, with unknowns where it has a wrong form.

        Args:
            spec: What the section is.
            data: What the file says.
            at: Where it says so.
            part: The part that it is, which may have another specification too.
            without: The option that the key of the section says.
        """
        if not isinstance(data, Mapping):
            keys = lines(first_keys(spec, without=without))
            return self._refused(at, self._wrong(f"must be a mapping ({keys} on lines below it)", data, at))
        return self._made(spec, data, at, meant=self._unknown_keys(spec, data, at, part=part))

    def _made(
        self,
        spec: type,
        data: Mapping[str, Any],
        at: At,
        *,
        given: Mapping[str, Any] = _NOTHING,
        meant: AbstractSet[str] = frozenset(),
    ) -> Any:
        """Make a specification of a section; what a misspelt key most likely meant is unknown, and not missing."""
        values: dict[str, Any] = dict(given)
        for name, option in fields_of(spec).items():
            if name in values:
                continue
            if option.inline and isinstance(option.shape, Part):
                values |= self._inline(option, data, at, meant)
            elif option.key is not None and option.key in meant:
                values[name] = Unknown()
                self.meant.add((*at, option.key))
            elif option.key is not None and option.key in data:
                values[name] = self._option(spec, option, data, (*at, option.key))
            elif option.required:
                values[name] = self._missing(option.shape, (*at, str(option.key)))
        return spec(**values)

    def _missing(self, shape: Shape, at: At) -> Any:
        """Refuse what is not there; of a section, say what it needs, and read it as an empty one for rules to judge."""
        spec = shape.spec if isinstance(shape, Part) and shape.existing is None else None
        needed = ", ".join(map(repr, required_keys(spec))) if spec else ""
        self._refused(at, Flaw("is missing", remedy=needed and f"; it needs {needed}"))
        return Reader(environment=self.environment).read(spec, {}, at) if spec else Unknown()

    def _option(self, spec: type, option: Field, data: Mapping[str, Any], at: At) -> Any:
        shape, value = option.shape, data[str(option.key)]
        several = None if option.required or not is_nothing(value) else _several(shape)
        if several is not None and not isinstance(value, several):
            what = "a list" if several is tuple else "a mapping"
            return self._refused(at, self._wrong(f"must be {what}", value, at, left_out(spec, option)))
        chosen = part_chosen(shape, data) if isinstance(shape, Chosen) else shape
        return self._value(chosen, value, at) if chosen else Unknown()

    def _inline(self, option: Field, data: Mapping[str, Any], at: At, meant: AbstractSet[str]) -> dict[str, Any]:
        part = cast("Part", option.shape).spec
        if option.optional and not keys_of(part).keys() & (data.keys() | meant):
            return {}
        return {option.name: self._made(part, data, at, meant=meant)}

    def _value(self, shape: Shape, data: Any, at: At) -> Any:  # noqa: PLR0911  one for each shape
        if isinstance(data, Unknown):  # answered where the file was read
            if isinstance(shape, Object) and shape.nothing is not None:
                self.nothing[at] = f"; {shape.nothing} stands for none"
            return data
        match shape:
            case Scalar():
                return self._scalar(shape.type, shape.kinds, data, at)
            case Object():
                return self._object(shape, data, at)
            case Part():
                return self.read(section_spec(shape, data if isinstance(data, Mapping) else {}), data, at, part=shape)
            case Items():
                fits = self._fits(shape, data, at)
                return tuple(self._items(shape, data, at)) if fits else self._otherwise(shape, data, at)
            case Named():
                return dict(self._named(shape, data, at)) if self._fits(shape, data, at) else Unknown()
            case Json():
                return json_object(data) if self._fits(shape, data, at) and not is_unknown(data) else Unknown()

    def _fits(self, shape: Items | Named | Json, data: Any, at: At) -> bool:
        """Say whether a list, or a mapping, stands where one must."""
        if isinstance(shape, Items) and shape.by_name is None:
            if isinstance(data, tuple):
                return True
            for key, wrong in unlike_items(data if isinstance(data, Mapping) else ()):
                self._refused((*at, key), wrong, of_key=True)
                return False
            self._refused(at, self._no_list(shape, data, at))
            return False
        if isinstance(data, Mapping):
            return True
        found = otherwise(shape, data) if isinstance(shape, Items) else []
        name = next((step for step, _, _ in found if isinstance(step, str)), "a name")
        remedy = "; write each one's name as its key" if found else ""
        self._refused(at, self._wrong(f"must be a mapping ('{name}: …' on lines below it)", data, at, remedy))
        return False

    def _otherwise(self, shape: Items, data: Any, at: At) -> Any:
        """Read items that stand in another form than they must, which is answered; what is in them may be wrong too."""
        found = otherwise(shape, data)
        for step, steps, _ in found:
            self.moved[*at, step] = (*at, *steps)
            self.sources.update(also_at((*at, step), (*at, *steps), self.sources))
        if shape.by_name is None:
            return tuple(self._items(shape, tuple(item for _, _, item in found), at)) if found else Unknown()
        if found and all(isinstance(step, str) for step, _, _ in found):
            return tuple(self._items(shape, {step: item for step, _, item in found}, at))
        for step, _, item in found:  # rules know items by their names
            self._part_of_name(cast("Part", shape.item).spec, shape.by_name, "", item, (*at, step))
        return Unknown()

    def _no_list(self, shape: Items, data: Any, at: At) -> Flaw:
        """Say of what stands where a list must how to write it as one, or what is wrong with it as an item."""
        item = shape.item
        if not isinstance(item, Scalar | Object):
            own = next(iter(data), "a name") if isinstance(data, Mapping) else "a name"
            first, *more = first_keys(item.spec) if isinstance(item, Part) else [own]
            below = f", below it {lines(more)}" if more else ""
            return self._wrong("must be a list of mappings", data, at, f"; begin each with '- {first}: …'{below}")
        if isinstance(data, Mapping):
            return self._wrong("must be a list", data, at, "; begin each item with '- '")
        text = self.sources.get(at, data if isinstance(data, str) else "")
        wanted = item.type.written if isinstance(item, Object) else item.type
        is_open = isinstance(item, Scalar) and any(isinstance(kind, Open) for kind in item.kinds)
        for words in splits(text, is_command=shape.repeats, is_open=is_open) if data == text or not is_open else ():
            items = [plain(wanted, word) for word in dict.fromkeys(words)]
            if not any(self._of_item(item, each, at) for each in items):
                return self._wrong("must be a list", data, at, f"; write [{', '.join(map(in_brackets, items))}]")
        found = self._of_item(item, plain(wanted, text), at) if text and "\n" not in text else []
        return self._wrong("must be a list", data, at, f"; each item {found[0].text}" if found else "")

    def _of_item(self, shape: Shape, data: Any, at: At) -> list[Problem]:
        """Return what is wrong with an item that a file may have, without what it is."""
        reader = Reader(environment=self.environment, shows=False)
        reader._value(shape, data, at)
        return reader.problems

    def _items(self, shape: Items, data: Any, at: At) -> Iterator[Any]:
        if shape.by_name is None:
            yield from (self._value(shape.item, item, (*at, index)) for index, item in enumerate(data))
            self.problems.extend(repeated_problems(shape, data, at, self.environment))
            return
        part = cast("Part", shape.item).spec
        for name, item in data.items():
            for kind in cast("Scalar", fields_of(part)[shape.by_name].shape).kinds:
                if wrong := kind.problem(name, self.environment):
                    self._refused_name((*at, name), unless_taken(wrong, data), name)
            yield self._part_of_name(part, shape.by_name, name, item, (*at, name))

    def _part_of_name(self, spec: type, name_field: str, name: str, data: Any, at: At) -> Any:
        if not isinstance(data, Mapping):
            return self.read(spec, data, at, without=name_field)
        meant = self._unknown_keys(spec, data, at, without=name_field)
        return self._made(spec, data, at, given={name_field: name}, meant=meant)

    def _named(self, shape: Named, data: Mapping[str, Any], at: At) -> Iterator[tuple[str, Any]]:
        for name, value in data.items():
            for kind in shape.names:
                if wrong := kind.problem(name, self.environment):
                    self._refused_name((*at, name), wrong, name)
            yield name, self._value(shape.item, value, (*at, name))

    def _object(self, shape: Object, data: Any, at: At) -> Any:
        if shape.nothing is not None and data == shape.nothing and not isinstance(data, bool):
            return None
        if shape.section is not None:
            return self.read(shape.section.spec, data, at)
        if shape.nothing is not None and is_nothing(data):
            symbol = _SYMBOLS[shape.type.written]
            wrong = self._wrong(f"must be {symbol}", data, at, f"; write {shape.nothing} for none")
            return self._refused(at, wrong)
        stand_in: type[StandIn] = shape.type
        value = self._scalar(stand_in.written, (stand_in.kind,), data, at)
        if isinstance(value, Unknown):
            return value
        return stand_in(value * shape.unit.seconds if shape.unit else value)

    def _scalar(self, wanted: type, kinds: Sequence[Kind], data: Any, at: At) -> Any:
        before = len(self.problems)
        value = self._judged(wanted, kinds, data, at)
        said = self.problems[before:]
        for text, wrong in alone(data) if said and isinstance(data, str) else ():
            del self.problems[before:]
            self._judged(wanted, kinds, plain(wanted, text), at)
            if not self.problems[before:]:
                said = [wrong.at(at)]
                break
        self.problems[before:] = said
        return value

    def _judged(self, wanted: type, kinds: Sequence[Kind], data: Any, at: At) -> Any:
        if issubclass(wanted, Enum):
            return self._member(wanted, data, at)
        fits = isinstance(data, (int, float) if wanted is float else wanted)
        if not fits or (isinstance(data, bool) and wanted is not bool):
            return self._refused(at, self._of_another_type(wanted, kinds, data, at))
        if dummy(data):
            forms = filter(None, (kind.problem(data, NOWHERE) for kind in kinds))
            wrong = next(forms, Flaw("must be a value", got=shown(data)))
            return self._refused(at, replace(wrong, remedy=", which CDK writes until it has looked one up"))
        if secret := secret_problem(data):
            return self._refused(at, Flaw(secret))
        malformed = any(kind.problem(data, NOWHERE) for kind in kinds)
        for wrong in filter(None, (kind.problem(data, self.environment) for kind in kinds)):
            self._refused(at, as_written(wrong, data) if malformed else wrong)
        return Unknown() if malformed else data

    def _of_another_type(self, wanted: type, kinds: Sequence[Kind], data: Any, at: At) -> Flaw:
        """Say what a value must be, and how to write it if it can be that."""
        if wanted is str and at in self.sources:
            return self._in_quotes(kinds, data, at)
        if wanted in {int, float} and is_long(data):
            return self._wrong(f"must be {_SYMBOLS[wanted]}{_LONG}", data, at)
        remedy = plainly(wanted, data, next((step for step in at[::-1] if isinstance(step, str)), ""))
        found = filter(None, (kind.problem(plain(wanted, remedy), NOWHERE) for kind in kinds if remedy))
        if wrong := next(found, None):
            return replace(wrong, got=self._got(data, at))
        choices = [either(map(str, kind.values), all_in=kind.where) for kind in kinds if isinstance(kind, Choice)]
        what = next(iter(choices), f"{_SYMBOLS[wanted]}{counted(kinds)}")
        quoted = isinstance(data, str) and data.strip().lower() == remedy
        hint = f"; write {remedy}{', without quotes' if quoted else ''}" if remedy else ""
        return self._wrong(f"must be {what}", data, at, hint or self._one_of(wanted, kinds, data, at))

    def _one_of(self, wanted: type, kinds: Sequence[Kind], data: Any, at: At) -> str:
        """Return what to do about a list in place of one value."""
        if not isinstance(data, tuple):
            return ""
        item = data[0] if len(data) == 1 else None
        is_right = isinstance(item, str | int | float) and not self._of_item(
            Scalar(type=wanted, kinds=tuple(kinds)), item, at
        )
        return f"; write {in_brackets(item)}" if is_right else "; give one"

    def _in_quotes(self, kinds: Sequence[Kind], data: Any, at: At) -> Flaw:
        """Return what is wrong with text that YAML reads as something else: in quotes it may be of a wrong form."""
        source = self.sources[at]
        wrong = next(filter(None, (kind.problem(source, NOWHERE) for kind in kinds)), None)
        return wrong or self._wrong("must be text", data, at, f'; put it in quotes: "{source}"')

    def _member(self, wanted: type[Enum], data: Any, at: At) -> Any:
        words = spellings(wanted)
        if isinstance(data, str) and data in words:
            return words[data]
        choices, hint = either(words, all_in=ALL_IN), instead(wanted, data) or self._one_of(wanted, (), data, at)
        return self._refused(at, self._wrong(f"must be {choices}", data, at, hint))

    def _unknown_keys(
        self, spec: type, data: Mapping[str, Any], at: At, *, without: str = "", part: Part | None = None
    ) -> AbstractSet[str]:
        """Refuse what is no key, and return what was most likely meant of what the section lacks."""
        known = [name for name in keys_of(spec) if name != without]
        meant: set[str] = set()
        above = ""
        for key in data:
            if key in known:
                above = key if isinstance(data[key], Unknown) else ""
                continue
            if key == without != "":
                text = "is no key here; the name is the key above, leave it out"
                self.problems.append(Problem((*at, key), text, of_key=True))
                continue
            if part is not None and (text := of_the_other(part, spec, key)):
                self.problems.append(Problem((*at, key), text, of_key=True))
                continue
            self.unread.add((*at, key))
            if above and ((*at, above) in self.outdented or has(keys_of(spec)[above].shape, key, data)):
                self.outdented.setdefault((*at, above), []).append((*at, key))
            whole = self.whole or (spec, data)
            hint, named = meaning(key, spec, at if self.whole else (), known=known, whole=whole)
            self.problems.append(Problem((*at, key), f"is no key here{hint}", of_key=True))
            meant |= set(named[:1]) & (set(known) - data.keys())
        return meant

    def _refused(self, at: At, wrong: Flaw, *, of_key: bool = False) -> Any:
        self.problems.append((wrong if self.shows else replace(wrong, got="")).at(at, of_key=of_key))
        return Unknown()

    def _refused_name(self, at: At, wrong: Flaw, name: str) -> None:
        self._refused(at, as_written(wrong, name).as_name(), of_key=True)

    def _wrong(self, must: str, data: Any, at: At, remedy: str = "") -> Flaw:
        wrong = Flaw(must, got=self._got(data, at), remedy=remedy)
        return wrong if remedy or secret_problem(data) else as_written(wrong, data)

    def _got(self, data: Any, at: At) -> str:
        match data:
            case Mapping():
                other = next((key for key in data if len(data) == 1 and INTRINSIC.fullmatch(key)), "")
                return f"{shown(other)} of CloudFormation, in whose place nothing is put" if other else "a mapping"
            case tuple():
                return "a list"
        if secret_problem(data):
            return "a secret"
        return shown(data) if isinstance(data, str | bool) else self.sources.get(at, shown(data))


def _several(shape: Shape) -> type | None:
    """Return what a file has for a shape of several values; None of one value, and of words, which may be any."""
    match shape:
        case Items(by_name=None):
            return None if shape.repeats else tuple
        case Part() | Chosen() | Items() | Named() | Json() | Object(section=Part(), nothing=None):
            return Mapping
    return None
