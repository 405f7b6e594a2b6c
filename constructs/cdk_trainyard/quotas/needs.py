"""Everything that a deployment needs of its account."""

from collections.abc import Iterable
from dataclasses import dataclass

from cdk_trainyard.quotas.prerequisite import Prerequisite, prerequisites
from cdk_trainyard.quotas.quota import Quota, QuotaNeed


@dataclass(frozen=True, slots=True)
class Needs:
    """What a deployment, or a part of one, needs of its account and Region.

    Attributes:
        quotas: How much of which quotas. Default - none.
        services: The services and features that need something once: keys of ``data/prerequisites.json``.
            Default - none.
    """

    quotas: tuple[QuotaNeed, ...] = ()
    services: frozenset[str] = frozenset()

    def __add__(self, other: "Needs") -> "Needs":
        """Both: amounts of one quota are added."""
        amounts: dict[Quota, int] = {}
        for need in (*self.quotas, *other.quotas):
            amounts[need.quota] = amounts.get(need.quota, 0) + need.amount
        return Needs(_needs(amounts), self.services | other.services)

    @property
    def prerequisites(self) -> tuple[Prerequisite, ...]:
        """What the account needs once, with what every deployment needs."""
        return prerequisites(self.services)

    @property
    def quotas_text(self) -> str:
        """Every quota in one line, first those that a new account lacks."""
        return "; ".join(map(str, sorted(self.quotas, key=lambda need: not need.exceeds_first)))

    @property
    def prerequisites_text(self) -> str:
        """Every prerequisite in one line."""
        return "; ".join(map(str, self.prerequisites))


def most_of(alternatives: Iterable[Needs]) -> Needs:
    """Return what suffices for each of several alternatives, as for types of which EC2 takes what it has.

    Args:
        alternatives: What each needs.
    """
    amounts: dict[Quota, int] = {}
    services: frozenset[str] = frozenset()
    for needs in alternatives:
        services |= needs.services
        for need in needs.quotas:
            amounts[need.quota] = max(need.amount, amounts.get(need.quota, 0))
    return Needs(_needs(amounts), services)


def _needs(amounts: dict[Quota, int]) -> tuple[QuotaNeed, ...]:
    return tuple(QuotaNeed(quota, amount) for quota, amount in amounts.items() if amount > 0)
