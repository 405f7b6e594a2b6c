"""Values of templates with their references resolved: within a stack, across stacks, and into nested ones.

A resolved value is plain data. Where it has something that exists at deployment only, its strings hold marks:
`said` writes them for people, `references` lists them, and `stand_in` puts an ARN or a name in their place.
Source: AWS CloudFormation User Guide, "Intrinsic function reference" and "Pseudo parameters reference", read 2026-11.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.report.assembly import Assembly, Resource, Stack
from cdk_trainyard.report.nested import at

_OPEN, _CLOSE, _OF = "\ue000", "\ue001", "\ue002"
_MARK: Final = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}{_OF}]*){_OF}?([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_VARIABLE: Final = re.compile(r"\$\{(!?)([^{}]*)\}")
_NOTHING: Final = object()
_PLAIN: Final = {"", "Arn", "GroupId", "RoleArn", "Id"}
_PAIR: Final = 2


@dataclass(frozen=True, slots=True)
class Reference:
    """What a value refers to.

    Attributes:
        key: A resource's key, or what is known at deployment only (``AWS::AccountId``, a parameter).
        attribute: The attribute of `Fn::GetAtt`. Nothing: `Ref`.
    """

    key: str
    attribute: str


def references(value: Any) -> list[Reference]:
    """Return what a resolved value refers to, in its order, each once.

    Args:
        value: The value.
    """
    return list(dict.fromkeys(Reference(*found.groups()) for text in strings(value) for found in _MARK.finditer(text)))


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a value, names of keys left out.

    Args:
        value: The value.
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting += reversed([*each.values()])
        elif isinstance(each, list):
            waiting += reversed(each)


class Graph:
    """The resources of an assembly, and their properties resolved."""

    def __init__(self, assembly: Assembly) -> None:
        """Take an assembly.

        Args:
            assembly: The assembly.
        """
        self.assembly = assembly
        self.resources = assembly.resources
        self._stacks = {stack.id: stack for stack in assembly.stacks}
        self._exports: dict[str, tuple[Stack, Any]] = {}
        self._known: dict[str, Any] = {}
        self._open: set[tuple[str, ...]] = set()
        for stack in assembly.stacks:
            for output in _outputs(stack).values():
                name = self.value(at(output, "Export", "Name"), stack)
                if isinstance(name, str):
                    self._exports[name] = (stack, at(output, "Value"))

    def properties(self, resource: Resource) -> dict[str, Any]:
        """Return a resource's properties, resolved.

        Args:
            resource: The resource.
        """
        if resource.key not in self._known:
            self._known[resource.key] = self.value(dict(resource.properties), self._stacks[resource.stack])
        found: dict[str, Any] = self._known[resource.key]
        return found if isinstance(found, dict) else {}

    def of_type(self, *types: str) -> list[Resource]:
        """Return the resources of some types, in the order of the assembly.

        Args:
            types: The types.
        """
        return [each for each in self.resources.values() if each.type in types]

    def targets(self, value: Any, *types: str) -> list[Resource]:
        """Return the resources that a resolved value refers to.

        Args:
            value: The value.
            types: The types that count. Default - every type.
        """
        found = [self.resources[each.key] for each in references(value) if each.key in self.resources]
        return list({each.key: each for each in found if not types or each.type in types}.values())

    def said(self, value: Any) -> str:
        """Return a resolved value for people.

        Args:
            value: The value.
        """
        if isinstance(value, str):
            return _MARK.sub(self._said, value)
        if isinstance(value, list):
            return ", ".join(map(self.said, value))
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {self.said(inner)}" for name, inner in value.items())
        return str(value)

    def _said(self, found: re.Match[str]) -> str:
        key, attribute = found.groups()
        if key not in self.resources:
            return f"<{key}>"
        return self.resources[key].path + (f".{attribute}" if attribute not in _PLAIN else "")

    def region(self, resource: Resource) -> str:
        """Return the Region of a resource; nothing where the assembly does not say.

        Args:
            resource: The resource.
        """
        return self._stacks[resource.stack].region

    def value(self, raw: Any, stack: Stack) -> Any:
        """Return a value of a stack's template, resolved.

        Args:
            raw: The value, as the template has it.
            stack: The stack.
        """
        found = self._value(raw, stack)
        return None if found is _NOTHING else found

    def _value(self, raw: Any, stack: Stack) -> Any:
        if isinstance(raw, str):
            return _MARK.sub("", raw) if _OPEN in raw else raw
        if isinstance(raw, list):
            found = [inner for each in raw for inner in self._items(each, stack)]
            return [each for each in found if each is not _NOTHING]
        if not isinstance(raw, Mapping):
            return raw
        if len(raw) == 1:
            ((name, argument),) = raw.items()
            if function := _FUNCTIONS.get(name):
                return function(self, argument, stack)
            if isinstance(name, str) and name.startswith("Fn::"):
                return _mark(name)
        pairs = ((str(name), self._value(each, stack)) for name, each in raw.items())
        return {name: each for name, each in pairs if each is not _NOTHING}

    def _items(self, raw: Any, stack: Stack) -> list[Any]:
        """Return what an item of a list is; of `Fn::If`, which nobody can decide here, both branches."""
        if isinstance(raw, Mapping) and [*raw] == ["Fn::If"] and isinstance(raw["Fn::If"], list):
            branches = [self._value(each, stack) for each in raw["Fn::If"][1:]]
            return [inner for each in branches for inner in (each if isinstance(each, list) else [each])]
        return [self._value(raw, stack)]

    def ref(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Ref`."""
        name = str(argument)
        if name == "AWS::NoValue":
            return _NOTHING
        if name in stack.resources:
            return _mark(f"{stack.id}/{name}")
        if name.startswith("AWS::"):
            return _pseudo(name, stack)
        return self._parameter(name, stack)

    def _parameter(self, name: str, stack: Stack) -> Any:
        if stack.parent is not None:
            given = at(stack.parent.properties, "Parameters", name)
            if given is not None:
                owner = self._stacks[stack.parent.stack]
                return self._once(("parameter", stack.id, name), lambda: self._value(given, owner))
        declared = at(stack.template.get("Parameters"), name)
        kind, default = str(at(declared, "Type") or ""), at(declared, "Default")
        if default is None or kind.startswith("AWS::SSM"):
            return _mark(f"parameter {name}")
        text = str(default)
        return text.split(",") if kind == "CommaDelimitedList" or kind.startswith("List<") else text

    def get_attribute(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::GetAtt`."""
        parts = argument.split(".", 1) if isinstance(argument, str) else argument
        if not isinstance(parts, list) or len(parts) != _PAIR:
            return _mark("Fn::GetAtt")
        name, attribute = str(parts[0]), parts[1] if isinstance(parts[1], str) else "?"
        nested = self._stacks.get(f"{stack.id}/{name}")
        if nested is not None and attribute.startswith("Outputs."):
            output = at(_outputs(nested).get(attribute.removeprefix("Outputs.")), "Value")
            return self._once(("output", nested.id, attribute), lambda: self._value(output, nested))
        return _mark(f"{stack.id}/{name}", attribute) if name in stack.resources else _mark(name, attribute)

    def import_value(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::ImportValue`."""
        name = self._value(argument, stack)
        if not isinstance(name, str) or name not in self._exports:
            return _mark(f"import {self.said(name)}")
        owner, exported = self._exports[name]
        return self._once(("export", name), lambda: self._value(exported, owner))

    def _once(self, place: tuple[str, ...], resolve: Callable[[], Any]) -> Any:
        """Resolve a value of another place; what refers to itself is not known."""
        if place in self._open:
            return _mark("a circle of references")
        self._open.add(place)
        try:
            return resolve()
        finally:
            self._open.discard(place)

    def sub(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::Sub`."""
        text, given = (argument, {}) if isinstance(argument, str) else (_nth(argument, 0), _nth(argument, 1))
        if not isinstance(text, str):
            return _mark("Fn::Sub")
        values = given if isinstance(given, Mapping) else {}

        def replacement(found: re.Match[str]) -> str:
            literal, name = found.groups()
            if literal:
                return f"${{{name}}}"
            if name in values:
                return self._text(self._value(values[name], stack))
            return self._text(self.get_attribute(name, stack) if "." in name else self.ref(name, stack))

        return _VARIABLE.sub(replacement, text)

    def join(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::Join`."""
        separator, parts = _nth(argument, 0), self._value(_nth(argument, 1), stack)
        if not isinstance(separator, str) or not isinstance(parts, list):
            return _mark("Fn::Join") if not isinstance(parts, str) else parts
        return separator.join(map(self._text, parts))

    def _text(self, value: Any) -> str:
        if value is _NOTHING or value is None:
            return ""
        return value if isinstance(value, str) else ",".join(strings(value))

    def select(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::Select`."""
        index, parts = self._value(_nth(argument, 0), stack), self._value(_nth(argument, 1), stack)
        try:
            return parts[int(index)] if isinstance(parts, list) else parts
        except (IndexError, TypeError, ValueError):
            return _mark("Fn::Select")

    def split(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::Split`; of what is known at deployment only, the parts are not known."""
        separator, text = _nth(argument, 0), self._value(_nth(argument, 1), stack)
        if isinstance(separator, str) and separator and isinstance(text, str) and not _MARK.search(text):
            return text.split(separator)
        return text

    def choose(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::If`: the first branch that is something, since conditions are decided at deployment."""
        branches = argument[1:] if isinstance(argument, list) else []
        found = [self._value(each, stack) for each in branches]
        return next((each for each in found if each is not _NOTHING), _NOTHING)

    def find_in_map(self, argument: Any, stack: Stack) -> Any:
        """Resolve `Fn::FindInMap`."""
        keys = [self._value(each, stack) for each in argument[:3]] if isinstance(argument, list) else []
        found = at(stack.template.get("Mappings"), *map(str, keys)) if keys else None
        return _mark("Fn::FindInMap") if found is None else found

    def inner(self, argument: Any, stack: Stack) -> Any:
        """Resolve what wraps a value only: `Fn::Base64`, `Fn::ToJsonString`."""
        return self._value(argument, stack)


_FUNCTIONS: Final[Mapping[str, Callable[[Graph, Any, Stack], Any]]] = {
    "Ref": Graph.ref,
    "Fn::Base64": Graph.inner,
    "Fn::FindInMap": Graph.find_in_map,
    "Fn::GetAtt": Graph.get_attribute,
    "Fn::If": Graph.choose,
    "Fn::ImportValue": Graph.import_value,
    "Fn::Join": Graph.join,
    "Fn::Select": Graph.select,
    "Fn::Split": Graph.split,
    "Fn::Sub": Graph.sub,
    "Fn::ToJsonString": Graph.inner,
}


def replace_marks(text: str, name: Callable[[str, str], str]) -> str:
    """Return a resolved string with something in place of each mark.

    Args:
        text: The string.
        name: From a key and an attribute to what stands there.
    """
    return _MARK.sub(lambda found: name(*found.groups()), text)


def partition_of(region: str) -> str:
    """Return a Region's partition.

    Args:
        region: The Region; where it is not known, the partition is ``aws``.
    """
    return Environment(region=region).partition or "aws"


def _pseudo(name: str, stack: Stack) -> str:
    known = {
        "AWS::AccountId": stack.account,
        "AWS::Partition": partition_of(stack.region),
        "AWS::Region": stack.region,
        "AWS::StackName": stack.name,
        "AWS::URLSuffix": Environment(region=stack.region).suffix,
    }.get(name)
    return known or _mark(name)


def _mark(key: str, attribute: str = "") -> str:
    return f"{_OPEN}{key}{_OF}{attribute}{_CLOSE}"


def _nth(value: Any, index: int) -> Any:
    return value[index] if isinstance(value, list) and len(value) > index else None


def _outputs(stack: Stack) -> Mapping[str, Any]:
    found = stack.template.get("Outputs")
    return found if isinstance(found, Mapping) else {}
