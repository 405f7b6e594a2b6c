"""One resource that changes, and what that means to what runs or is kept."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_trainyard.report.nested import at, properties_of
from cdk_trainyard.report.updates.effects import Effect

Template = Mapping[str, Any]
Meaning = tuple[Effect, str]
"""What a change does, and what to know or to do about it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceChange:
    """A resource that was there, among those of its stack, and what becomes of it.

    Attributes:
        name: Its logical id.
        before: The resources of its stack, before.
        after: The same after.
        effect: What CloudFormation does to it.
        properties: Its properties that change.
        has_parallelcluster: Whether there are ParallelClusters anywhere.
    """

    name: str
    before: Mapping[str, Template]
    after: Mapping[str, Template]
    effect: Effect
    properties: frozenset[str]
    has_parallelcluster: bool

    @property
    def stays(self) -> bool:
        """Whether it is changed in place."""
        return self.name in self.after and self.effect is Effect.FREE

    @property
    def is_removed(self) -> bool:
        """Whether it leaves its stack."""
        return self.name not in self.after

    def both(self, *path: str) -> tuple[Any, Any]:
        """Return what stands in its properties before and after."""
        one, other = (
            at(properties_of(side[self.name]), *path) if self.name in side else None
            for side in (self.before, self.after)
        )
        return one, other

    def numbers(self, *path: str) -> tuple[int | None, int | None]:
        """Return a number in its properties before and after; None of what only a deployment knows."""
        one, other = (int(value) if str(value).isdecimal() else None for value in self.both(*path))
        return one, other


Rule = Callable[[ResourceChange], Meaning | None]


def together(found: Iterable[Meaning | None]) -> Meaning | None:
    """Return several meanings as one, the worst effect with all that is said; None of none.

    Args:
        found: The meanings.
    """
    known = [each for each in found if each]
    return (max(effect for effect, _ in known), "; ".join(text for _, text in known)) if known else None
