"""The lines of the plan."""

from collections.abc import Iterable, Sequence
from textwrap import fill

from cdk_trainyard.cli import _tables
from cdk_trainyard.report.updates import Effect, PlanRow

_WORDS = {
    Effect.FREE: "free",
    Effect.UNCERTAIN: "not certain",
    Effect.INTERRUPTED: "interrupted",
    Effect.DRAIN: "needs drain",
    Effect.STOP: "needs the fleet stopped",
    Effect.REPLACED: "replaced",
    Effect.STAYS: "stays",
    Effect.BESIDE: "made beside",
    Effect.UNKNOWN: "not compared",
    Effect.REFUSED: "refused",
    Effect.LOST: "LOST",
}


def ordered(rows: Iterable[PlanRow]) -> list[PlanRow]:
    """Return the rows, the worst first.

    Args:
        rows: The rows.
    """
    return sorted(rows, key=lambda row: (-row.effect, row.where, row.what))


def table(rows: Iterable[PlanRow], width: int | None = None) -> str:
    """Return the rows as a table, the worst first.

    Args:
        rows: The rows.
        width: Columns that a line may have; where they are too few, each row is a paragraph. Default - any number.
    """
    heads = ("WHERE", "CHANGE", "EFFECT", "WHAT TO DO")
    cells = [(row.where, _short(row.what), _WORDS[row.effect], row.remedy) for row in ordered(rows)]
    return _tables.table(heads, cells, width, _paragraph)


def _paragraph(cells: Sequence[str], width: int) -> str:
    where, what, effect, remedy = cells
    lines = [fill(f"{effect}: {where}", width, subsequent_indent="  ")]
    lines += [fill(text, width, initial_indent="  ", subsequent_indent="  ") for text in (what, remedy) if text]
    return "\n".join(lines)


def _short(text: str, limit: int = 90) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
