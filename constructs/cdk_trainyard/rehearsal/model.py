"""What a rehearsal is told of a cluster: its groups, its nodes, its file systems. Plain values, no service asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network
from typing import Self

_ROLES = ("controller", "master", "login", "compute", "worker")


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleConfig:
    """What HyperPod runs on a new node.

    Attributes:
        source: ``s3://<bucket>/<prefix>`` of the scripts.
        on_create: The script that configures the node, or None.
        on_init_complete: The script that adds to what the machine image configures, or None.
    """

    source: str
    on_create: str | None = None
    on_init_complete: str | None = None

    @property
    def entry(self) -> str | None:
        """The script that runs."""
        return self.on_create or self.on_init_complete


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """An instance group.

    Attributes:
        name: Its name.
        role: ``controller``, ``login`` or ``compute``; ``master`` or ``worker`` where there is no Slurm.
        instance_type: As ``ml.c5.4xlarge`` or ``c5.4xlarge``.
        partition: Slurm partition of a compute group beside ``dev``, or None.
        lifecycle: What runs on its nodes, or None when the machine image does everything.
        lustre: DNS name, mount name and path that HyperPod mounts, or None.
        execution_role: ARN of the role of its nodes in HyperPod, or None.
    """

    name: str
    role: str
    instance_type: str
    partition: str | None = None
    lifecycle: LifecycleConfig | None = None
    lustre: tuple[str, str, str] | None = None
    execution_role: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One instance.

    Attributes:
        group: Name of its group.
        number: Its number in the group, from 1.
        address: Its address in the cluster's subnet.
        instance_id: ``i-`` and 17 hexadecimal digits.
        host_name: A host name of its own, in the cluster's domain. Default - the one that EC2 gives.
    """

    group: str
    number: int
    address: IPv4Address
    instance_id: str
    host_name: str | None = None

    @property
    def name(self) -> str:
        """HyperPod's ``InstanceName``: the group's name and the number."""
        return f"{self.group}-{self.number}"

    @property
    def host(self) -> str:
        """Its host name; one from EC2 is kept by a node that is replaced, because it keeps its address."""
        return self.host_name or f"ip-{str(self.address).replace('.', '-')}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lustre:
    """A file system.

    Attributes:
        dns_name: Where its servers are; the part before the first dot is its id.
        mount_name: Its mount name.
    """

    dns_name: str
    mount_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A cluster as the control plane sees it.

    Attributes:
        name: Its name.
        arn: Its ARN; the part after the last slash is its id.
        region: Its region.
        subnet: The subnet of its nodes.
        groups: Its instance groups.
        nodes: Its instances.
        file_systems: File systems that its nodes can reach.
        zone: Availability zone of the subnet.
        domain: Where hosts with a name of their own are named. Default - where EC2 names the others.
    """

    name: str
    arn: str
    region: str
    subnet: IPv4Network
    groups: Sequence[Group]
    nodes: Sequence[Node]
    file_systems: Sequence[Lustre] = ()
    zone: str = ""
    domain: str = ""

    def group(self, name: str) -> Group:
        """Return the group of that name."""
        return next(group for group in self.groups if group.name == name)

    def group_of(self, node: Node) -> Group:
        """Return the group of a node."""
        return self.group(node.group)

    def with_role(self, *roles: str) -> list[Node]:
        """Return the nodes of the groups that have one of these roles, in the order of the groups."""
        return [node for group in self.groups if group.role in roles for node in self.nodes if node.group == group.name]

    def find(self, name: str) -> Node | None:
        """Return the node of this name, host name or instance id, or None."""
        return next((node for node in self.nodes if name in {node.name, node.host, node.instance_id}), None)

    def with_nodes(self, nodes: Sequence[Node]) -> Self:
        """Return the cluster with other nodes."""
        return replace(self, nodes=tuple(nodes))

    @property
    def names(self) -> Mapping[str, str]:
        """The subnet's name service: every name, with its address."""
        zone = f"{self.region}.compute.internal"
        hosts = {
            f"{node.host}.{self.domain or zone if node.host_name else zone}": str(node.address) for node in self.nodes
        }
        # a file system's servers are behind the bridge: nothing asks them more than their address
        return hosts | {system.dns_name: str(self.subnet[1]) for system in self.file_systems}

    def capped(self, most: int) -> Self:
        """Return the cluster with at most ``most`` nodes: those first that there is one of, and workers last."""
        ranked = [node for role in _ROLES for node in self.with_role(role)]
        kept = {node.name for node in ranked[:most]}
        return self.with_nodes([node for node in self.nodes if node.name in kept])
