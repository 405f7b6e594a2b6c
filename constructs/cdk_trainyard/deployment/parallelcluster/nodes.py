"""What commands and rules of the whole file ask of the nodes of a ParallelCluster. No CDK."""

from collections.abc import Mapping
from itertools import chain

from cdk_trainyard.deployment.monitoring import NodeMetrics, exporters, types_of
from cdk_trainyard.deployment.parallelcluster.section import ParallelClusterSection
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.parallelcluster.facts import user_of
from cdk_trainyard.problems import At


def numbers(section: ParallelClusterSection) -> Mapping[str, At]:
    """Return where a file says how many nodes a queue has at most, by its name.

    Args:
        section: The cluster. Of a queue with several kinds of nodes each is ``queue/N``, counted from one.
    """
    return {
        queue.name if len(queue.compute) == 1 else f"{queue.name}/{number + 1}": (
            *("cluster", "queues", row, "compute", number),
            "max_count",
        )
        for row, queue in enumerate(section.queues)
        for number in range(len(queue.compute))
    }


def metrics(deployment: DeploymentSpec) -> NodeMetrics:
    """Return what the nodes give metrics of.

    Args:
        deployment: The deployment.
    """
    section: ParallelClusterSection = deployment.cluster
    kinds = [queue.compute for queue in section.queues]
    parts = (section.queues, *section.queues, section.head_node, *kinds, *chain.from_iterable(kinds))
    return NodeMetrics(exporters=exporters(deployment.monitoring), types=types_of(*parts))


def user(section: ParallelClusterSection) -> str:
    """Return the user that people work as: that of the operating system.

    Args:
        section: The cluster.
    """
    return user_of(section.operating_system) or "ubuntu"
