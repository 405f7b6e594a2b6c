"""Where a queue's instances come from, and how close together they are."""

from dataclasses import dataclass
from enum import StrEnum

from cdk_trainyard.network import PlacementGroup


class CapacityType(StrEnum):
    """How the instances of a queue are bought."""

    ON_DEMAND = "ONDEMAND"
    SPOT = "SPOT"
    CAPACITY_BLOCK = "CAPACITY_BLOCK"


class AllocationStrategy(StrEnum):
    """Which type is tried first where a compute resource names several."""

    LOWEST_PRICE = "lowest-price"
    """The cheapest. What ParallelCluster does when nothing is said."""
    PRIORITIZED = "prioritized"
    """In the order of the list; on demand only."""
    CAPACITY_OPTIMIZED = "capacity-optimized"
    """The one with most spare capacity; Spot only."""
    PRICE_CAPACITY_OPTIMIZED = "price-capacity-optimized"
    """Both weighed; Spot only."""
    CAPACITY_OPTIMIZED_PRIORITIZED = "capacity-optimized-prioritized"
    """Spare capacity first, then the order of the list; Spot only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reservation:
    """Capacity that was reserved before: one reservation, or a resource group of several.

    Attributes:
        reservation_id: The reservation, ``cr-…``.
        group_arn: The resource group. Give one of the two.
    """

    reservation_id: str | None = None
    group_arn: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueCapacity:
    """Where a queue's instances come from.

    Attributes:
        type: On demand, Spot or a capacity block.
        reservation: The reservation to draw from. Default - none.
        allocation: Which type is tried first. Default - the cheapest.
    """

    type: CapacityType
    reservation: Reservation | None = None
    allocation: AllocationStrategy | None = None

    @classmethod
    def on_demand(cls, *, allocation: AllocationStrategy | None = None) -> "QueueCapacity":
        """Instances at the on-demand rate."""
        return cls(type=CapacityType.ON_DEMAND, allocation=allocation)

    @classmethod
    def spot(cls, *, allocation: AllocationStrategy | None = None) -> "QueueCapacity":
        """Instances that can be taken back with two minutes' notice."""
        return cls(type=CapacityType.SPOT, allocation=allocation)

    @classmethod
    def odcr(cls, reservation_id: str | None = None, *, group_arn: str | None = None) -> "QueueCapacity":
        """Instances of an on-demand capacity reservation, or of a resource group of several.

        The subnet of the queue must lie in the reservation's zone, which nobody can see from an id.
        """
        return cls(
            type=CapacityType.ON_DEMAND, reservation=Reservation(reservation_id=reservation_id, group_arn=group_arn)
        )

    @classmethod
    def capacity_block(cls, reservation_id: str | None = None) -> "QueueCapacity":
        """Instances of a capacity block for ML: static nodes, which Slurm holds back until the block begins.

        Without an id every compute resource of the queue names its own block.
        """
        reservation = Reservation(reservation_id=reservation_id) if reservation_id is not None else None
        return cls(type=CapacityType.CAPACITY_BLOCK, reservation=reservation)


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """Whether instances are placed close together.

    Attributes:
        enabled: Whether they are in a cluster placement group.
        group: A placement group that exists. Default - ParallelCluster makes one for each compute resource.
    """

    enabled: bool
    group: PlacementGroup | None = None

    @classmethod
    def cluster(cls) -> "Placement":
        """Close together, in a group of their own: lowest latency, and fewer places to find capacity."""
        return cls(enabled=True)

    @classmethod
    def in_group(cls, group: PlacementGroup) -> "Placement":
        """In this group, which other instances may share."""
        return cls(enabled=True, group=group)

    @classmethod
    def anywhere(cls) -> "Placement":
        """Wherever there is room in the zone; also for a reservation that brings its own placement group."""
        return cls(enabled=False)
