"""Anchors of YAML that are defined again."""

from typing import Any

import yaml


class Anchors(yaml.SafeLoader):
    """Composes nodes, and takes an anchor that is defined again: it holds from there (YAML 1.2.2, section 3.2.2.2)."""

    anchors: dict[str, yaml.Node]

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Forget an anchor where another value has it; one before no value was most likely meant as an alias."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if not isinstance(event, yaml.AliasEvent) and getattr(event, "value", True):
            self.anchors.pop(event.anchor, None)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node
