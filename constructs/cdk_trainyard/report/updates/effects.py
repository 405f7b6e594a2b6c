"""What an update does to one resource, and how bad that is."""

from dataclasses import dataclass
from enum import IntEnum


class Effect(IntEnum):
    """What a change does, from harmless to irreparable."""

    FREE = 0
    UNCERTAIN = 1
    INTERRUPTED = 2
    DRAIN = 3
    STOP = 4
    REPLACED = 5
    STAYS = 6
    BESIDE = 7
    UNKNOWN = 8
    REFUSED = 9
    LOST = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanRow:
    """One change and its effect.

    Attributes:
        where: Stack and resource.
        what: What changes.
        effect: What that does.
        remedy: What to know or to do instead.
        properties: The properties that change, or that replace it.
    """

    where: str
    what: str
    effect: Effect
    remedy: str = ""
    properties: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[str, str]:
        """The stack, whose name may have slashes, and the resource."""
        stack, _, name = self.where.rpartition("/")
        return stack, name
