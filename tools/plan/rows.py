"""One line of the plan."""

from dataclasses import dataclass
from enum import IntEnum


class Effect(IntEnum):
    """What a change does, from harmless to irreparable."""

    FREE = 0
    DRAIN = 1
    STOP = 2
    REPLACED = 3
    REFUSED = 4
    LOST = 5

    @property
    def words(self) -> str:
        """How the table says it."""
        return _WORDS[self]


_WORDS = {
    Effect.FREE: "free",
    Effect.DRAIN: "needs drain",
    Effect.STOP: "needs the fleet stopped",
    Effect.REPLACED: "replaced",
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
    """

    where: str
    what: str
    effect: Effect
    remedy: str = ""


def table(rows: list[PlanRow]) -> str:
    """Return the rows as a table, the worst first.

    Args:
        rows: The rows.
    """
    heads = ("WHERE", "CHANGE", "EFFECT", "WHAT TO DO")
    ordered = sorted(rows, key=lambda row: (-row.effect, row.where, row.what))
    cells = [heads, *((row.where, _short(row.what), row.effect.words, row.remedy) for row in ordered)]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    return "\n".join(
        "  ".join([*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[3]]).rstrip()
        for line in cells
    )


def _short(text: str, limit: int = 90) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
