"""How a new version takes the place of the old one, on hosts that hold one task each."""

from dataclasses import dataclass
from enum import StrEnum


class Rollout(StrEnum):
    """How a new version takes the place of the old one. A host's Neuron devices serve one task at a time."""

    RECREATE = "recreate"
    """The old tasks end, then the new ones start: no further host, and no service until they have loaded."""
    ROLLING = "rolling"
    """One task after the other: no further host, one task less while it goes on. For two tasks and more."""
    SURGE = "surge"
    """The new tasks start beside the old ones: nothing is missing, and twice the hosts are needed meanwhile."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthyPercent:
    """What ECS keeps during a deployment, in percent of the desired tasks."""

    minimum: int
    maximum: int


def healthy_percent(rollout: Rollout, tasks: int) -> HealthyPercent:
    """Return the percentages of ``rollout`` for that many tasks."""
    match rollout:
        case Rollout.RECREATE:
            return HealthyPercent(minimum=0, maximum=100)
        case Rollout.ROLLING:
            return HealthyPercent(minimum=100 * max(0, tasks - 1) // max(1, tasks), maximum=100)
        case Rollout.SURGE:
            return HealthyPercent(minimum=100, maximum=200)


def hosts_needed(rollout: Rollout, tasks: int) -> int:
    """Return how many hosts a deployment of that many tasks needs."""
    return 2 * tasks if rollout is Rollout.SURGE else tasks
