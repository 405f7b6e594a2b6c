"""What a ParallelCluster needs of its account: every queue at its largest."""

from collections.abc import Mapping
from typing import Final

from cdk_trainyard.deployment.parallelcluster.model import ParallelClusterDeployment
from cdk_trainyard.deployment.parallelcluster.section import CapacityName, ComputeSection, HeadNodeSection
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.quotas import Market, Needs, QuotaNeed, instance_needs, most_of

_MARKETS: Final[Mapping[CapacityName, Market]] = {
    "on-demand": Market.ON_DEMAND,
    "spot": Market.SPOT,
    "capacity-block": Market.RESERVED,
}


def cluster_needs(deployment: ParallelClusterDeployment) -> Needs:
    """Return what head node, login nodes and queues need."""
    section = deployment.cluster
    needs = _head_needs(section.head_node)
    for pool in section.login_pools:
        needs += instance_needs(InstanceType.of(pool.instance_type), pool.count)
        needs += Needs((QuotaNeed.of("network-load-balancers"),), frozenset({"elasticloadbalancing", "autoscaling"}))
    for queue in section.queues:
        for compute in queue.compute:
            needs += _compute_needs(compute, _MARKETS[queue.capacity])
    return needs


def _head_needs(head: HeadNodeSection) -> Needs:
    new_address = head.elastic_ip_id is None and (head.public if head.elastic_ip is None else head.elastic_ip)
    address = Needs((QuotaNeed.of("elastic-ips"),)) if new_address else Needs()
    return instance_needs(InstanceType.of(head.instance_type), 1) + address


def _compute_needs(compute: ComputeSection, market: Market) -> Needs:
    names = (*([compute.instance_type] if compute.instance_type else []), *compute.instance_types)
    return most_of(instance_needs(InstanceType.of(name), compute.max_count, market) for name in names)
