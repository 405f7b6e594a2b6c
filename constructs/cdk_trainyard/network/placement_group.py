"""Placement groups: how instances are placed on the hardware of one zone."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.network.rules_resources import placement_group_problems


class PlacementGroup(Construct):
    """A placement group. HyperPod places its nodes itself and takes none; everything else with EFA wants one.

    Args:
        strategy: ``CLUSTER`` packs the instances close together, for the lowest latency; ``PARTITION`` and ``SPREAD``
            keep them apart. Default: CLUSTER.
        partitions: Partitions, 1 to 7; with ``PARTITION`` only. Default - as many as EC2 chooses (2).
        spread_level: ``RACK``, or ``HOST`` on Outposts; with ``SPREAD`` only. Default - RACK.

    Raises:
        ConfigurationError: The settings contradict each other.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        strategy: ec2.PlacementGroupStrategy = ec2.PlacementGroupStrategy.CLUSTER,
        partitions: int | None = None,
        spread_level: ec2.PlacementGroupSpreadLevel | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        raise_problems(self, placement_group_problems(strategy, partitions, spread_level))
        self._placement_group: ec2.IPlacementGroup = ec2.PlacementGroup(
            self, "Resource", strategy=strategy, partitions=partitions, spread_level=spread_level
        )

    @staticmethod
    def from_placement_group(
        scope: Construct, construct_id: str, placement_group: ec2.IPlacementGroup
    ) -> "PlacementGroup":
        """Take a placement group that exists already.

        Args:
            scope: The parent.
            construct_id: The id in it.
            placement_group: The group, as from ``ec2.PlacementGroup.from_placement_group_name``.
        """
        return _ExistingPlacementGroup(scope, construct_id, placement_group)

    @property
    def placement_group(self) -> ec2.IPlacementGroup:
        """The group, for constructs of CDK."""
        return self._placement_group

    @property
    def placement_group_name(self) -> str:
        """Its name, for launch templates."""
        return self._placement_group.placement_group_name


class _ExistingPlacementGroup(PlacementGroup):
    def __init__(self, scope: Construct, construct_id: str, placement_group: ec2.IPlacementGroup) -> None:
        super(PlacementGroup, self).__init__(scope, construct_id)
        self._placement_group = placement_group
