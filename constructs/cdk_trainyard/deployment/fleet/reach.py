"""What the nodes of a fleet fetch while they set themselves up."""

from cdk_trainyard.deployment.fleet.section import FleetSection
from cdk_trainyard.deployment.reach import granted, node_place, reach_problems
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.reach import Region, wanted


def fleet_reach_problems(
    cluster: FleetSection | None, network: NetworkSpec | ExistingNetworkSpec | None, region: str | None
) -> list[str]:
    """What the nodes ask and cannot reach. An image that is built needs NAT, which its own rule says.

    Args:
        cluster: The fleet; None when it has not the right form.
        network: The network section; None when it has not the right form.
        region: The Region; None likewise.
    """
    if region is None:
        return []
    at = Region(name=region)
    place = node_place(network, at)
    if place is None:
        return []
    found = granted(cluster, "fleet", place) if cluster else ()
    return reach_problems([*wanted("fleet", "", place, "a node of the fleet"), *found], at)
