"""What the nodes of a fleet fetch while they set themselves up."""

from collections.abc import Iterator
from dataclasses import replace

from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.deployment.reach import granted, metrics, node_place, reach_problems
from cdk_trainyard.fleet.spec import FleetSpec
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.problems import Problem
from cdk_trainyard.reach import Region, wanted


def fleet_reach_problems(
    cluster: FleetSpec,
    network: NetworkSpec | ExistingNetworkSpec,
    region: str | None,
    monitoring: MonitoringSection | None,
) -> Iterator[Problem]:
    """Yield what the nodes ask and cannot reach, with paths from the top of a file.

    An image that is built needs NAT, which its own rule says.

    Args:
        cluster: The fleet.
        network: The network section.
        region: The Region; None when it has not the right form.
        monitoring: Where its metrics go. None: nowhere.
    """
    if region is None:
        return
    at = Region(name=region)
    place = node_place(network, at)
    if place is not None:
        own = [*wanted("fleet", "", place), *granted(cluster, "fleet", place, at)]
        asked = metrics("fleet", monitoring, place, at)
        yield from reach_problems([*(replace(each, at=("cluster", *each.at)) for each in own), *asked], at)
