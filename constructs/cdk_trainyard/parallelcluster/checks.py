"""Every rule of a ParallelCluster, and the one place where all are asked. Pure: nothing is created here."""

from cdk_trainyard.parallelcluster.resolved import ResolvedCluster
from cdk_trainyard.parallelcluster.rules_cluster import (
    accounting_problems,
    address_problems,
    architecture_problems,
    cluster_name_problems,
    count_problems,
    head_memory_problems,
    operating_system_problems,
    region_problems,
    resource_prefix_problems,
    slurm_settings_problems,
    suppressed_validator_problems,
    tag_problems,
    timeout_problems,
    unique_name_problems,
    version_problems,
)
from cdk_trainyard.parallelcluster.rules_config import (
    config_problems,
    extra_problems,
)
from cdk_trainyard.parallelcluster.rules_nodes import (
    head_problems,
    pool_problems,
)
from cdk_trainyard.parallelcluster.rules_queues import (
    queue_problems,
)
from cdk_trainyard.parallelcluster.rules_storage import (
    ebs_problems,
    efs_problems,
    lustre_problems,
    mount_problems,
    storage_count_problems,
    storage_name_problems,
    zone_problems,
)

_RULES = (
    cluster_name_problems,
    version_problems,
    region_problems,
    operating_system_problems,
    count_problems,
    unique_name_problems,
    architecture_problems,
    head_memory_problems,
    resource_prefix_problems,
    accounting_problems,
    slurm_settings_problems,
    timeout_problems,
    suppressed_validator_problems,
    tag_problems,
    address_problems,
    head_problems,
    pool_problems,
    queue_problems,
    mount_problems,
    storage_name_problems,
    storage_count_problems,
    lustre_problems,
    zone_problems,
    ebs_problems,
    efs_problems,
    extra_problems,
    config_problems,
)


def cluster_problems(cluster: ResolvedCluster) -> list[str]:
    """Return everything that is wrong with a cluster, each thing once.

    Args:
        cluster: The cluster with its defaults.
    """
    return list(dict.fromkeys(problem for rule in _RULES for problem in rule(cluster)))
