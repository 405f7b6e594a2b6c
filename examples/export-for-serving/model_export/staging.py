"""The directory in which the model is put together, and what is done of it already: cut off anywhere, it goes on."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from model_export import ExportError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

RECORD = "export.json"
_BLOCK = 1 << 20


class Staging:
    """Files with their sums, as they were when they were written.

    Args:
        directory: Is made; holds this export and no other.
        source: What is exported and how; another one is refused.
    """

    def __init__(self, directory: Path, source: Mapping[str, Any]) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self._record = directory / RECORD
        self._sums: dict[str, str] = {}
        self._source = json.loads(json.dumps(source))
        if self._record.exists():
            found = json.loads(self._record.read_text(encoding="utf-8"))
            if found["source"] != self._source:
                changed = sorted(name for name, value in self._source.items() if found["source"].get(name) != value)
                raise ExportError(
                    f"'--staging' must be another directory, or empty: {directory} has an export with another "
                    f"{', '.join(changed)}"
                )
            self._sums = found["files"]

    def have(self, name: str) -> bool:
        """Tell whether a file is there as it was written."""
        path = self.directory / name
        return name in self._sums and path.is_file() and sha256(path) == self._sums[name]

    def add(self, name: str, write: Callable[[Path], str]) -> None:
        """Write a file, whether it is there or not; ``write`` returns its sum."""
        self._sums[name] = write(self.directory / name)
        put_json(self._record, {"source": self._source, "files": self._sums})

    def add_json(self, name: str, value: object) -> None:
        """Write a file of JSON."""

        def write(path: Path) -> str:
            put_json(path, value)
            return sha256(path)

        self.add(name, write)

    def sums(self) -> dict[str, str]:
        """Return the SHA-256 of every file."""
        return dict(self._sums)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Yield where to write a file; it gets its own name, ``path``, when it is whole and on the disk."""
    temporary = path.with_name(f"{path.name}.partial")
    yield temporary
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def put_json(path: Path, value: object) -> None:
    """Write a file of JSON."""
    with aside(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
