"""What the nodes of a ParallelCluster fetch: ParallelCluster itself, and the scripts that its actions run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cdk_trainyard.deployment.parallelcluster.section import (
    ActionSection,
    HeadNodeSection,
    LoginPoolSection,
    ParallelClusterSection,
    QueueSection,
)
from cdk_trainyard.deployment.reach import granted, node_place, reach_problems
from cdk_trainyard.network.spec import Endpoint, ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.reach import Place, Region, Wanted, given_address, wanted

_NEURON = "neuron.sh"
_VENV = "--venv"


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes of one kind: what they are called, what they run, and whose image they start from."""

    subject: str
    at: str
    actions: Sequence[ActionSection]
    image_id: str | None
    public: bool = False


def parallelcluster_reach_problems(
    cluster: ParallelClusterSection, network: NetworkSpec | ExistingNetworkSpec | None, region: str | None
) -> list[str]:
    """Every kind of nodes that cannot reach what it fetches.

    Args:
        cluster: The cluster.
        network: The network section; None when it has not the right form.
        region: The Region; None likewise.
    """
    if region is None:
        return []
    at = Region(name=region)
    found: list[Wanted] = []
    for nodes in _nodes(cluster):
        place = node_place(network, at, at=nodes.at, public=nodes.public, gateways=[Endpoint.DYNAMODB])
        if place is not None:
            found += [*_itself(cluster, nodes, place), *_actions(cluster, nodes, place, at)]
            found += granted(cluster, "parallelcluster", place, of=f" on {nodes.subject}")
    return reach_problems(found, at)


def _nodes(cluster: ParallelClusterSection) -> Iterator[_Nodes]:
    head = cluster.head_node
    yield _Nodes("the head node", "head", _scripts(head), head.image_id or cluster.image_id, head.public)
    for pool in cluster.login_pools:
        image, public = pool.image_id or cluster.image_id, pool.subnet == "public"
        yield _Nodes(f"login pool {pool.name!r}", "login", _scripts(pool), image, public)
    for queue in cluster.queues:
        image, public = queue.image_id or cluster.image_id, set(queue.subnets) == {"public"}
        yield _Nodes(f"queue {queue.name!r}", "node", _scripts(queue), image, public)


def _scripts(section: HeadNodeSection | LoginPoolSection | QueueSection) -> Sequence[ActionSection]:
    return [*section.on_start, *section.on_configured]


def _itself(cluster: ParallelClusterSection, nodes: _Nodes, place: Place) -> Iterator[Wanted]:
    """What ParallelCluster asks, whatever its nodes run."""
    options = ["", *(["logs"] if cluster.monitoring.logs else [])]
    options += {"head": ["accounting"] if cluster.slurm.accounting else [], "login": ["login_pools"]}.get(nodes.at, [])
    for option in options:
        yield from wanted("parallelcluster", option, place, nodes.subject)


def _actions(cluster: ParallelClusterSection, nodes: _Nodes, place: Place, region: Region) -> Iterator[Wanted]:
    system = "apt" if cluster.operating_system.startswith("ubuntu") else "dnf"
    for action in nodes.actions:
        subject = f"{action.script!r} of {nodes.subject}"
        ours = cluster.scripts.folder is None and action.script == _NEURON
        if ours and nodes.image_id is None:
            venv = [f"{_NEURON} {_VENV}"] if nodes.at == "head" and _VENV in action.args else []
            for option in (_NEURON, *venv):
                remedy = "give an 'image_id' with Neuron"
                yield from wanted("parallelcluster", option, place, subject, remedy=remedy, system=system)
        address = given_address(action.script, region) if action.script.startswith("https://") else None
        if address is not None:
            yield Wanted(subject=subject, address=address, place=place, remedy="give a file of the folder of scripts")
