"""What a ParallelCluster needs of its account: every queue at its largest."""

from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.parallelcluster.resolve import computes, nodes_at_most, type_names
from cdk_trainyard.parallelcluster.spec_nodes import HeadNode
from cdk_trainyard.parallelcluster.spec_queues import ComputeResource
from cdk_trainyard.quotas import Market, Needs, QuotaNeed, instance_needs, most_of
from cdk_trainyard.quotas.instances import MARKETS


def cluster_needs(deployment: DeploymentSpec) -> Needs:
    """Return what head node, login nodes and queues need."""
    section = deployment.cluster
    needs = _head_needs(section.head_node)
    for pool in section.login_pools:
        needs += instance_needs(InstanceType.of(pool.instance_type), pool.count)
        needs += Needs((QuotaNeed.of("network-load-balancers"),), frozenset({"elasticloadbalancing", "autoscaling"}))
    for _, queue, compute in computes(section):
        needs += _compute_needs(compute, MARKETS[queue.capacity])
    return needs


def _head_needs(head: HeadNode) -> Needs:
    new_address = head.elastic_ip_id is None and (head.public if head.elastic_ip is None else head.elastic_ip)
    address = Needs((QuotaNeed.of("elastic-ips"),)) if new_address else Needs()
    return instance_needs(InstanceType.of(head.instance_type), 1) + address


def _compute_needs(compute: ComputeResource, market: Market) -> Needs:
    types = [InstanceType.of(name) for name in type_names(compute)]
    return most_of(instance_needs(each, nodes_at_most(compute), market) for each in types)
