"""Tables for people: aligned columns, or a paragraph for each row where a terminal is too narrow."""

import shutil
import sys
from collections.abc import Callable, Sequence
from textwrap import fill

Cells = Sequence[str]
_BETWEEN = "  "


def width() -> int | None:
    """Return how many columns a line may have; None: any number, since nobody looks at a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(
    heads: Cells,
    rows: Sequence[Cells],
    columns: int | None = None,
    paragraph: Callable[[Cells, int], str] | None = None,
) -> str:
    """Return rows as a table; a column without any text is left out.

    Args:
        heads: The names of the columns.
        rows: The rows.
        columns: How many columns of text a line may have. Default - any number.
        paragraph: Makes a paragraph of a row, where lines would be longer. Default - the first cell, then the others
            with their names.
    """
    widths = [max(len(line[column]) for line in [heads, *rows]) for column in range(len(heads))]
    filled = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    if columns is not None and sum(widths[column] + len(_BETWEEN) for column in filled) - len(_BETWEEN) > columns:
        make = paragraph or (lambda row, most: _paragraph(heads, row, most))
        return "\n\n".join(make(row, columns) for row in rows)
    return "\n".join(
        _BETWEEN.join(line[column].ljust(widths[column]) for column in filled).rstrip() for line in [heads, *rows]
    )


def _paragraph(heads: Cells, row: Cells, columns: int) -> str:
    lines = [fill(row[0], columns, subsequent_indent=_BETWEEN)]
    for head, text in zip(heads[1:], row[1:], strict=True):
        if text:
            said = f"{head.lower()}: {text}"
            lines.append(fill(said, columns, initial_indent=_BETWEEN, subsequent_indent=_BETWEEN * 2))
    return "\n".join(lines)
