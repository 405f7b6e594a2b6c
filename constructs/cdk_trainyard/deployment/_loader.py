"""Nodes of YAML: YAML 1.2's plain scalars, a bound on nesting, and anchors that are defined again."""

import re
from typing import Any, Final

import yaml

from cdk_trainyard.options.numbers import ELSEWHERE

TAG: Final = "tag:yaml.org,2002:"
"""How tags of YAML itself begin."""
MAX_DEPTH: Final = 24
"""How deep values may stand in one another."""


class Loader(yaml.SafeLoader):
    """Composes nodes, with YAML 1.2's plain scalars and a bound on nesting; constructs no objects.

    Attributes:
        aliases: Where aliases stand, by the node of their key, or by that of their list and their number in it.
    """

    yaml_implicit_resolvers: Final = {}  # type: ignore[misc]
    anchors: dict[str, yaml.Node]
    _depth = 0

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.aliases: dict[object, Any] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node, and take an anchor that is defined again: it holds from there (YAML 1.2.2, section 3.2.2.2).

        One before no value was most likely meant as an alias.
        """
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem="nested too deeply", problem_mark=event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            self.aliases[(parent, index) if isinstance(index, int) else index] = event.start_mark
        elif getattr(event, "value", True):
            self.anchors.pop(event.anchor, None)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def scan_plain(self) -> Any:
        """Read on over '?' in brackets, where plain text of YAML 1.2.2 (section 7.3.3) has it and PyYAML's ends."""
        peek: Any = self.peek
        if self.flow_level:
            self.peek = lambda index=0: peek(index).replace("?", "!")  # type: ignore[method-assign]
        try:
            return super().scan_plain()
        finally:
            self.__dict__.pop("peek", None)


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]{1,18}", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}\.[0-9]{0,18}|[0-9]{1,18}(?=[eE]))(?:[eE][-+]?[0-9]{1,2})?",
        "-+.0123456789",
    ),
    ("elsewhere", ELSEWHERE, "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    Loader.add_implicit_resolver(f"{TAG}{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))


class Dumper(yaml.SafeDumper):
    """Quotes what this loader would read as something else than text."""

    yaml_implicit_resolvers = Loader.yaml_implicit_resolvers
