"""The parts of a file that can be judged."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from cdk_trainyard.deployment._document import Document, KeyPath
from cdk_trainyard.problems import Problem

Said = Iterator[tuple[KeyPath, Sequence[str | Problem]]]
"""Sections, and what the rules say of each."""


class Sections:
    """The parts of the file that have the right form.

    Attributes:
        data: What the file says, its specified sections read.
    """

    def __init__(self, document: Document, data: Mapping[str, Any], invalid: Sequence[KeyPath]) -> None:
        self.data = data
        self._invalid = [*invalid, *document.reported]

    def get(self, kind: Any, *path: str | int) -> Any:
        """Return the section at ``path``, or None when there is none, or one of another form."""
        value = self._find(path)
        if value is None or any(place[: len(path)] == path[: len(place)] for place in self._invalid):
            return None
        return TypeAdapter(kind).validate_python(value)

    def specified(self, *path: str) -> Any:
        """Return the specification at ``path``, with unknowns where it has another form, or None when there is none."""
        return self._find(path)

    def has(self, *path: str) -> bool:
        """Say whether the file has something at ``path``, in whatever form."""
        return self._find(path) is not None

    def keys(self, *path: str) -> list[str]:
        """Return the keys of the mapping at ``path``."""
        value = self._find(path)
        return list(value) if isinstance(value, Mapping) else []

    def parts(self, *path: str) -> dict[str, Any]:
        """Return what the mapping at ``path`` holds in the right form."""
        found = {key: self.get(Any, *path, key) for key in self.keys(*path)}
        return {key: value for key, value in found.items() if value is not None}

    def items(self, *path: str) -> tuple[Any, ...]:
        """Return the items of the list at ``path`` that have the right form."""
        value = self._find(path)
        count = len(value) if isinstance(value, tuple) else 0
        return tuple(item for index in range(count) if (item := self.get(Any, *path, index)) is not None)

    def _find(self, path: Sequence[str | int]) -> Any:
        value: Any = self.data
        for part in path:
            value = value[part] if isinstance(part, int) else value.get(part) if isinstance(value, Mapping) else None
        return value
