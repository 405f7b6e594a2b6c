"""Whether Slurm's partitions, the queues and those of one's own, go together. Pure: nothing is created here.

Sources: slurm.conf(5), and ``read_config.c``, ``job_mgr.c`` and ``preempt.c`` of Slurm 23.11 to 26.05.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.resolve import known, nodes_at_most
from cdk_trainyard.parallelcluster.rules_slurm_plugins import has_own_head_node
from cdk_trainyard.parallelcluster.slurm_lines import lines_of, queues_without, said
from cdk_trainyard.parallelcluster.slurm_values import ENDLESS, minutes_of, number_of
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, either, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_IGNORED: Final = {
    "DefMemPerCPU": "DefMemPerNode",
    "MaxMemPerCPU": "MaxMemPerNode",
    "DenyAccounts": "AllowAccounts",
    "DenyQos": "AllowQos",
    "PropagateResourceLimits": "PropagateResourceLimitsExcept",
}
"""What Slurm ignores beside another parameter, which it takes alone."""
_MEMORY: Final = {"defmempernode": "defmem", "maxmempernode": "maxmem"}
"""Limits of which Slurm takes the cluster's where a partition says 0, and what those of the cluster begin with."""
_TRUE: Final = ("yes", "up", "true", "1")


def partition_name_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A partition of your own is no queue, and said once: Slurm ends at a second one of a name."""
    taken = {str(queue.name): "a queue" for _, queue in known(spec.queues)}
    for at, name in said(spec, "partitionname", "partition"):
        if isinstance(name, str) and name in taken and name.upper() != "DEFAULT":
            yield Problem(at, f"must be another name, got {shown(name)}, which is {taken[name]} already")
        taken.setdefault(str(name), "a partition")


def partition_limit_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Limits that are said in one place do not exclude one another; a queue's own take the place of the cluster's."""
    for at, parameters in _partitions(spec):
        places = {name: (*at, name) for name in parameters}
        yield from (*_ignored_problems(places, parameters), *_order_problems(places, parameters))
    lines = list(lines_of(spec, "cluster"))
    places = {name: (*at, name) for at, line in lines for name in line}
    everything = {name: value for _, line in lines for name, value in line.items()}
    yield from _ignored_problems(places, everything)
    yield from _zero_problems(spec, everything)
    if queues_without(spec, "defmempernode", "defmempercpu", "maxmempernode", "maxmempercpu"):
        yield from _order_problems(places, everything)


def _zero_problems(spec: ParallelClusterSpec, everything: Mapping[str, Any]) -> Problems:
    """A limit of 0 is none, and the cluster's counts (``def_mem_per_cpu`` and ``max_mem_per_cpu`` of ``job_mgr.c``)."""
    limited = [name for name, value in everything.items() if not unresolved(value) and not _is_zero(value)]
    for at, parameters in _partitions(spec):
        for name, value in parameters.items():
            form = rf"(?i){_MEMORY.get(name.lower(), '(?!)')}per(node|cpu)"
            counts = next((one for one in limited if re.fullmatch(form, one)), None)
            if counts and not unresolved(value) and _is_zero(value):
                text = f"must be more than 0, or be left out, got {shown(value)}; Slurm would take {counts} of the"
                yield Problem((*at, name), f"{text} cluster, {shown(everything[counts])}")


def _is_zero(value: Any) -> bool:
    return re.fullmatch("(?i)(0x)?0+k?", str(value).strip('"')) is not None


def partition_preemption_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Preemption is said of a partition where Slurm preempts by partitions, which resumes jobs with GANG alone."""
    kinds = [value for _, value in said(spec, "preempttype")]
    if unresolved(*kinds) or has_own_head_node(spec):
        return
    kind = "".join(str(value).strip('"') for value in kinds) or "preempt/none"
    gang = any(unresolved(mode) or "gang" in str(mode).lower() for _, mode in said(spec, "preemptmode"))
    for at, parameters in _partitions(spec):
        for name, value in parameters.items():
            words = set[str]() if unresolved(value) else {*str(value).strip('"').lower().split(",")}
            is_none = all(word == "off" or _is_zero(word) for word in words)
            if name.lower() not in ("preemptmode", "gracetime") or is_none:
                continue
            if kind in ("preempt/none", "preempt/qos"):
                text = "must be given with PreemptType preempt/partition_prio in 'custom' of 'slurm'"
                yield Problem((*at, name), f"{text}, got {shown(value)} with {kind}; Slurm would ignore it")
            elif "gang" in words and not _has_gang_partitions(spec):
                text = "must be without GANG, which PreemptMode in 'custom' of 'slurm' gives to the whole cluster"
                yield Problem((*at, name), f"{text}, got {shown(value)}; Slurm would ignore it")
            elif not gang and not words.isdisjoint({"on", "suspend"}):
                text = "must be given with GANG in the PreemptMode of 'custom' of 'slurm', as GANG,REQUEUE"
                yield Problem((*at, name), f"{text}, got {shown(value)} without; Slurm would not resume jobs")


def _has_gang_partitions(spec: ParallelClusterSpec) -> bool:
    """Whether the version's Slurm, before 24.11, may take GANG of a partition ("cluster-wide" of ``read_config.c``)."""
    return unresolved(spec.version) or limits.SLURM.get(str(spec.version).rpartition(".")[0], "later") < "24.11"


