"""Names that are the same in every run, for what has another one each time."""

import re
from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.engine.state import REGIONS, STACK_TYPE

_LONG_ENOUGH = 8  # characters: a shorter id is a name that somebody gave, and stands in other words, too
_RANDOM = (
    (re.compile(r"\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b"), "UUID"),
    (re.compile(r"\b([a-z]+)-[0-9a-f]{17}\b"), r"\1-ID"),
    (re.compile(r"\b[0-9a-f]{16,64}\b"), "HASH"),
)
"""What is random without being a resource of a stack: instances of groups, hashes of contents."""


class Names:
    """Names of resources by their physical ids: ``<stack.LogicalId>``, as ``$`` begins a policy variable."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self) -> None:
        """Look at the stacks that there are; what they no longer have keeps its name."""
        for region in REGIONS.all():
            for stack in list(region.stacks.values()):
                owner = self._known.get(stack.stack_id, stack.name)
                for logical_id, deployed in list(stack.resources.items()):
                    name = f"{owner}.{logical_id}"
                    is_stack = deployed.type_name == STACK_TYPE
                    self._known.setdefault(deployed.physical_id, name if is_stack else f"<{name}>")

    def stable(self, value: Any) -> Any:
        """Return ``value`` with stable names in all its texts, the keys of mappings among them."""
        longest_first = sorted((name for name in self._known if len(name) >= _LONG_ENOUGH), key=len, reverse=True)
        words = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        return self._stable(value, words)

    def _stable(self, value: Any, words: "re.Pattern[str]") -> Any:
        if isinstance(value, str):
            text = words.sub(lambda found: self._known[found[0]], value)
            for pattern, name in _RANDOM:
                text = pattern.sub(name, text)
            return text
        if isinstance(value, Mapping):
            return {self._stable(str(key), words): self._stable(inner, words) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._stable(item, words) for item in value]
        return value
