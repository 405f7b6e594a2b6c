"""Templates as CloudFormation takes them: JSON, or YAML with the short forms of the intrinsic functions.

Source: AWS CloudFormation User Guide, "CloudFormation template format" (YAML 1.1 without aliases, hash merges, and the
tags binary, omap, pairs, set and timestamp) and "Intrinsic function reference", read 2026-11.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.errors import ConfigurationError

DEEPEST: Final = 200
"""Levels that a template may have: far more than CloudFormation's own resources do, far fewer than Python's stack."""


def parse_template(file: Path, text: bytes) -> Mapping[str, Any]:
    """Return a template.

    Args:
        file: Its file, for messages.
        text: Its bytes.

    Raises:
        ConfigurationError: It is no JSON and no YAML, or no template.
    """
    content = _deployed(file, _parsed(file, text))
    if not isinstance(content, Mapping) or not isinstance(content.get("Resources"), Mapping):
        raise ConfigurationError(str(file), ["is no CloudFormation template: it has no Resources"])
    if _is_deeper_than(content, DEEPEST):
        raise ConfigurationError(str(file), [f"is nested deeper than {DEEPEST} levels"])
    return content


def _deployed(file: Path, content: Any) -> Any:
    """Return the template in what ``aws cloudformation get-template`` prints, which wraps it; of others, themselves."""
    body = content.get("TemplateBody") if isinstance(content, Mapping) and "Resources" not in content else None
    return content if body is None else _parsed(file, body.encode()) if isinstance(body, str) else body


def is_template(file: Path) -> bool:
    """Return whether a file is meant to be a template: JSON, or YAML with a line that begins its resources.

    Args:
        file: The file.
    """
    text = file.read_bytes()
    return text.lstrip()[:1] == b"{" or re.search(rb"^Resources\s*:", text, re.MULTILINE) is not None


def _parsed(file: Path, text: bytes) -> Any:
    try:
        if text.lstrip()[:1] == b"{":
            return json.loads(text)
        return _yaml(text.decode())
    except RecursionError:
        raise ConfigurationError(str(file), [f"is nested deeper than {DEEPEST} levels"]) from None
    except ValueError as error:
        raise ConfigurationError(str(file), [f"is neither JSON nor YAML: {' '.join(str(error).split())}"]) from None


def _yaml(text: str) -> Any:
    import yaml  # noqa: PLC0415  templates of CDK are JSON

    class Loader(yaml.SafeLoader):
        """YAML as CloudFormation reads it."""

        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                raise ValueError(f"line {self.line + 1} has an alias, which CloudFormation refuses")
            self.depth += 1
            if self.depth > DEEPEST + 2:  # a scalar's own level, and that of TemplateBody around a template
                raise RecursionError
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_multi_constructor("!", _short_form)
    try:
        return yaml.load(text, Loader)  # noqa: S506  a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _short_form(loader: Any, suffix: str, node: Any) -> Any:
    """Return ``!GetAtt A.B`` as ``{"Fn::GetAtt": ["A", "B"]}``."""
    value = {
        "scalar": loader.construct_scalar,
        "sequence": lambda each: loader.construct_sequence(each, deep=True),
        "mapping": lambda each: loader.construct_mapping(each, deep=True),
    }[node.id](node)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


def _is_deeper_than(value: Any, levels: int) -> bool:
    floor = [value]
    for _ in range(levels):
        floor = [
            inner
            for each in floor
            for inner in (each.values() if isinstance(each, Mapping) else each)
            if isinstance(inner, Mapping | list)
        ]
        if not floor:
            return False
    return True
