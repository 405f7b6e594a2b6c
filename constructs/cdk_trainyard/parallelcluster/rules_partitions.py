"""Whether Slurm's partitions, the queues and those of one's own, go together. Pure: nothing is created here."""

from collections.abc import Iterator

from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.resolve import known
from cdk_trainyard.parallelcluster.slurm_lines import said
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import Problem, shown

Problems = Iterator[Problem]


def partition_name_problems(spec: ParallelClusterSpec, _: ClusterContext) -> Problems:
    """A partition of your own is no queue, and said once: Slurm ends at a second one of a name."""
    taken = {str(queue.name): "a queue" for _, queue in known(spec.queues)}
    for at, name in said(spec, "partitionname", "partition"):
        if isinstance(name, str) and name in taken and name.upper() != "DEFAULT":
            yield Problem(at, f"must be another name, got {shown(name)}, which is {taken[name]} already")
        taken.setdefault(str(name), "a partition")
