"""Facts for ParallelCluster's rules: subnets, zones, mounts, stack name. The constructor and the file make the same."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from cdk_trainyard.lifecycle.spec import Exporters
from cdk_trainyard.parallelcluster.spec_nodes import HeadNode
from cdk_trainyard.storage.mount_facts import MountFacts
from cdk_trainyard.tokens import unresolved


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where nodes are put.

    Attributes:
        accelerator_subnet: The private subnet.
        accelerator_cidr: Its block, or None when it is not known.
        endpoint_addresses: How many of its addresses interface endpoints take, as far as it is known.
        public_subnets: The public subnets.
        gives_addresses: Whether instances in the public subnets get a public address by themselves. None: not known.
        zones: Zones of subnets by their ids, as far as they are known.
        blocks: Blocks of subnets other than the private one by their ids, as far as they are known.
        zone: Zone of the private subnet.
        has_nat: Whether the private subnet reaches the internet.
        endpoints: Services that it has endpoints of without, as far as they are known.
    """

    accelerator_subnet: str
    accelerator_cidr: str | None
    public_subnets: tuple[str, ...]
    zone: str | None
    has_nat: bool
    gives_addresses: bool | None = None
    zones: Mapping[str, str] = field(default_factory=dict)
    blocks: Mapping[str, IPv4Network] = field(default_factory=dict)
    endpoints: Collection[str] = ()
    endpoint_addresses: int = 0

    def of_head_node(self, head: HeadNode) -> str | None:
        """Return the head node's subnet, or None when it is to be public and no subnet is."""
        if head.subnet is not None:
            return head.subnet.subnet_id
        if head.public and not unresolved(head.public):
            return self.public_subnets[0] if self.public_subnets else None
        return self.accelerator_subnet


@dataclass(frozen=True, kw_only=True, slots=True)
class ParallelClusterFacts:
    """What a cluster stands in.

    Attributes:
        place: Where nodes are put.
        mounts: The file systems that every node mounts.
        region: The Region. None: not known.
        default_name: The cluster's name where it is given none.
        stack_name: Name of its stack. None: not known.
        other_names: Names of the app's other clusters.
        provider_version: Version of a provider that was given. None: none was.
        scrape_seconds: How many seconds lie between two samples of its metrics. None: they go nowhere.
        exporters: What its nodes were said to run for them. None: nothing was said.
        scripts_bucket: Whether there is a bucket for the project's own scripts.
    """

    place: Place
    mounts: Sequence[MountFacts] = ()
    region: str | None = None
    default_name: str = "cluster"
    stack_name: str | None = None
    other_names: Sequence[str] = ()
    provider_version: str | None = None
    scrape_seconds: int | None = None
    exporters: Exporters | None = None
    scripts_bucket: bool = False


def volume_name(at: str) -> str:
    """Return the name of what is mounted at a path and was given none."""
    return at.strip("/").replace("/", "-")
