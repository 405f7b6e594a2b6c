"""What a file hands to ``slurm.conf``, as its lines. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.parallelcluster.resolve import known
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_queues import Queue
from cdk_trainyard.problems import At
from cdk_trainyard.tokens import unresolved

_LINES: Final = {"partitionname": "partition", "nodename": "node", "nodeset": "nodeset", "downnodes": "downnodes"}
"""What a line with parameters of its own begins with, in small letters, and their table."""


def table_of(line: Mapping[str, Any]) -> str:
    """Return what a line defines, by the name that it begins with."""
    return _LINES.get(next(iter(line), "").lower(), "cluster")


def lines_of(spec: ParallelClusterSpec, table: str) -> Iterator[tuple[At, Mapping[str, Any]]]:
    """Yield the lines of one's own that define something, with their places."""
    for index, line in known(spec.slurm.custom):
        if table_of(line) == table:
            yield ("slurm", "custom", index), line


def said(spec: ParallelClusterSpec, wanted: str, table: str = "cluster") -> Iterator[tuple[At, Any]]:
    """Yield where a parameter, in small letters, is said in lines of a kind, and its value."""
    for at, line in lines_of(spec, table):
        yield from (((*at, name), value) for name, value in line.items() if name.lower() == wanted)


def texts(spec: ParallelClusterSpec, wanted: str) -> Iterator[tuple[At, str]]:
    """Yield where a parameter of the cluster, in small letters, is said, and its value without quotes; no Tokens."""
    for at, value in said(spec, wanted):
        if not unresolved(value) and isinstance(value, str | int):
            yield at, str(value).strip('"')


def is_said(spec: ParallelClusterSpec, wanted: str) -> bool:
    """Return whether a parameter of the cluster, in small letters, is said."""
    return any(True for _ in said(spec, wanted))


def queues_without(spec: ParallelClusterSpec, *wanted: str) -> list[Queue]:
    """Return the queues that say none of some parameters, in small letters; a Token may say any."""
    return [
        queue
        for _, queue in known(spec.queues)
        if not unresolved(queue.slurm) and {name.lower() for name in queue.slurm or ()}.isdisjoint(wanted)
    ]
