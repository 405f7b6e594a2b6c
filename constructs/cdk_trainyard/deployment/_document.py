"""YAML text in; plain data, and the place of every key and value, out.

Scalars are read as YAML 1.2's core schema reads them, which is what editors do: ``on``, ``yes``, ``1:30`` and dates are
text. Of numbers that is so of plain ones alone: what is a number to other readers only must be written otherwise.
Aliases and merge keys work; documents that would expand without bound do not.
"""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml

from cdk_trainyard.deployment._loader import MAX_DEPTH, TAG, Dumper, Loader
from cdk_trainyard.deployment._marks import seen
from cdk_trainyard.deployment._other_formats import of_another_format
from cdk_trainyard.deployment._yaml_errors import NO_KEY, explain_yaml
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.options.numbers import NumberElsewhere
from cdk_trainyard.options.otherwise import also_at
from cdk_trainyard.options.signs import WIDE_COLON, after_colon, as_item, wide
from cdk_trainyard.problems import dotted
from cdk_trainyard.tokens import Unknown, looks_like_token

KeyPath = tuple[str | int, ...]
"""Where something stands in the data: ``("cluster", "groups", "worker-group-1", "count")``."""

_MAX_VALUES: Final = 20_000
_MOST_DIGITS: Final = sys.int_info.default_max_str_digits
_TOO_MANY_DIGITS: Final = re.compile(rf"(?<![0-9])[0-9]{{{_MOST_DIGITS + 1}}}")
"""What Python makes no number of, wherever a rule asks for one."""
_MERGE: Final = f"{TAG}merge"
_WITHOUT_A_TAG: Final = "write the value itself, and text that begins with '!' in quotes"
_TAGS: Final = {
    r"!include.*": "files are not included, write what is in it",
    r"!(Ref|Sub|GetAtt|ImportValue|Join|Select|Split|FindInMap|If|Base64|GetAZs|Cidr|Transform)": (
        "write what the function of CloudFormation would give"
    ),
}
_NO_TEMPLATE: Final = "nothing is put in its place, write the value itself"
_UNTIL_KNOWN: Final = "an app of CDK writes this until it knows one"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Place:
    """A position in the file, counted from one, as editors count."""

    line: int
    column: int


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Problem:
    """One sentence about one place, and the path of its key where it is about one."""

    place: Place
    text: str
    at: KeyPath = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A YAML mapping that remembers where it was written.

    Attributes:
        file: What the file is called in messages.
        data: What it says; unknown is what has no value.
        keys: The place of every key.
        values: The place of every value.
        sources: Every scalar as it is written.
        aliases: The place of every alias, by the path that it gives a value.
        problems: What YAML itself lets pass: keys given twice, keys without a value, values that no deployment has.
        reported: The paths that those problems are about.
        empty: Those keys that have nothing behind them, and lines below them.
    """

    file: str
    data: Mapping[str, Any]
    keys: Mapping[KeyPath, Place]
    values: Mapping[KeyPath, Place]
    sources: Mapping[KeyPath, str]
    aliases: Mapping[KeyPath, Place]
    problems: tuple[Problem, ...]
    reported: frozenset[KeyPath]
    empty: frozenset[KeyPath]

    def also_at(self, moved: Mapping[KeyPath, KeyPath]) -> "Document":
        """Return the document with what stands at paths at others as well.

        Args:
            moved: The other path of something → the one that it has, once what is around it has been moved.
        """
        document = replace(
            self,
            keys={**self.keys, **also_at(moved, self.keys)},
            values={**self.values, **also_at(moved, self.values)},
            sources={**self.sources, **also_at(moved, self.sources)},
            aliases={**self.aliases, **also_at(moved, self.aliases)},
            reported=self.reported | also_at(moved, dict.fromkeys(self.reported)).keys(),
            empty=self.empty | also_at(moved, dict.fromkeys(self.empty)).keys(),
        )
        of_items = {new: document.place(old) for new, old in moved.items()}
        return replace(document, keys={**of_items, **document.keys})

    def place(self, path: KeyPath) -> Place:
        """Return the place of the value at ``path``, or of the nearest thing around it that the file has.

        A scalar's place is its own, and so is that of an item of a list; a section's is its key, where a reader looks
        for what the section lacks.
        """
        while path:
            if path in self.sources or (isinstance(path[-1], int) and path in self.values):
                return self.values[path]
            if path in self.keys:
                return self.keys[path]
            path = path[:-1]
        return Place(line=1, column=1)

    def used(self, path: KeyPath) -> Place:
        """Return the place of the alias that gives ``path`` what stands at its place; without one, the place itself."""
        around = (path[:end] for end in range(len(path), 0, -1))
        alias, place = next((each for each in around if each in self.aliases), None), self.place(path)
        return self.aliases[alias] if alias and place != self.keys.get(alias) else place

    def at(self, path: KeyPath) -> str:
        """Return ``file:line:column`` of ``path``."""
        return self.mark(self.place(path))

    def mark(self, place: Place) -> str:
        """Return ``file:line:column`` of ``place``."""
        return f"{self.file}:{place.line}:{place.column}"

    def error(self, problems: Iterable[Problem]) -> ConfigurationError:
        """Return one error with every problem, in the order of the lines."""
        lines = dict.fromkeys(f"{self.mark(problem.place)}: {problem.text}" for problem in sorted(problems))
        return ConfigurationError(self.file, list(lines))

    def refuse(self, problems: Collection[Problem]) -> None:
        """Raise one error with every problem, or do nothing when there is none."""
        if problems:
            raise self.error(problems)


def write_document(data: Mapping[str, Any]) -> str:
    """Return data as YAML that reads back to the same."""
    return yaml.dump(data, Dumper=Dumper, sort_keys=False)


def read_document(text: str, file: str) -> Document:
    """Read one YAML mapping.

    Args:
        text: The file's text.
        file: What to call the file in messages.

    Returns:
        The data with its places, and the problems that YAML itself would let pass: a key given twice, a key without a
        value, a value of a kind that a deployment never has.

    Raises:
        ConfigurationError: It is not YAML, not one mapping, or nests or expands beyond all measure.
    """
    root, aliases = _compose(text, file)
    if root is None or root.tag == f"{TAG}null":
        raise ConfigurationError(file, ["the file is empty; a deployment has at least 'name', 'region' and 'network'"])
    if isinstance(root, yaml.ScalarNode) and (answer := of_another_format(text)):
        raise _stop(file, *answer)
    if not isinstance(root, yaml.MappingNode):
        kind = "a list" if isinstance(root, yaml.SequenceNode) else f"the text {_short(root.value)}"
        raise ConfigurationError(file, [f"the file must be a mapping ('name: …', 'region: …'), got {kind}"])
    reader = _Reader(file, aliases)
    data = reader.mapping(root, ())
    return Document(
        file=file,
        data=data,
        keys=reader.keys,
        values=reader.values,
        sources=reader.sources,
        aliases=reader.aliases,
        problems=tuple(reader.problems),
        reported=frozenset(reader.reported),
        empty=frozenset(reader.empty),
    )


def _compose(text: str, file: str) -> tuple[yaml.Node | None, Mapping[object, yaml.Mark]]:
    try:
        loader = Loader(text)
        try:
            node: yaml.Node | None = loader.get_single_node()
        except (ValueError, OverflowError) as error:  # what PyYAML lets out for an escape or version beyond all range
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=loader.get_mark()) from None
    except yaml.YAMLError as error:
        raise _stop(file, *explain_yaml(error, text)) from None
    return node, loader.aliases


def _stop(file: str, place: tuple[int, int], text: str) -> ConfigurationError:
    return ConfigurationError(file, [f"{file}:{place[0]}:{place[1]}: {text}"])


def _short(source: str) -> str:
    text = source if len(source) <= 60 else f"{source[:57]}…"  # noqa: PLR2004  a line's worth
    return repr(text)


def _template(node: yaml.Node) -> str:
    """Return what a program would put a value in place of; nothing where a node is no such thing."""
    source = str(node.start_mark.buffer)[node.start_mark.pointer : node.end_mark.pointer]
    return source if source.startswith("{{") and source.endswith("}}") else ""


def _at(mark: yaml.Mark) -> Place:
    mark = seen(mark)
    return Place(line=mark.line + 1, column=mark.column + 1)


def _is_keyless(key: yaml.ScalarNode, value: yaml.Node) -> bool:
    """Say whether a plain key in brackets, without a ':' behind it, is one with its value, or a comment."""
    behind = str(key.end_mark.buffer)[key.end_mark.pointer : value.start_mark.pointer]
    keyless = re.match(rf"//|/\*|[\w.-]+\s*(?:[:=].|{WIDE_COLON})", key.value)
    return key.style is None and ":" not in behind and keyless is not None


OR_REMOVE: Final = ", or remove the key"
"""What else is said of a key without a value; where it is needed, it is not."""


class _Reader:
    """Walks the nodes once; aliases are walked at each use, so that every path has its value."""

    def __init__(self, file: str, marks: Mapping[object, yaml.Mark]) -> None:
        self.file = file
        self.marks = marks
        self.aliases: dict[KeyPath, Place] = {}
        self.keys: dict[KeyPath, Place] = {}
        self.values: dict[KeyPath, Place] = {}
        self.sources: dict[KeyPath, str] = {}
        self.problems: list[Problem] = []
        self.reported: set[KeyPath] = set()
        self.empty: set[KeyPath] = set()

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, key_node, value_node in self._entries(node, path):
            child = (*path, key)
            self.keys[child] = _at(key_node.start_mark)
            self._alias(child, key_node)
            if _is_keyless(key_node, value_node):
                self._keyless(key_node, path, data)
            elif value_node.tag == f"{TAG}null":
                self._report(child, value_node, f"'{dotted(child)}' has no value; write one{OR_REMOVE}")
                data[key] = Unknown()
                self.empty |= {child} if not (node.flow_style or value_node.value) else set()
            else:
                data[key] = self._value(value_node, child)
        return data

    def _alias(self, path: KeyPath, of: object) -> None:
        if (mark := self.marks.get(of)) is not None:
            self.aliases[path] = _at(mark)

    def _keyless(self, node: yaml.Node, path: KeyPath, data: dict[str, Any]) -> None:
        """Answer a key that has its value in it, which nobody knows."""
        if node.value.startswith(("//", "/*")):  # it goes on to the next sign, whatever stands between
            raise self._stop(node, f"a comment begins with '#', got '{node.value[:2]}'; write '# …'")
        key, sign, _ = re.split(rf"\s*([:={WIDE_COLON}])", node.value, maxsplit=1)
        self.keys.setdefault((*path, key), _at(node.start_mark))
        data.setdefault(key, Unknown())
        said = f"{NO_KEY}, got {_short(node.value)}{f': {wide(sign)}' if sign == WIDE_COLON else ''}"
        blank = after_colon(node.value)
        self._problem(node, blank[1] if blank else said, path)

    def _value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.values[path] = _at(node.start_mark)
        if len(self.values) > _MAX_VALUES:
            raise self._stop(node, f"aliases expand the file to more than {_MAX_VALUES} values; write them out")
        if len(path) > MAX_DEPTH:
            raise self._stop(node, "an alias stands inside its own anchor; write the values out")
        if isinstance(node, yaml.CollectionNode) and not re.fullmatch(f"{TAG}(map|seq)", node.tag):
            return self._tagged(node, path)
        if isinstance(node, yaml.MappingNode):
            if template := _template(node):
                text = f"'{dotted(path)}' must be a value, got {_short(template)}; {_NO_TEMPLATE}"
                self._report(path, node, text)
                return Unknown()
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return self._sequence(node, path)
        self.sources[path] = node.value
        if looks_like_token(node.value):
            self._report(path, node, f"'{dotted(path)}' must be a value, got {_short(node.value)}: {_UNTIL_KNOWN}")
        if _TOO_MANY_DIGITS.search(node.value):
            text = f"must have at most {_MOST_DIGITS} digits in a row, got {_short(node.value)}"
            self._report(path, node, f"'{dotted(path)}' {text}")
            return Unknown()
        return self._scalar(node, path)

    def _sequence(self, node: yaml.SequenceNode, path: KeyPath) -> tuple[Any, ...]:
        items: list[Any] = []
        for index, item in enumerate(node.value):
            self._alias((*path, index), (node, index))
            if item.tag == f"{TAG}null":
                self._report((*path, index), item, f"'{dotted((*path, index))}' has no value; write one")
                items.append(Unknown())
            else:
                items.append(self._value(item, (*path, index)))
        return tuple(items)

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        kind = str(node.tag).removeprefix(TAG)
        try:
            match kind:
                case "bool":
                    return {"true": True, "false": False}[node.value.lower()]
                case "int":
                    return int(node.value)
                case "float":
                    return float(node.value)
                case "elsewhere":
                    return NumberElsewhere(node.value)
                case "str" | "merge":
                    return str(node.value)
        except (KeyError, ValueError):
            pass
        return self._tagged(node, path)

    def _tagged(self, node: yaml.Node, path: KeyPath) -> Unknown:
        tag = node.tag.replace(TAG, "!!")
        remedy = next((text for form, text in _TAGS.items() if re.fullmatch(form, tag)), _WITHOUT_A_TAG)
        text = f"must be a value without a tag, got {tag}; {remedy}"
        self._report(path, node, f"'{dotted(path)}' {text}")
        return Unknown()

    def _entries(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[str, yaml.ScalarNode, yaml.Node]]:
        """Yield a mapping's entries, its own before merged ones, each key once."""
        seen: dict[str, yaml.Node] = {}
        merged: list[yaml.MappingNode] = []
        merges: list[yaml.Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                merged += self._merged(value_node)
                merges.append(key_node)
            elif not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, "a key must be plain text; put a value that begins with '{' or '[' in quotes")
            elif looks_like_token(key_node.value):
                self._problem(key_node, f"a key must be plain text, got {_short(key_node.value)}: {_UNTIL_KNOWN}")
            elif key_node.value in seen:
                first, key = _at(seen[key_node.value].start_mark).line, _short(key_node.value)
                remedy = "begin items of a list with '- '" if as_item(key_node.value) else "remove one"
                self._report(path, key_node, f"{key} is given twice, first in line {first}; {remedy}")
            else:
                seen[key_node.value] = key_node
                yield key_node.value, key_node, value_node
        for key_node in merges[1:]:
            first = _at(merges[0].start_mark).line
            self._problem(key_node, f"'<<' is given twice, first in line {first}; write one, as '<<: [*one, *other]'")
        for other in merged:
            for key_node, value_node in other.value:
                if isinstance(key_node, yaml.ScalarNode) and key_node.tag != _MERGE and key_node.value not in seen:
                    seen[key_node.value] = key_node
                    yield key_node.value, key_node, value_node

    def _merged(self, node: yaml.Node) -> list[yaml.MappingNode]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if all(isinstance(each, yaml.MappingNode) for each in nodes):
            return list(nodes)
        self._problem(node, "'<<' must be an alias of a mapping, as '<<: *common'")
        return []

    def _report(self, path: KeyPath, node: yaml.Node, text: str) -> None:
        self.reported.add(path)
        self._problem(node, text, path)

    def _problem(self, node: yaml.Node, text: str, path: KeyPath = ()) -> None:
        self.problems.append(Problem(place=_at(node.start_mark), text=text, at=path))

    def _stop(self, node: yaml.Node, text: str) -> ConfigurationError:
        place = _at(node.start_mark)
        return _stop(self.file, (place.line, place.column), text)
