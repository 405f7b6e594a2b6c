"""What the matrix says of a combination."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the matrix says of a combination: nothing, when a source has it.

    Attributes:
        refused: A sentence for each pair that a source rules out: both sides, and what fits; without its subject, which
            is the option that was judged.
        unknown: A sentence for each pair of which no source says anything.
    """

    refused: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def __add__(self, other: "Judgement") -> "Judgement":
        """Return both together."""
        return Judgement(self.refused + other.refused, self.unknown + other.unknown)
