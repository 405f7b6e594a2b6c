"""Whether the Slurm that a version of ParallelCluster brings knows what is said. Pure: nothing is created here."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.resolve import computes, known
from cdk_trainyard.parallelcluster.rules_slurm_plugins import has_own_head_node
from cdk_trainyard.parallelcluster.slurm_lines import lines_of
from cdk_trainyard.parallelcluster.slurm_values import slurm_facts
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.tokens import unresolved

_ANSWERED = "accountingstorageloc"
"""What is removed for good, which is answered as that."""


def slurm_version_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Iterator[Problem]:
    """A parameter is one of that Slurm, which ends at others ("unrecognized key" of ``parse_config.c``).

    An image, a script or raw keys of yours may bring another.
    """
    if unresolved(spec.version) or has_own_head_node(spec):
        return
    version = limits.SLURM.get(str(spec.version).rpartition(".")[0], "")
    for table, names in slurm_facts()["absent"].get(version, {}).items():
        absent = {name.lower() for name in names} - {_ANSWERED}
        for at, line in (*lines_of(spec, table), *_levels(spec, table)):
            for name in line:
                if name.lower() in absent:
                    text = f"is no parameter of Slurm {version}, which ParallelCluster {spec.version} has; remove it"
                    yield Problem((*at, name), text, of_key=True)


def _levels(spec: ParallelClusterSpec, table: str) -> Iterator[tuple[At, Mapping[str, Any]]]:
    """Yield what queues, or their kinds of nodes, say of themselves."""
    said = ((("queues", index, "slurm"), queue.slurm) for index, queue in known(spec.queues) if table == "partition")
    nodes = (((*at, "slurm"), compute.slurm) for at, _, compute in computes(spec) if table == "node")
    yield from ((at, line) for at, line in (*said, *nodes) if line and not unresolved(line))
