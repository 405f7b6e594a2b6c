"""Plain data of a file in; a specification out, and every problem of its form.

What has a wrong form is answered here, once, and stands in the specification as unknown: rules find nothing wrong with
it, and judge everything else.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
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
from cdk_trainyard.options.flow import is_mapping, items_of, unquoted
from cdk_trainyard.options.json_objects import is_unknown, json_object
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.otherwise import are_repeated, otherwise, steps_in, too_deep
from cdk_trainyard.options.remedies import (
    as_written,
    assigned,
    is_nothing,
    left_out,
    lines,
    section_of,
    switched_on,
    unless_taken,
)
from cdk_trainyard.options.repeated import repeated_problems
from cdk_trainyard.options.signs import unlike_items
from cdk_trainyard.options.unknown_keys import LISTED, instead_of, meaning
from cdk_trainyard.options.values import Values
from cdk_trainyard.problems import At, Flaw, Problem
from cdk_trainyard.tokens import Unknown

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
        missing: The sections that are not there, and of which it is said what they need.
        unneeded: Those of which rules alone say what they need.
        outdented: Sections without a value, and the keys of their own that stand beside them.
        nothing: What stands for none where a key has no value, and none is something that the file can say.
        needed: Where a value is missing that their section cannot do without.
        unquoted: Texts that lack their quotes alone, and stand in the specification as if they had them.
        moved: Where items stand that should be elsewhere: the path that they should have → the one that they have.
        whole: What the file is, and what it says, where keys of other sections are looked for. None: in this one alone.
    """

    environment: Environment
    sources: dict[At, str] = field(default_factory=dict)
    whole: tuple[type, Mapping[str, Any]] | None = None
    problems: list[Problem] = field(default_factory=list)
    unread: set[At] = field(default_factory=set)
    meant: set[At] = field(default_factory=set)
    missing: set[At] = field(default_factory=set)
    unneeded: set[At] = field(default_factory=set)
    outdented: dict[At, list[At]] = field(default_factory=dict)
    nothing: dict[At, str] = field(default_factory=dict)
    needed: set[At] = field(default_factory=set)
    unquoted: set[At] = field(default_factory=set)
    moved: dict[At, At] = field(default_factory=dict)

    @property
    def _values(self) -> Values:
        return Values(environment=self.environment, sources=self.sources)

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
            said = self._values.meant(spec, data)
            if not said and part is not None and part.existing and (said := self._values.meant(part.existing, data)):
                spec = part.existing
            keys = [*dict.fromkeys([*said, *(required_keys(spec) if said else first_keys(spec, without=without))])]
            must = f"must be a mapping ({lines([key for key in keys if key != without], said)} on lines below it)"
            if remedy := unquoted(data) if is_mapping(data) else section_of(spec, data, without=without):
                must = "must be a mapping"
            elif isinstance(data, tuple) and (instead := instead_of(LISTED, spec)):
                remedy = f"; {instead}"
            elif isinstance(data, tuple) and data and all(isinstance(item, Mapping) for item in data):
                remedy = "; write one mapping, without '- '"
            return self._refused(at, self._values.flaw(must, data, at, remedy))
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
        (self.missing if needed else self.unneeded).update([at] if spec else [])
        return Reader(environment=self.environment).read(spec, {}, at) if spec else Unknown()

    def _option(self, spec: type, option: Field, data: Mapping[str, Any], at: At) -> Any:
        shape, value = option.shape, data[str(option.key)]
        self.needed.update([at] if option.required and isinstance(value, Unknown) else [])
        several = None if option.required or not is_nothing(value) else _several(shape)
        beside = shape.key if isinstance(shape, Chosen) and shape.key in data else ""
        remedy = left_out(spec, option, beside=beside) if several and not isinstance(value, several) else ""
        if remedy:
            what = "a list" if several is tuple else "a mapping"
            return self._refused(at, self._values.flaw(f"must be {what}", value, at, remedy))
        chosen = part_chosen(shape, data) if isinstance(shape, Chosen) else shape
        if (
            not option.required
            and isinstance(chosen, Part)
            and (remedy := switched_on(spec, option, chosen.spec, value))
        ):
            return self._refused(at, self._values.flaw("must be a mapping", value, at, remedy))
        if chosen and isinstance(value, Mapping):
            value = self._items_alone(spec, chosen, value, at)
        return self._value(chosen, value, at) if chosen else Unknown()

    def _items_alone(self, spec: type, shape: Shape, data: Mapping[str, Any], at: At) -> Any:
        """Return a section without keys that stand one level too deep in it, in place of names, which are answered."""
        keys = too_deep(spec, shape, data, at)
        answers = {key: f": it belongs in {where}" for key, where in keys.items()} | self._no_names(shape, data, at)
        for key, answer in answers.items():
            self._refused((*at, key), Flaw(f"is a key, and no name here{answer}"), of_key=True)
        left = {key: value for key, value in data.items() if key not in answers}
        return left if left or not answers else Unknown()

    def _no_names(self, shape: Shape, data: Mapping[str, Any], at: At) -> dict[str, str]:
        """Return what to do about keys in place of names that are words of other tools for something in an item."""
        if not isinstance(shape, Items) or shape.by_name is None or self.whole is None:
            return {}
        spec, whole = cast("Part", shape.item).spec, self.whole
        words = [
            key for key, value in data.items() if not isinstance(value, Mapping | Unknown) and instead_of(key, spec)
        ]
        return {key: meaning(key, spec, at, known=keys_of(spec), whole=whole, value=data[key])[0] for key in words}

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
            case Object(section=Part(spec=spec), nothing=nothing) if nothing is None or data != nothing:
                return self.read(spec, data, at)
            case Scalar() | Object():
                value, found = self._values.value(shape, data, at)
                self.problems.extend(wrong.at(at) for wrong in found)
                self.unquoted.update([at] if isinstance(value, str) and type(data) is not str else [])
                return value
            case Part():
                return self.read(section_spec(shape, data if isinstance(data, Mapping) else {}), data, at, part=shape)
            case Items():
                fits = self._fits(shape, data, at)
                return tuple(self._items(shape, data, at)) if fits else self._otherwise(shape, data, at)
            case Named():
                return dict(self._named(shape, data, at)) if self._fits(shape, data, at) else Unknown()
            case Json():
                if not self._fits(shape, data, at) or is_unknown(data):
                    return Unknown()
                self.problems.extend(wrong.at(inner) for inner, wrong in self._values.numbers_elsewhere(data, at))
                return json_object(data)

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
        if is_mapping(data):
            self._refused(at, self._values.flaw("must be a mapping", data, at, unquoted(data)))
            return False
        found = otherwise(shape, data, at, self.sources) if isinstance(shape, Items) else []
        listed = [item for item in data if isinstance(item, str)] if isinstance(data, tuple) else []
        said = assigned(listed)
        names = [*said] or [*filter(None, (name for name, _, _ in found)), *listed, "a name"][:1]
        each = "give each a name of its own, as its key" if are_repeated(found) else "write each one's name as its key"
        remedy = f"; {each}" if found else ""
        self._refused(
            at, self._values.flaw(f"must be a mapping ({lines(names, said)} on lines below it)", data, at, remedy)
        )
        return False

    def _otherwise(self, shape: Items, data: Any, at: At) -> Any:
        """Read items that stand in another form than they must, which is answered; what is in them may be wrong too."""
        found = otherwise(shape, data, at, self.sources)
        named = shape.by_name is not None and not are_repeated(found)
        items = {name if named and name is not None else index: item for index, (name, _, item) in enumerate(found)}
        for index, (step, (name, steps, item)) in enumerate(zip(items, found, strict=True)):
            self.moved[*at, step] = (*at, *steps)
            said = data[index].get(name) if isinstance(data, tuple) else None
            if name is not None and isinstance(said, Unknown):  # what it has stands beside it
                self.outdented[*at, *steps, name] = [(*at, *steps, key) for key in item]
            for inner in steps_in(item):
                if (source := self.sources.get((*at, *steps, *inner))) is not None:
                    self.sources[*at, step, *inner] = source
        if shape.by_name is None:
            return tuple(self._items(shape, tuple(items.values()), at)) if found else Unknown()
        if found and all(isinstance(step, str) for step in items):
            return tuple(self._items(shape, items, at))
        for step, item in items.items():  # rules know items by their names
            self._part_of_name(cast("Part", shape.item).spec, shape.by_name, "", item, (*at, step))
        return Unknown()

    def _no_list(self, shape: Items, data: Any, at: At) -> Flaw:
        """Say of what stands where a list must how to write it as one."""
        item = shape.item
        if isinstance(item, Scalar) or (isinstance(item, Object) and item.section is None):
            return self._values.no_list(item, data, at, is_command=shape.repeats)
        if items_of(data):
            return self._values.flaw("must be a list of mappings", data, at, unquoted(data))
        own = next(iter(data), "a name") if isinstance(data, Mapping) else "a name"
        section = item.section if isinstance(item, Object) else item
        first, *more = first_keys(section.spec) if isinstance(section, Part) else [own]
        below = f", below it {lines(more)}" if more else ""
        return self._values.flaw("must be a list of mappings", data, at, f"; begin each with '- {first}: …'{below}")

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
            unknown = self.read(spec, data, at, without=name_field)
            setattr(unknown, name_field, name)  # which may be wrong too
            return unknown
        meant = self._unknown_keys(spec, data, at, without=name_field)
        return self._made(spec, data, at, given={name_field: name}, meant=meant)

    def _named(self, shape: Named, data: Mapping[str, Any], at: At) -> Iterator[tuple[str, Any]]:
        for name, value in data.items():
            for kind in shape.names:
                if wrong := kind.problem(name, self.environment):
                    self._refused_name((*at, name), wrong, name)
            yield name, self._value(shape.item, value, (*at, name))

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
            beside = at if self.whole else ()
            hint, named = meaning(key, spec, beside, known=known, whole=whole, value=data[key], given=data)
            self.problems.append(Problem((*at, key), f"is no key here{hint}", of_key=True))
            meant |= set(named[:1]) & (set(known) - data.keys())
        return meant

    def _refused(self, at: At, wrong: Flaw, *, of_key: bool = False) -> Any:
        self.problems.append(wrong.at(at, of_key=of_key))
        return Unknown()

    def _refused_name(self, at: At, wrong: Flaw, name: str) -> None:
        self._refused(at, as_written(wrong, name).as_name(), of_key=True)


def _several(shape: Shape) -> type | None:
    """Return what a file has for a shape of several values; None of one value, and of words, which may be any."""
    match shape:
        case Items(by_name=None):
            return None if shape.repeats else tuple
        case Part() | Chosen() | Items() | Named() | Json() | Object(section=Part(), nothing=None):
            return Mapping
    return None
