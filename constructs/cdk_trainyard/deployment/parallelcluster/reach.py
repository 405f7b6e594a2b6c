"""What the nodes of a ParallelCluster fetch: ParallelCluster itself, and the scripts that its actions run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.deployment.parallelcluster.section import ParallelClusterSection
from cdk_trainyard.deployment.reach import granted, metrics, node_place, reach_problems
from cdk_trainyard.network.spec import Endpoint, NetworkSpec
from cdk_trainyard.options.stand_ins import Subnet
from cdk_trainyard.parallelcluster.merge import value_at
from cdk_trainyard.parallelcluster.resolve import known
from cdk_trainyard.parallelcluster.rules_nodes import NEURON
from cdk_trainyard.parallelcluster.spec_nodes import NodeSoftware
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.reach import Place, Region, Wanted, given, wanted
from cdk_trainyard.tokens import Unknown, unresolved

_VENV = "--venv"


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes of one kind: where the file has them, what they run, and whose image they start from."""

    path: At
    at: str
    software: NodeSoftware
    image_id: str | None
    public: bool = False


def parallelcluster_reach_problems(
    cluster: ParallelClusterSection, network: object, region: str | None, monitoring: MonitoringSection | None = None
) -> list[Problem]:
    """Every kind of nodes that cannot reach what it fetches, with paths from the top of a file.

    Args:
        cluster: The cluster.
        network: The network's specification.
        region: The Region. None: not known.
        monitoring: Where its metrics go. Default - nowhere.
    """
    if region is None or not isinstance(network, NetworkSpec):
        return []
    at = Region(name=region)
    found: list[Wanted] = []
    for nodes in _nodes(cluster):
        place = node_place(network, at, at=nodes.at, public=nodes.public, gateways=[Endpoint.DYNAMODB])
        if place is not None:
            own = [*_itself(cluster, nodes, place), *_actions(cluster, nodes, place, at)]
            own += granted(cluster.grants, "parallelcluster", place, at, at=("grants",))
            found += [replace(each, at=("cluster", *each.at)) for each in own]
            if nodes.at != "login":
                found += metrics("parallelcluster", monitoring, place, at)
    return [*reach_problems(found, at), *_dns_problems(cluster, network)]


def _dns_problems(cluster: ParallelClusterSection, network: NetworkSpec) -> Iterator[Problem]:
    """Where the head node has no way out, names of nodes are in no zone: Route 53 is none of the endpoints.

    Source: wiki of aws-parallelcluster, "(3.1.1) Issue with clusters in isolated networks": ``DisableManagedDns`` true.
    """
    head = cluster.head_node
    if isinstance(head, Unknown) or network.has_nat is not False or cluster.slurm.managed_dns is not True:
        return
    if head.public is False and "Networking" not in (head.raw_overrides or {}):  # there may be a proxy
        text = "must be left out, or false: without NAT the head node cannot reach Route 53, got true"
        yield Problem(("cluster", "slurm", "managed_dns"), text)


def _nodes(cluster: ParallelClusterSection) -> Iterator[_Nodes]:
    head = cluster.head_node
    if not isinstance(head, Unknown):
        yield _Nodes(("head_node",), "head", head, head.image_id or cluster.image_id, public=head.public is True)
    for index, pool in known(cluster.login_pools):
        public = isinstance(pool.subnet, Subnet) and pool.subnet.value == "public"
        yield _Nodes(("login_pools", index), "login", pool, pool.image_id or cluster.image_id, public)
    for index, queue in known(cluster.queues):
        public = {subnet.subnet_id for subnet in queue.subnets or ()} == {"public"}
        yield _Nodes(("queues", index), "node", queue, queue.image_id or cluster.image_id, public)


def _itself(cluster: ParallelClusterSection, nodes: _Nodes, place: Place) -> Iterator[Wanted]:
    """What ParallelCluster asks, whatever its nodes run."""
    options = ["", *(["logs"] if cluster.monitoring.logs else [])]
    options += {"head": ["accounting"] if cluster.slurm.accounting else [], "login": ["login_pools"]}.get(nodes.at, [])
    for option in options:
        yield from wanted("parallelcluster", option, place, at=nodes.path)


def _actions(cluster: ParallelClusterSection, nodes: _Nodes, place: Place, region: Region) -> Iterator[Wanted]:
    proxied = value_at(nodes.software.raw_overrides, "Networking.Proxy") is not None
    system = "apt" if cluster.operating_system.startswith("ubuntu") else "dnf"
    for event in ("on_start", "on_configured"):
        for index, action in known(getattr(nodes.software, event)):
            if unresolved(action.script):
                continue
            path = (*nodes.path, event, index, "script")
            ours = cluster.scripts.folder is None and action.script == NEURON
            if ours and nodes.image_id is None:
                venv = [f"{NEURON} {_VENV}"] if nodes.at == "head" and _VENV in action.args else []
                for option in (NEURON, *venv):
                    remedy = "give an 'image_id' with Neuron"
                    yield from wanted("parallelcluster", option, place, remedy=remedy, system=system, at=path)
            if action.script.startswith("https://") and not proxied:
                remedy = "give a file of the folder of scripts"
                yield from given(action.script, place, region, remedy=remedy, at=path)
