"""The matrix: tables of what was released, shipped or tried together. Each row names its source and the day of it.

A row without a source is no fact. Reading a table that has one is an error that names the row.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FILES = ("matrix", "neuron_sdk", "engines", "tools")


@cache
def rows(table: str) -> tuple[Row, ...]:
    """Return the rows of a table, in the order of the file.

    Args:
        table: Its name.

    Raises:
        ValueError: A row of it has no source, or no day; names the row.
        KeyError: There is no such table.
    """
    found = tuple(tables()[table])
    if problems := row_problems(table, found):
        raise ValueError("; ".join(problems))
    return found


def row_problems(table: str, found: Sequence[Row]) -> list[str]:
    """Return what is wrong with the rows of a table: where each comes from must be said.

    Args:
        table: Its name.
        found: Its rows.
    """
    return [
        f"row {number} of {table} must name its source and the day of it as YYYY-MM-DD: {json.dumps(row)}"
        for number, row in enumerate(found, 1)
        if not str(row.get("source", "")).strip() or not _DAY.fullmatch(str(row.get("date", "")))
    ]


@cache
def tables() -> Mapping[str, Sequence[Row]]:
    """Return every table by its name."""
    folder = Path(__file__).parent / "data"
    merged: dict[str, Sequence[Row]] = {}
    for name in _FILES:
        merged |= json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return merged


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to compare it: ``6.17.0-1019-aws`` is (6, 17, 0, 1019).

    Args:
        version: The version.
    """
    return tuple(map(int, re.findall(r"[0-9]+", version)))


def at_least(version: str, other: str) -> bool:
    """Return whether a version is another or later.

    Args:
        version: The version.
        other: What it is compared with.
    """
    return numbers(version) >= numbers(other)


def of_series(version: str, series: str) -> bool:
    """Return whether a version begins as a series does: ``6.17.0-1019`` is of ``6.17``, and not of ``6.1``.

    Args:
        version: The version.
        series: The series.
    """
    return numbers(version)[: len(numbers(series))] == numbers(series)
