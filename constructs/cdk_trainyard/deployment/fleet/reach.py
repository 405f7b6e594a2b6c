"""What the nodes of a fleet fetch while they set themselves up."""

from collections.abc import Iterator

from cdk_trainyard.deployment.reach import granted, node_place, reach_problems
from cdk_trainyard.fleet.spec import FleetSpec
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.problems import Problem
from cdk_trainyard.reach import Region, wanted


def fleet_reach_problems(
    cluster: FleetSpec, network: NetworkSpec | ExistingNetworkSpec, region: str | None
) -> Iterator[Problem]:
    """Yield what the nodes ask and cannot reach. An image that is built needs NAT, which its own rule says.

    Args:
        cluster: The fleet.
        network: The network section.
        region: The Region; None when it has not the right form.
    """
    if region is None:
        return
    at = Region(name=region)
    place = node_place(network, at)
    if place is not None:
        yield from reach_problems([*wanted("fleet", "", place), *granted(cluster, "fleet", place)], at)
