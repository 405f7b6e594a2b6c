"""Whether lines of ``slurm.conf`` name nodes that are there. Pure: nothing is created here.

Slurm ends at a partition of nodes that it does not know, and at a node that is defined twice ("Invalid node names in
partition", "Duplicated NodeName": ``read_config.c`` of Slurm 23.11 to 26.05).
"""

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import Any, Final

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.resolve import computes, known, nodes_at_most
from cdk_trainyard.parallelcluster.slurm_lines import said
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_MOST: Final = 65_536
"""Hosts of one range (``MAX_RANGE`` of ``hostlist.c``)."""
_PART: Final = re.compile(r"[^\[\],]+|\[([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)\]")
_LIST: Final = re.compile(r"(?:[^\[\],]|\[[^\]]*\])+")
_OWN: Final = re.compile(r"(.+-(?:st|dy)-.+-)([1-9][0-9]*)")


def node_name_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A node is defined once, and partitions, sets and lines of DownNodes name nodes that are."""
    counts, names = _of_queues(spec), set[str]()
    for at, value in said(spec, "nodename", "node"):
        hosts = None if str(value).upper() == "DEFAULT" else _hosts(value)
        again = next((host for host in hosts or () if host in names), None)
        if again is not None:
            yield Problem(at, f"must be defined once, got {shown(again)} a second time")
        names.update(hosts or ())
        if hosts is None and str(value).upper() != "DEFAULT":
            return
    sets = {str(name) for _, name in said(spec, "nodeset", "nodeset")}
    names |= sets | {f"{queue.name}_nodes" for _, queue in known(spec.queues)}
    nodes = [one for _, queue in known(spec.queues) for one in (queue.compute, *queue.compute)]
    if unresolved(spec.queues, *spec.queues, *nodes, *counts, *counts.values()):
        return
    wanted = [*said(spec, "nodes", "partition"), *said(spec, "nodes", "nodeset"), *said(spec, "downnodes", "downnodes")]
    for at, value in wanted:
        hosts = [] if str(value).upper() == "ALL" else _hosts(value) or []
        missing = next((host for host in hosts if host not in names and not _is_of_queue(host, counts)), None)
        if missing is not None:
            text = "must be nodes of a line of NodeName, or of a queue, as "
            yield Problem(at, f"{text}{_example(spec)}, got {shown(missing)}")


def _of_queues(spec: ParallelClusterSpec) -> dict[str, int]:
    """Return how many nodes ParallelCluster names with each prefix (``config_renderer.py`` of its cookbooks)."""
    counts: dict[str, int] = {}
    for _, queue, compute in computes(spec):
        least = compute.min_count or 0
        counts[f"{queue.name}-st-{compute.name}-"] = least
        counts[f"{queue.name}-dy-{compute.name}-"] = least if unresolved(least) else nodes_at_most(compute) - least
    return counts


def _is_of_queue(host: str, counts: dict[str, int]) -> bool:
    match = _OWN.fullmatch(host)
    return match is not None and int(match[2]) <= counts.get(match[1], 0)


def _example(spec: ParallelClusterSpec) -> str:
    return next((f"{queue.name}_nodes" for _, queue in known(spec.queues)), "ALL")


def _hosts(value: Any) -> list[str] | None:
    """Return the names that a list of hosts stands for. None: it is not known, or of a form that is not read here."""
    if not isinstance(value, str) or unresolved(value) or re.search(r"[{}\\]", value):
        return None
    found: list[str] = []
    for one in _LIST.findall(re.sub(r"\s+", ",", value.strip('"'))):
        parts = list(_PART.finditer(one))
        if "".join(part[0] for part in parts) != one:
            return None
        texts = [list(_range(part[1])) if part[1] else [part[0]] for part in parts]
        found += ["".join(words) for words in islice(product(*texts), _MOST)]
        if len(found) >= _MOST:
            return None
    return found


def _range(text: str) -> Iterator[str]:
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        for number in range(int(first), min(int(last or first), int(first) + _MOST) + 1):
            yield str(number).zfill(len(first))
