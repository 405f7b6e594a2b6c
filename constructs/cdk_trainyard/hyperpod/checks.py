"""Every rule of a HyperPod cluster, and the one place where all are asked."""

from collections.abc import Callable

from cdk_trainyard.hyperpod.resolved import ResolvedCluster, ResolvedGroup
from cdk_trainyard.hyperpod.rules_cluster import (
    bundle_topology_problems,
    cluster_name_problems,
    continuous_problems,
    controller_count_problems,
    group_list_problems,
    legacy_problems,
    network_problems,
    override_problems,
    partition_problems,
    password_problems,
    role_problems,
    script_source_problems,
    security_group_problems,
    strategy_problems,
)
from cdk_trainyard.hyperpod.rules_groups import (
    capacity_problems,
    count_problems,
    deep_health_check_problems,
    group_name_problems,
    image_problems,
    instance_type_problems,
    interface_problems,
    mount_problems,
    raw_override_problems,
    script_problems,
    threads_problems,
    update_problems,
    volume_problems,
)
from cdk_trainyard.hyperpod.rules_network import address_problems, zone_problems
from cdk_trainyard.hyperpod.rules_reach import download_problems
from cdk_trainyard.hyperpod.rules_versions import neuron_package_problems

_CLUSTER_RULES: tuple[Callable[[ResolvedCluster], list[str]], ...] = (
    cluster_name_problems,
    group_list_problems,
    role_problems,
    partition_problems,
    password_problems,
    strategy_problems,
    continuous_problems,
    controller_count_problems,
    legacy_problems,
    bundle_topology_problems,
    script_source_problems,
    network_problems,
    security_group_problems,
    override_problems,
    address_problems,
    zone_problems,
    neuron_package_problems,
    download_problems,
)
_GROUP_RULES: tuple[Callable[[ResolvedGroup], list[str]], ...] = (
    group_name_problems,
    instance_type_problems,
    count_problems,
    threads_problems,
    volume_problems,
    capacity_problems,
    deep_health_check_problems,
    interface_problems,
    image_problems,
    update_problems,
    script_problems,
    mount_problems,
    raw_override_problems,
)


def everything_wrong(cluster: ResolvedCluster) -> list[str]:
    """Return everything that is wrong with a cluster: the whole first, and then group by group.

    Args:
        cluster: The cluster with its defaults.
    """
    problems = [problem for rule in _CLUSTER_RULES for problem in rule(cluster)]
    return problems + [problem for group in cluster.groups for rule in _GROUP_RULES for problem in rule(group)]
