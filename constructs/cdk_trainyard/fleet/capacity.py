"""Where a fleet's instances come from, how many there are, and how close together they stand."""

from dataclasses import dataclass
from enum import StrEnum

from cdk_trainyard.network import PlacementGroup


class FleetCapacityKind(StrEnum):
    """How instances are bought."""

    ON_DEMAND = "on-demand"
    """At the on-demand rate, while there are some."""
    SPOT = "spot"
    """At the Spot rate, until EC2 takes them back."""
    RESERVATION = "reservation"
    """From an on-demand capacity reservation (ODCR)."""
    CAPACITY_BLOCK = "capacity-block"
    """From a capacity block for ML, paid in advance for a span of days."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetCapacity:
    """Where instances come from.

    Attributes:
        kind: How they are bought.
        reservation_id: The reservation or the capacity block, ``cr-…``.
        group_arn: A resource group of reservations, instead of one. Default - none.
        instances: Instances that the capacity block holds. Default - not known, and nothing is compared.
        starts: When the capacity block starts, in UTC, as ``"2027-06-01T11:30:00Z"``. Default - it has started.
        ends: When it ends. Default - not known.
    """

    kind: FleetCapacityKind
    reservation_id: str | None = None
    group_arn: str | None = None
    instances: int | None = None
    starts: str | None = None
    ends: str | None = None

    @classmethod
    def on_demand(cls) -> "FleetCapacity":
        """Instances at the on-demand rate."""
        return cls(kind=FleetCapacityKind.ON_DEMAND)

    @classmethod
    def spot(cls) -> "FleetCapacity":
        """Instances that EC2 can take back with two minutes' notice."""
        return cls(kind=FleetCapacityKind.SPOT)

    @classmethod
    def odcr(cls, reservation_id: str | None = None, *, group_arn: str | None = None) -> "FleetCapacity":
        """Instances of an on-demand capacity reservation, or of a resource group of several.

        Args:
            reservation_id: The reservation, ``cr-…``. Its zone must be the network's, which nobody can see from an id.
            group_arn: The resource group. Give one of the two.
        """
        return cls(kind=FleetCapacityKind.RESERVATION, reservation_id=reservation_id, group_arn=group_arn)

    @classmethod
    def capacity_block(
        cls, reservation_id: str, *, instances: int | None = None, starts: str | None = None, ends: str | None = None
    ) -> "FleetCapacity":
        """Instances of a capacity block for ML.

        Args:
            reservation_id: The block, ``cr-…``.
            instances: Instances that it holds: the fleet must take as many, since all of them are paid for.
                Default - not known.
            starts: When it starts, in UTC, as ``"2027-06-01T11:30:00Z"``: there are no nodes until then. Auto Scaling
                takes no time that has passed. Default - it has started, and nodes come with the fleet.
            ends: When it ends: 40 minutes before, the fleet goes to 0 nodes, as EC2 takes them 30 minutes before.
                Default - not known: the group launches in vain when the block is over.
        """
        kind = FleetCapacityKind.CAPACITY_BLOCK
        return cls(kind=kind, reservation_id=reservation_id, instances=instances, starts=starts, ends=ends)

    @property
    def owns_placement(self) -> bool:
        """Whether the reservation decides where its instances stand."""
        return self.kind in {FleetCapacityKind.RESERVATION, FleetCapacityKind.CAPACITY_BLOCK}


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetSize:
    """How many nodes there are.

    Attributes:
        minimum: Nodes that there always are.
        maximum: Nodes that there can be.
    """

    minimum: int
    maximum: int

    @classmethod
    def fixed(cls, nodes: int) -> "FleetSize":
        """Exactly so many: one that is lost is replaced.

        Args:
            nodes: Their number.
        """
        return cls(minimum=nodes, maximum=nodes)

    @classmethod
    def between(cls, minimum: int, maximum: int) -> "FleetSize":
        """As many as somebody asks for (``aws autoscaling set-desired-capacity``); at first the minimum.

        Args:
            minimum: The fewest.
            maximum: The most. The subnet must hold them.
        """
        return cls(minimum=minimum, maximum=maximum)


@dataclass(frozen=True, kw_only=True, slots=True)
class FleetPlacement:
    """How close together the nodes stand.

    Attributes:
        enabled: Whether they are in a cluster placement group.
        group: A group of yours. Default - the fleet defines one.
    """

    enabled: bool
    group: PlacementGroup | None = None

    @classmethod
    def cluster(cls) -> "FleetPlacement":
        """In a cluster placement group that the fleet defines: lowest latency."""
        return cls(enabled=True)

    @classmethod
    def in_group(cls, group: PlacementGroup) -> "FleetPlacement":
        """In this group: of other instances, or the one that a reservation was made in.

        Args:
            group: The group.
        """
        return cls(enabled=True, group=group)

    @classmethod
    def anywhere(cls) -> "FleetPlacement":
        """Wherever there is room in the zone, or where the reservation says."""
        return cls(enabled=False)