def partition_size_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A job may have as few nodes as its queue has."""
    for index, queue in known(spec.queues):
        nodes = [nodes_at_most(compute) for compute in queue.compute]
        if unresolved(queue.slurm, queue.compute, *queue.compute, *nodes):
            continue
        for name, value in (queue.slurm or {}).items():
            least = _count(value) if name.lower() == "minnodes" else None
            if least is not None and least > sum(nodes):
                text = f"must be at most {sum(nodes)}, the nodes of the queue, got {value}; no job would run"
                yield Problem(("queues", index, "slurm", name), text)


def partition_choice_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """One partition is the default, and one that stands in for another is there."""
    names = [queue.name for _, queue in known(spec.queues)]
    names += [name for _, name in said(spec, "partitionname", "partition") if str(name).upper() != "DEFAULT"]
    has_more = bool(spec.raw_overrides)  # a file of settings may define partitions, too
    first = None
    for at, parameters in _partitions(spec):
        for name, value in parameters.items():
            if name.lower() == "default" and str(value).lower() in _TRUE:
                if first is not None:
                    text = f"must be YES once, got it for {first}, too; Slurm would take the last"
                    yield Problem((*at, name), text)
                first = _name(spec, at)
            if name.lower() != "alternate" or unresolved(value, *names) or has_more or not isinstance(value, str):
                continue
            if value not in names:
                yield Problem((*at, name), f"must be a queue or a partition, {either(names)}, got {shown(value)}")
            elif shown(value) == _name(spec, at):
                yield Problem(
                    (*at, name), f"must be another than itself, got {shown(value)}; nothing would stand in for it"
                )


def _partitions(spec: ParallelClusterSpec) -> Iterator[tuple[At, Mapping[str, Any]]]:
    """Yield what is said of every partition, and where."""
    for index, queue in known(spec.queues):
        if queue.slurm is not None and not unresolved(queue.slurm):
            yield ("queues", index, "slurm"), queue.slurm
    yield from lines_of(spec, "partition")


def _name(spec: ParallelClusterSpec, at: At) -> str:
    if at[0] == "queues":
        return shown(spec.queues[int(at[1])].name)
    return shown(next(iter(spec.slurm.custom[int(at[2])].values())))


def _ignored_problems(places: Mapping[str, At], parameters: Mapping[str, Any]) -> Problems:
    given = {name.lower(): name for name in parameters}
    for ignored, taken in _IGNORED.items():
        if ignored.lower() not in given or taken.lower() not in given:
            continue
        if str(parameters[given[taken.lower()]]).upper() != "ALL":
            text = f"must be left out beside {taken}, which Slurm takes alone"
            yield Problem(places[given[ignored.lower()]], text, of_key=True)


def _order_problems(places: Mapping[str, At], parameters: Mapping[str, Any]) -> Problems:
    given = {name.lower(): name for name in parameters}
    for low, high, read, why in (
        ("MinNodes", "MaxNodes", _count, "no job would run"),
        ("DefaultTime", "MaxTime", minutes_of, "Slurm would ignore it"),
        ("DefMemPerNode", "MaxMemPerNode", _memory, "no job without --mem would run"),
    ):
        names = given.get(low.lower()), given.get(high.lower())
        least, most = (None if name is None else read(parameters[name]) for name in names)
        if least is not None and most is not None and least > most:
            got = f"{parameters[str(names[0])]} and {parameters[str(names[1])]}"
            yield Problem(places[str(names[0])], f"must be at most {high}, got {got}; {why}")


def _memory(value: Any) -> float | None:
    """Return an amount of memory. None: it is not known, has a wrong form, or is no limit."""
    return number_of(value) or None if re.fullmatch(r"(?i)(0x[0-9a-f]+|[0-9]+)k?", str(value)) else None


def _count(value: Any) -> float | None:
    """Return a number of nodes. None: it is not known, or has a wrong form."""
    text = str(value).lower()
    if text in ENDLESS:
        return math.inf
    return int(text) if re.fullmatch(r"0|[1-9][0-9]*", text) else None
