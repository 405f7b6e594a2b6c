"""Where something stands in a YAML file, as editors count."""

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Final

import yaml

NO_BREAKS: Final = "\x85\u2028\u2029"
"""What ends a line for PyYAML alone."""
Answer = tuple[tuple[int, int], str]
"""Line and column, counted from one, and what is said about them."""


def place_of(mark: yaml.Mark) -> tuple[int, int]:
    """Return line and column of a mark, counted from one."""
    return mark.line + 1, mark.column + 1


def seen(mark: yaml.Mark) -> yaml.Mark:
    """Return a mark with line and column as editors count them.

    A byte order mark is no column to PyYAML (``Reader.forward``), and text of YAML 1.2 (section 5.4) ends lines.
    """
    text, end = str(mark.buffer), mark.pointer
    unseen = _unseen(text)
    if unseen is None:
        return mark
    start = text.rfind("\n", 0, end) + 1
    start = max(start, text.rfind("\r", start, end) + 1)
    line = mark.line - bisect_left(unseen, end)
    return yaml.Mark(mark.name, mark.index, line, end - start, mark.buffer, end)


@lru_cache(maxsize=1)
def _unseen(text: str) -> list[int] | None:
    """Return where lines end for PyYAML alone; None where it counts all as editors do. It is asked for every mark."""
    if not re.search(f"[\ufeff{NO_BREAKS}]", text):
        return None
    return [found.start() for found in re.finditer(f"[{NO_BREAKS}]", text)]


def line_of(mark: yaml.Mark) -> str:
    """Return the line that a mark is in."""
    text = str(mark.buffer)
    return text[text.rfind("\n", 0, mark.pointer) + 1 :].partition("\n")[0]


def position(before: str) -> tuple[int, int]:
    """Return line and column, counted from one, of what follows a text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")
