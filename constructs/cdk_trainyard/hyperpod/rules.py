"""Every rule of a HyperPod cluster, and the one place where all are asked: pure, silent about Tokens."""

from collections.abc import Iterator
from typing import Any

from cdk_trainyard.hyperpod.limits import EBS_MOUNT
from cdk_trainyard.hyperpod.resolved import ResolvedCluster, node_group
from cdk_trainyard.hyperpod.rules_cluster import CLUSTER_RULES
from cdk_trainyard.hyperpod.rules_groups import group_problems
from cdk_trainyard.hyperpod.rules_metrics import metrics_problems
from cdk_trainyard.hyperpod.rules_network import address_problems, zone_problems
from cdk_trainyard.hyperpod.rules_reach import reach_problems
from cdk_trainyard.hyperpod.rules_region import region_problems, sold_problems
from cdk_trainyard.hyperpod.rules_versions import file_system_problems, neuron_package_problems
from cdk_trainyard.lifecycle.rules_setup import Nodes, setup_problems
from cdk_trainyard.lifecycle.settings import NodeGroup
from cdk_trainyard.problems import Problem, within
from cdk_trainyard.tokens import Unknown, unresolved

_RULES = (
    *CLUSTER_RULES,
    region_problems,
    sold_problems,
    address_problems,
    zone_problems,
    neuron_package_problems,
    file_system_problems,
    metrics_problems,
    reach_problems,
)


def cluster_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Yield everything that is wrong with a cluster: the whole first, then group by group, then what is set up.

    Args:
        cluster: The resolved cluster.
    """
    for rule in _RULES:
        yield from rule(cluster)
    for group in cluster.groups:
        yield from group_problems(group)
    setup = cluster.spec.node_setup
    if setup is not None and not unresolved(setup) and cluster.runs_own_scripts:
        yield from within(("node_setup",), setup_problems(setup, nodes(cluster)))


def nodes(cluster: ResolvedCluster) -> Nodes:
    """Return what the scripts' rules ask of the nodes.

    Args:
        cluster: The resolved cluster.
    """
    mounts = [mount.path for mount in cluster.facts.mounts]
    volumes = [EBS_MOUNT] if any(group.spec.volumes for group in cluster.groups) else []
    groups = [node_group(group) for group in cluster.groups]
    if not cluster.is_whole:  # of the others nothing is known
        nothing: Any = Unknown()
        groups.append(NodeGroup(name=nothing, role=nothing, instance_types=(nothing,)))
    paths = {mount.kind: mount.path for mount in cluster.facts.mounts}
    lustre, openzfs = paths.get("Lustre"), paths.get("OpenZFS")
    homes = openzfs or lustre
    return Nodes(
        groups=groups,
        mounts=[*mounts, *volumes],
        shared=lustre or openzfs,
        home=homes and f"{homes}/ubuntu",
        metrics=cluster.facts.scrape_seconds is not None,
    )
