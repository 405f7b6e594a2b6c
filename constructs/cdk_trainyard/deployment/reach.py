"""Whether what the choices of a file fetch can be reached from its network: said when the file is checked.

Of a VPC that exists the routes are not looked up, so nothing is refused there. Source of what is fetched: the table of
`cdk_trainyard.reach`.
"""

from collections.abc import Iterable, Iterator

from cdk_trainyard.deployment.node_grants import NodeGrantsSection
from cdk_trainyard.network.endpoints import s3_policy
from cdk_trainyard.network.spec import Endpoint, ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.reach import Gateway, Interface, Place, Region, Route, Wanted, unreached, wanted


def node_place(
    network: NetworkSpec | ExistingNetworkSpec | None,
    region: Region,
    *,
    at: str = "node",
    public: bool = False,
    gateways: Iterable[str] = (),
) -> Place | None:
    """Return what the accelerator subnet of a new network lets nodes reach; None for one that nobody knows.

    Args:
        network: The network section.
        region: The Region.
        at: What stands there.
        public: Whether it has a public address, in a public subnet.
        gateways: Services with a gateway endpoint that the cluster brings itself.
    """
    if not isinstance(network, NetworkSpec):
        return None
    route = Route.INTERNET if public else Route.NAT if network.has_nat else Route.NONE
    policy = s3_policy(region.name, region.partition, region.account, network.public_buckets)
    named = [Endpoint.DYNAMODB] if Endpoint.DYNAMODB in network.interface_endpoints else []
    return Place(
        name=at,
        at=at,
        route=route,
        public_address=public,
        gateways={"s3": Gateway(policy=policy), **{service: Gateway() for service in (*named, *gateways)}},
        interfaces={service: Interface() for service in network.interface_endpoints if service not in named},
    )


def granted(section: NodeGrantsSection, room: str, place: Place, *, of: str = "") -> Iterator[Wanted]:
    """Yield what nodes ask of what the file lets them use.

    Args:
        section: What it lets them use.
        room: The room.
        place: Where they are.
        of: Which nodes, as the end of a phrase. Default - all.
    """
    for option in NodeGrantsSection.model_fields:
        if getattr(section, option):
            yield from wanted(room, option, place, f"'{option}'{of}")


def reach_problems(asked: Iterable[Wanted], region: Region) -> list[str]:
    """Return what is fetched and does not arrive, with what to do about it.

    Args:
        asked: What the choices of the file fetch.
        region: The Region.
    """
    return unreached(asked, region, [endpoint.value for endpoint in Endpoint])
