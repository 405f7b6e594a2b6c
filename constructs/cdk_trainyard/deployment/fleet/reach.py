"""What the nodes of a fleet fetch while they set themselves up."""

from cdk_trainyard.deployment.reach import node_place, reach_problems
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.reach import Region, wanted


def fleet_reach_problems(network: NetworkSpec | ExistingNetworkSpec | None, region: str | None) -> list[str]:
    """What the nodes ask and cannot reach. An image that is built needs NAT, which its own rule says.

    Args:
        network: The network section; None when it has not the right form.
        region: The Region; None likewise.
    """
    if region is None:
        return []
    at = Region(name=region)
    place = node_place(network, at)
    return [] if place is None else reach_problems(wanted("fleet", "", place, "a node of the fleet"), at)
