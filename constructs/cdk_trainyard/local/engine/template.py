"""A CloudFormation template: reading it, and the order in which its resources depend on one another."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from cdk_trainyard.local.errors import validation_error

_SUB = re.compile(r"\$\{([^!}][^}]*)\}")
_EMULATED_TRANSFORMS = frozenset({"AWS::LanguageExtensions"})


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template.

    Attributes:
        text: As it was sent; ``GetTemplate`` returns it.
        body: Its content, with short tags (``!Ref``) written out.
    """

    text: str
    body: dict[str, Any]

    def section(self, name: str) -> dict[str, Any]:
        """Return the section ``name`` (``Resources``, ``Outputs`` …), empty when there is none."""
        return self.body.get(name) or {}

    @property
    def resources(self) -> dict[str, Any]:
        """The declared resources by logical id."""
        return self.section("Resources")


EMPTY = Template(text="{}", body={})


class _Loader(yaml.SafeLoader):
    """YAML as CloudFormation reads it: short tags are functions, and a date is a string."""


def _short_tag(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]  # the third kind of node
    if suffix in ("Ref", "Condition"):
        return {suffix: value}
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {f"Fn::{suffix}": value}


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_multi_constructor("!", _short_tag)


def parse(text: str) -> Template:
    """Read a template written in JSON or YAML.

    Raises:
        ApiError: It is neither, has no resources, or wants a transform that is not emulated.
    """
    try:
        body = json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, Loader=_Loader)  # noqa: S506
    except (ValueError, yaml.YAMLError) as error:
        raise validation_error(f"Template format error: {error}") from error
    if not isinstance(body, dict):
        raise validation_error("Template format error: unsupported structure.")
    if not body.get("Resources"):
        raise validation_error("Template format error: At least one Resources member must be defined.")
    wanted = body.get("Transform") or []
    unknown = sorted({wanted} if isinstance(wanted, str) else {str(name) for name in wanted})
    unknown = [name for name in unknown if name not in _EMULATED_TRANSFORMS]
    if unknown:
        raise validation_error(f"local AWS: the transforms {unknown} are not emulated")
    return Template(text=text, body=body)


def references(fragment: Any) -> Iterator[tuple[str, str | None]]:
    """Yield what ``fragment`` refers to: a name and, for ``Fn::GetAtt``, an attribute."""
    if isinstance(fragment, list):
        for item in fragment:
            yield from references(item)
    elif isinstance(fragment, Mapping):
        for key, inner in fragment.items():
            yield from _referred(key, inner)


def _referred(key: str, inner: Any) -> Iterator[tuple[str, str | None]]:
    if key == "Ref" and isinstance(inner, str):
        yield inner, None
    elif key == "Fn::GetAtt":
        name, attribute = split_attribute(inner)
        yield name, attribute if isinstance(attribute, str) else None
        yield from references(attribute)
    elif key == "Fn::Sub":
        yield from _substituted(inner)
    else:
        yield from references(inner)


def split_attribute(inner: Any) -> tuple[str, Any]:
    """Return resource and attribute of a ``Fn::GetAtt``, whichever way it is written."""
    if isinstance(inner, str):
        name, _, attribute = inner.partition(".")
        return name, attribute
    return inner[0], inner[1]


def placeholders(text: str) -> list[str]:
    """Return what stands between ``${`` and ``}`` in the text of a ``Fn::Sub``."""
    return [match.strip() for match in _SUB.findall(text)]


def _substituted(inner: Any) -> Iterator[tuple[str, str | None]]:
    text, variables = (inner, {}) if isinstance(inner, str) else (inner[0], inner[1])
    for name in placeholders(text):
        if name not in variables:
            resource, _, attribute = name.partition(".")
            yield resource, attribute or None
    yield from references(variables)


def depends_on(declaration: Mapping[str, Any]) -> list[str]:
    """Return the logical ids in a resource's ``DependsOn``."""
    named = declaration.get("DependsOn") or []
    return [named] if isinstance(named, str) else list(named)


def in_order(resources: Mapping[str, Any]) -> list[str]:
    """Return the logical ids of ``resources``, each after everything that it needs.

    Raises:
        ApiError: Some need one another in a circle.
    """
    needs = {
        name: [
            other
            for other in [*(found for found, _ in references(declaration.get("Properties"))), *depends_on(declaration)]
            if other in resources and other != name
        ]
        for name, declaration in resources.items()
    }
    ordered: dict[str, None] = {}
    for name in resources:
        _visit(name, needs, ordered)
    return list(ordered)


def _visit(start: str, needs: Mapping[str, list[str]], ordered: dict[str, None]) -> None:
    """Put ``start`` into ``ordered`` after what it needs; without recursion, as stacks hold 500 resources."""
    path: dict[str, Iterator[str]] = {start: iter(needs[start])}
    while path:
        name = next(reversed(path))
        following = next((other for other in path[name] if other not in ordered), None)
        if following is None:
            ordered[name] = None
            del path[name]
        elif following in path:
            circle = sorted(list(path)[list(path).index(following) :])
            raise validation_error(f"Circular dependency between resources: [{', '.join(circle)}]")
        else:
            path[following] = iter(needs[following])
