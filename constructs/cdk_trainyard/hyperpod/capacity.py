"""Where a group's instances come from."""

from dataclasses import dataclass
from enum import StrEnum


class CapacityKind(StrEnum):
    """The kinds of capacity that HyperPod sells."""

    ON_DEMAND = "OnDemand"
    SPOT = "Spot"
    TRAINING_PLAN = "TrainingPlan"


@dataclass(frozen=True, kw_only=True, slots=True)
class Capacity:
    """Where a group's instances come from; it cannot be changed after the group exists.

    Attributes:
        kind: On demand, Spot or a training plan.
        training_plan_arn: The plan to draw from; with ``CapacityKind.TRAINING_PLAN`` and with nothing else. Its zone
            must be the zone of the group's subnet, which no one can see from an ARN.
    """

    kind: CapacityKind
    training_plan_arn: str | None = None

    @classmethod
    def on_demand(cls) -> "Capacity":
        """Instances at the on-demand rate, said explicitly; without a ``Capacity`` the service uses them too."""
        return cls(kind=CapacityKind.ON_DEMAND)

    @classmethod
    def spot(cls) -> "Capacity":
        """Instances that can be taken back at any time; with continuous provisioning only."""
        return cls(kind=CapacityKind.SPOT)

    @classmethod
    def training_plan(cls, arn: str) -> "Capacity":
        """Instances reserved by a SageMaker training plan."""
        return cls(kind=CapacityKind.TRAINING_PLAN, training_plan_arn=arn)
