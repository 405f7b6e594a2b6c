"""Every rule of a ParallelCluster, and the one place where all are asked: constructor and file call it alike. Pure."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, cast

from cdk_trainyard.parallelcluster import (
    rules_addresses,
    rules_cluster,
    rules_config,
    rules_metrics,
    rules_node_names,
    rules_nodes,
    rules_partitions,
    rules_queues,
    rules_raw,
    rules_raw_options,
    rules_slurm,
    rules_slurm_combinations,
    rules_slurm_nodes,
    rules_slurm_plugins,
    rules_slurm_unheeded,
    rules_slurm_versions,
    rules_storage,
    rules_venv,
    rules_versions,
)
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.tokens import Unknown

Rule = Callable[[ParallelClusterSpec, ParallelClusterFacts], Iterator[Problem]]
RULES: Final[tuple[Rule, ...]] = (
    rules_cluster.cluster_name_problems,
    rules_cluster.version_problems,
    rules_cluster.region_problems,
    rules_versions.older_version_problems,
    rules_cluster.count_problems,
    rules_cluster.unique_name_problems,
    rules_cluster.joined_name_problems,
    rules_cluster.architecture_problems,
    rules_cluster.head_memory_problems,
    rules_cluster.resource_prefix_problems,
    rules_cluster.accounting_problems,
    rules_slurm.slurm_settings_problems,
    rules_slurm_combinations.combination_problems,
    rules_slurm_unheeded.unheeded_problems,
    rules_slurm_plugins.plugin_problems,
    rules_slurm_versions.slurm_version_problems,
    rules_slurm_nodes.node_parameter_problems,
    rules_slurm_nodes.default_memory_problems,
    rules_slurm_nodes.whole_node_problems,
    rules_slurm_nodes.gpu_problems,
    rules_partitions.partition_name_problems,
    rules_partitions.partition_limit_problems,
    rules_partitions.partition_preemption_problems,
    rules_partitions.partition_size_problems,
    rules_partitions.partition_choice_problems,
    rules_node_names.node_name_problems,
    rules_cluster.timeout_problems,
    rules_cluster.suppressed_validator_problems,
    rules_cluster.tag_problems,
    rules_addresses.address_problems,
    rules_nodes.head_problems,
    rules_nodes.pool_problems,
    rules_venv.venv_problems,
    rules_nodes.policy_problems,
    rules_queues.queue_problems,
    rules_queues.compute_problems,
    rules_queues.reservation_type_problems,
    rules_queues.block_size_problems,
    rules_storage.mount_problems,
    rules_storage.scratch_problems,
    rules_storage.storage_name_problems,
    rules_storage.storage_count_problems,
    rules_storage.zone_problems,
    rules_storage.file_system_problems,
    rules_storage.ebs_problems,
    rules_storage.efs_problems,
    rules_metrics.metrics_problems,
    rules_metrics.port_problems,
    rules_metrics.daemon_port_problems,
    rules_raw_options.option_problems,
    rules_raw.raw_problems,
)


def cluster_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> list[Problem]:
    """Return everything that is wrong with a cluster, each thing once.

    Problems of what it stands in have the path ``region``, ``network`` or ``mounts``.

    Args:
        spec: The resolved cluster, with unknowns where something has a wrong form.
        context: What it stands in.
    """
    of_config = list(rules_config.config_problems(spec, context))
    of_system = [*rules_cluster.operating_system_problems(spec, context)]
    if any(problem.at == ("operating_system",) for problem in of_system):
        spec = replace(spec, operating_system=cast("str", Unknown()))  # nothing follows from what is none
    found = [*of_system, *(problem for rule in RULES for problem in rule(spec, context))]
    keys = {problem.at for problem in found if problem.of_key}
    found += [problem for problem, is_raw in of_config if is_raw and keys.isdisjoint(_around(problem.at))]
    return list(dict.fromkeys(found)) or [problem for problem, _ in of_config]


def _around(at: At) -> list[At]:
    """Return where something is, and all that it is in: what should not be there is answered as a whole."""
    return [at[:length] for length in range(1, len(at) + 1)]
