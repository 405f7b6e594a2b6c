"""Whether what the choices of a file fetch can be reached from its network: said when the file is checked.

Of a VPC that exists the routes are not looked up, so nothing is refused there. Source of what is fetched: the table of
`cdk_trainyard.reach`.
"""

from collections.abc import Iterable, Iterator

from cdk_trainyard.deployment.monitoring import MonitoringSection, exporters
from cdk_trainyard.network.bucket_policy import s3_policy
from cdk_trainyard.network.spec import Endpoint, NetworkSpec
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.reach import (
    Gateway,
    Interface,
    Place,
    Region,
    Route,
    Wanted,
    given,
    unreached_problems,
    wanted,
    wanted_of,
)
from cdk_trainyard.storage.spec import NodeGrantsSpec
from cdk_trainyard.tokens import unresolved


def node_place(
    network: object,
    region: Region,
    *,
    at: str = "node",
    public: bool = False,
    gateways: Iterable[str] = (),
) -> Place | None:
    """Return what the accelerator subnet of a new network lets nodes reach; None for one that nobody knows.

    Args:
        network: The network section, of whatever form.
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


def granted(section: NodeGrantsSpec, room: str, place: Place, region: Region, *, at: At = ()) -> Iterator[Wanted]:
    """Yield what nodes ask of what the file lets them use.

    Args:
        section: What it lets them use.
        room: The room.
        place: Where they are.
        region: The Region.
        at: The path of the section. Default - the cluster's own.
    """
    for option in fields_of(NodeGrantsSpec):
        said = getattr(section, option)
        if said and not unresolved(said):
            yield from wanted_of(room, option, said, place, region, at=(*at, option))


def metrics(room: str, monitoring: MonitoringSection | None, place: Place, region: Region) -> Iterator[Wanted]:
    """Yield what nodes ask so that their metrics are there, and an image that the file gives for those of GPUs.

    Args:
        room: The room.
        monitoring: The section, of whatever form. None: there is none.
        place: Where they are.
        region: The Region.
    """
    if monitoring is None:
        return
    at = ("monitoring",)
    yield from wanted(room, "metrics", place, at=at)
    said = exporters(monitoring)
    if said is not None and not unresolved(said) and said.gpu is True:
        at_image = (*at, "exporters", "gpu_image")
        yield from given(said.gpu_image, place, region, remedy="take an image of nodes that has it", at=at_image)


def reach_problems(asked: Iterable[Wanted], region: Region) -> Iterator[Problem]:
    """Yield what is fetched and does not arrive, with what to do about it.

    Args:
        asked: What the choices of the file fetch.
        region: The Region.
    """
    return unreached_problems(asked, region, [endpoint.value for endpoint in Endpoint])
