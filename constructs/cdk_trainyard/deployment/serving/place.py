"""Where a served model stands in the network of the file."""

from collections.abc import Iterator, Sequence
from typing import Literal

from cdk_trainyard.deployment.network import zones_of
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.problems import Problem
from cdk_trainyard.serving.rules_place import Place, zones_problems
from cdk_trainyard.serving.spec_load_balancer import LoadBalancerSpec
from cdk_trainyard.tokens import unresolved

_Side = Literal["public", "service"]


def place_problems(balancer: LoadBalancerSpec, network: NetworkSpec | ExistingNetworkSpec) -> Iterator[Problem]:
    """A load balancer stands in two zones of the network: an internal one beside the tasks, or a public one.

    Args:
        balancer: The load balancer.
        network: The network section.
    """
    if unresolved(balancer, balancer.public):
        return
    side: _Side = "public" if balancer.public else "service"
    name, _ = zones_of(network, side)
    places, tasks = _places(network, side), _places(network, "service")
    if places is None or tasks is None:
        return
    standing = [each.zone for each in tasks] or [network.zone]
    yield from zones_problems((name,), places, public=balancer.public, tasks=standing if balancer.public else ())


def _places(network: NetworkSpec | ExistingNetworkSpec, side: _Side) -> Sequence[Place] | None:
    """Return the subnets of one side, each once; None when they are not known."""
    name, zones = zones_of(network, side)
    if zones is None:
        return None
    if isinstance(network, NetworkSpec):
        return [Place(at=(name,), zone=zone) for zone in dict.fromkeys(zones)]
    subnets = network.public_subnets if side == "public" else network.service_subnets
    ids = [subnet.subnet_id for subnet in subnets]
    return [
        Place(at=(name, index, "zone"), zone=subnet.zone)
        for index, subnet in enumerate(subnets)
        if subnet.subnet_id not in ids[:index]
    ]
