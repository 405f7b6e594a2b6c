"""One line of the plan."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from textwrap import fill

from cdk_trainyard.cli import _tables


class Effect(IntEnum):
    """What a change does, from harmless to irreparable."""

    FREE = 0
    DRAIN = 1
    STOP = 2
    REPLACED = 3
    STAYS = 4
    BESIDE = 5
    UNKNOWN = 6
    REFUSED = 7
    LOST = 8

    @property
    def words(self) -> str:
        """How the table says it."""
        return _WORDS[self]


_WORDS = {
    Effect.FREE: "free",
    Effect.DRAIN: "needs drain",
    Effect.STOP: "needs the fleet stopped",
    Effect.REPLACED: "replaced",
    Effect.STAYS: "stays",
    Effect.BESIDE: "made beside",
    Effect.UNKNOWN: "not compared",
    Effect.REFUSED: "refused",
    Effect.LOST: "LOST",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanRow:
    """One change and its effect.

    Attributes:
        where: Stack and resource.
        what: What changes.
        effect: What that does.
        remedy: What to know or to do instead.
        properties: The properties that change in place.
    """

    where: str
    what: str
    effect: Effect
    remedy: str = ""
    properties: frozenset[str] = frozenset()


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
    cells = [(row.where, _short(row.what), row.effect.words, row.remedy) for row in ordered(rows)]
    return _tables.table(heads, cells, width, _paragraph)


def _paragraph(cells: Sequence[str], width: int) -> str:
    where, what, effect, remedy = cells
    lines = [fill(f"{effect}: {where}", width, subsequent_indent="  ")]
    lines += [fill(text, width, initial_indent="  ", subsequent_indent="  ") for text in (what, remedy) if text]
    return "\n".join(lines)


def _short(text: str, limit: int = 90) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
