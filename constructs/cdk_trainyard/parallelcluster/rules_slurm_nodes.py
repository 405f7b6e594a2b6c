"""Whether what is said of nodes in ``slurm.conf`` is what their types have. Pure: nothing is created here.

Sources: ``read_config.c``, ``node_mgr.c`` and ``slurmd.c`` of Slurm 23.11 to 26.05; ``config_renderer.py`` of
ParallelCluster's cookbooks, whose ``CPUs``, ``RealMemory`` and ``Feature`` stand in the same line.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.resolve import computes, known, type_names, types_of
from cdk_trainyard.parallelcluster.slurm_lines import is_said, lines_of, queues_without, texts
from cdk_trainyard.parallelcluster.slurm_values import number_of, value_problem
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_queues import ComputeResource
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_Given = tuple[At, Mapping[str, Any] | None, Sequence[ComputeResource]]
"""Where something is said of nodes, what, and of which."""
_REGISTERED: Final = 0.75
"""Of a node's memory, what it must have to be taken (``node_reg_mem_percent`` of ParallelCluster's cookbooks)."""
_SCHEDULABLE: Final = 0.95
"""Of a node's memory, what jobs may have by default (``get_real_memory`` of ParallelCluster's cookbooks)."""
_SHAPE: Final = ("Boards", "SocketsPerBoard", "Sockets", "CoresPerSocket", "ThreadsPerCore")
_CPUS: Final = re.compile(r"[0-9]{1,6}(-[0-9]{1,6})?(,[0-9]{1,6}(-[0-9]{1,6})?)*")
_DRAINED: Final = "Slurm would drain the nodes"


def node_parameter_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Nodes are said to have what they have, and keep no more of it for the system."""
    for at, line in lines_of(spec, "node"):
        yield from _kept_problems(at, _Said(line), None)
    overridden = is_said(spec, "slurmdparameters") and all(
        "config_override" in value.lower() for _, value in texts(spec, "slurmdparameters")
    )
    for at, _queue, compute in computes(spec):
        if compute.slurm is None or unresolved(compute.slurm):
            continue
        said, place, types = _Said(compute.slurm), (*at, "slurm"), types_of(compute)
        known = types if len(types) == len(type_names(compute)) else ()
        yield from _kept_problems(place, said, _memory(said, compute, known))
        known = () if overridden else known
        yield from _memory_problems(place, said, compute, known)
        yield from _kept_core_problems(place, said, known, single=compute.threads_per_core == 1)
        if known and not (is_said(spec, "allowspecresourcesusage") or any(map(said.name, _SHAPE))):
            yield from _kept_cpu_problems(place, said, compute, known)
        if threads := list(_thread_problems(place, said, compute, known)):
            yield from threads
        elif known:
            yield from _shape_problems(place, said, known, single=compute.threads_per_core == 1)
        if name := said.name("Features"):
            text = "must be Feature: beside ParallelCluster's own, Slurm would ignore it"
            yield Problem((*place, name), text, of_key=True)


def default_memory_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A job that asks for no memory gets no more than a node has (``_filter_nodes`` of ``node_scheduler.c``).

    What a queue says itself it has instead of the cluster's (``_get_def_mem`` of ``job_mgr.c``).
    """
    said: list[_Given] = [(("queues", index, "slurm"), one.slurm, one.compute) for index, one in known(spec.queues)]
    if (queues := queues_without(spec, "defmempernode", "defmempercpu")) and not any(lines_of(spec, "node")):
        queues = [one for _, one in known(spec.queues)] if any(lines_of(spec, "partition")) else queues
        served = [compute for queue in queues for _, compute in known(queue.compute)]
        said += [(at, line, served) for at, line in lines_of(spec, "cluster")]
    for at, parameters, nodes in said:
        if not parameters or unresolved(parameters, nodes, *nodes) or spec.raw_overrides:
            continue
        sizes = [_memory_of_jobs(compute) for compute in nodes]
        for parameter in ("DefMemPerNode", "DefMemPerCPU"):
            name, wanted = _Said(parameters).name(parameter), _Said(parameters).number(parameter)
            most = max((math.inf if size is None else size for size in sizes), default=math.inf)
            if name and wanted is not None and most < wanted < math.inf:
                text = f"must be at most {_shown(most)}, the memory that jobs may have of these nodes"
                yield Problem((*at, name), f"{text}, got {_shown(wanted)}; no job without --mem would run")


def whole_node_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A job that has nodes for itself has all their CPUs ("greater than max_cpus_per_node" of ``job_test.c``)."""
    if is_said(spec, "selecttype") or is_said(spec, "allowspecresourcesusage") or spec.raw_overrides:
        return
    for index, queue in known(spec.queues):
        if queue.exclusive is not True or not queue.slurm or unresolved(queue.slurm, queue.compute, *queue.compute):
            continue
        said, cpus = _Said(queue.slurm), [_cpus(compute) for compute in queue.compute]
        name, most = said.name("MaxCPUsPerNode"), said.number("MaxCPUsPerNode")
        if name and most and most < min(cpus, default=0) and not said.name("MaxCPUsPerSocket"):
            text = f"must be at least {min(cpus)}, the CPUs of a node, with 'exclusive', or be left out"
            yield Problem(("queues", index, "slurm", name), f"{text}, got {_shown(most)}; no job would run")


def gpu_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """What a job has for each GPU is said where a node has one (``job_test.c`` of ``cons_tres``)."""
    parts = (spec.queues, *spec.queues, *(queue.compute for queue in spec.queues))
    if spec.raw_overrides or any(lines_of(spec, "node")) or unresolved(*parts):
        return
    said: list[_Given] = [(("queues", index, "slurm"), one.slurm, one.compute) for index, one in known(spec.queues)]
    everywhere = [compute for queue in spec.queues for compute in queue.compute]
    said += [(at, line, everywhere) for at, line in lines_of(spec, "cluster")]
    for at, parameters, nodes in said:
        if not parameters or not nodes or unresolved(parameters, nodes, *nodes) or any(map(_may_have_gpus, nodes)):
            continue
        for parameter in ("DefCpuPerGPU", "DefMemPerGPU"):
            if (name := _Said(parameters).name(parameter)) and _Said(parameters).number(parameter):
                text = "must be left out where no node has a GPU; Slurm would ignore it"
                yield Problem((*at, name), text, of_key=True)


def _may_have_gpus(compute: ComputeResource) -> bool:
    types = types_of(compute)
    return len(types) < len(type_names(compute)) or any(each.gpus for each in types)


def _cpus(compute: ComputeResource) -> int:
    """Return the CPUs that any job has of a whole node, at least; 0 where that is not known."""
    types = types_of(compute)
    if compute.slurm or unresolved(compute.slurm, compute.threads_per_core) or len(types) < len(type_names(compute)):
        return 0
    return min((_cpus_of(each, single=compute.threads_per_core == 1) for each in types), default=0)


def _memory_of_jobs(compute: ComputeResource) -> float | None:
    """Return the memory that jobs may have of a node, at most: a part of it where nothing is said."""
    types = types_of(compute)
    if unresolved(compute.slurm) or len(types) < len(type_names(compute)):
        return None
    said = _Said(compute.slurm or {})
    memory = _memory(said, compute, types)
    is_whole = memory is None or said.name("RealMemory") or compute.schedulable_memory_mib is not None
    return memory if is_whole else math.floor((memory or 0) * _SCHEDULABLE)


class _Said:
    """What is said of a kind of nodes, by whatever letters."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._values = {str(name).lower(): (str(name), value) for name, value in parameters.items()}

    def name(self, parameter: str) -> str | None:
        return self._values.get(parameter.lower(), (None,))[0]

    def text(self, parameter: str) -> str:
        """Return what is said, without quotes; nothing where it is not known."""
        _, value = self._values.get(parameter.lower(), ("", ""))
        return "" if unresolved(value) else str(value).strip('"')

    def number(self, parameter: str) -> float | None:
        """Return a number. None: it is not said, not known, or has a wrong form."""
        _, value = self._values.get(parameter.lower(), ("", None))
        is_number = not unresolved(value) and value_problem("node", parameter.lower(), "long", value) is None
        return number_of(value) if is_number else None


def _memory(said: _Said, compute: ComputeResource, types: tuple[InstanceType, ...]) -> float | None:
    """Return the memory that Slurm gives to jobs, at most."""
    if said.name("RealMemory"):
        return said.number("RealMemory")
    if compute.schedulable_memory_mib is not None:
        return None if unresolved(compute.schedulable_memory_mib) else compute.schedulable_memory_mib
    return max((each.memory_mib for each in types), default=0) or None


def _memory_problems(at: At, said: _Said, compute: ComputeResource, types: tuple[InstanceType, ...]) -> Problems:
    name, wanted = said.name("RealMemory"), said.number("RealMemory")
    if name and compute.schedulable_memory_mib is not None:
        yield Problem((*at, name), "must be left out beside 'schedulable_memory_mib', which it would undo", of_key=True)
    if not name or wanted is None or not types:
        return
    most = min(types, key=lambda each: each.memory_mib)
    if 0 < most.memory_mib < wanted * _REGISTERED:
        text = f"must be the memory of {most.name}, {most.memory_mib}, or less"
        yield Problem((*at, name), f"{text}, got {_shown(wanted)}; {_DRAINED}")


def _kept_problems(at: At, said: _Said, memory: float | None) -> Problems:
    """Memory is kept for the system of what there is, and cores by number or by name."""
    memory = said.number("RealMemory") if memory is None else memory
    name, kept = said.name("MemSpecLimit"), said.number("MemSpecLimit")
    if name and kept is not None and memory is not None and kept >= memory:
        text = f"must be less than the node's memory, {_shown(memory)}"
        yield Problem((*at, name), f"{text}, got {_shown(kept)}; Slurm would ignore it")
    if (name := said.name("CoreSpecCount")) and said.name("CpuSpecList") and said.number("CoreSpecCount") != 0:
        yield Problem((*at, name), "must be left out beside CpuSpecList, which Slurm takes alone", of_key=True)


def _kept_core_problems(at: At, said: _Said, types: tuple[InstanceType, ...], *, single: bool) -> Problems:
    """Cores are kept of those that Slurm counts: where only CPUs are said, each is one (``read_config.c``)."""
    name, kept, given = said.name("CoreSpecCount"), said.number("CoreSpecCount"), _shape(said)
    if not name or kept is None or given is None or not types or not all(each.vcpus for each in types):
        return
    each = max(types, key=lambda one: _cpus_of(one, single=single))
    sockets, cores, _ = _layout(given, _cpus_of(each, single=single))
    if kept >= sockets * cores:
        text = f"must be less than {_shown(sockets * cores)}, the cores that Slurm counts on {each.name}"
        yield Problem((*at, name), f"{text}, got {_shown(kept)}; Slurm would keep 1")


def _kept_cpu_problems(at: At, said: _Said, compute: ComputeResource, types: tuple[InstanceType, ...]) -> Problems:
    """CPUs are kept by number, of those that there are, and not all (``node_conf.c`` and ``bitstring.c``)."""
    name, text = said.name("CpuSpecList"), said.text("CpuSpecList")
    if not name or not all(each.vcpus for each in types) or not _CPUS.fullmatch(text):
        return
    cpus = max(_cpus_of(each, single=compute.threads_per_core == 1) for each in types)
    parts = [[int(number) for number in part.split("-")] for part in text.split(",")]
    if max(map(max, parts)) >= cpus:
        words = f"must be numbers of 0 to {cpus - 1}, the CPUs of {types[0].name}"
        yield Problem((*at, name), f"{words}, got {text}; Slurm would ignore it")
    elif len({number for part in parts for number in range(part[0], part[-1] + 1)}) == cpus:
        words = f"must leave one of the {cpus} CPUs of {types[0].name} to jobs"
        yield Problem((*at, name), f"{words}, got {text}; no job would run")


def _thread_problems(at: At, said: _Said, compute: ComputeResource, types: tuple[InstanceType, ...]) -> Problems:
    """A core has as many threads as its type, or as 'threads_per_core' leaves it."""
    name, threads = said.name("ThreadsPerCore"), said.number("ThreadsPerCore")
    most = 1 if compute.threads_per_core == 1 else max((each.threads_per_core for each in types), default=0)
    if name and threads is not None and 0 < most < threads:
        why = "with 'threads_per_core' 1" if compute.threads_per_core == 1 else f"as the cores of {types[0].name}"
        yield Problem((*at, name), f"must be {most} {why}, got {_shown(threads)}; Slurm would take cores for threads")


def _shape_problems(at: At, said: _Said, types: tuple[InstanceType, ...], *, single: bool) -> Problems:
    """Sockets, cores and threads make the CPUs that ParallelCluster says; or Slurm drains the nodes, or takes fewer.

    Sockets and cores alone are AWS's own advice for P4d and P5: a job's CPU is a core with its threads then
    (awsome-distributed-training, ``tips-and-tricks.md`` of its ParallelClusters, read in November 2026).
    """
    given = _shape(said)
    most = max(each.vcpus for each in types)
    if not given or not most:
        return
    each = max(types, key=lambda one: one.vcpus)
    cpus = _cpus_of(each, single=single)
    sockets, cores, threads = _layout(given, cpus)
    made = sockets * cores * threads
    of_cores = made == most // max(each.threads_per_core, 1)
    if made <= most and (of_cores or cpus in (sockets, sockets * cores, made)):
        return
    words = ", ".join(f"{name} {_shown(number)}" for name, number in given.items())
    text = f"must make the {cpus} CPUs of {each.name} with what else is said of them"
    effect = _DRAINED if made > most else f"Slurm would give jobs {_shown(made)} of them"
    yield Problem((*at, str(said.name(next(iter(given))))), f"{text}, got {words}; {effect}")


def _shape(said: _Said) -> dict[str, float] | None:
    """Return what is said of sockets, cores and threads. None: some of it is not known."""
    given = {name: number for name in _SHAPE if (number := said.number(name)) is not None}
    return None if any(said.name(name) and name not in given for name in _SHAPE) else given


def _layout(given: Mapping[str, float], cpus: int) -> tuple[float, float, float]:
    """Return sockets, cores of each and threads of each, as Slurm fills them in (``read_config.c``)."""
    boards, per_board, sockets, cores, threads = (max(given.get(name, 1), 1) for name in _SHAPE)
    if "SocketsPerBoard" in given:
        sockets = boards * per_board
    elif "Sockets" not in given:
        sockets = boards if cpus % (cores * threads) else cpus / (cores * threads)
    return sockets, cores, threads


def _cpus_of(one: InstanceType, *, single: bool) -> int:
    """Return the CPUs that ParallelCluster says of a type."""
    return one.vcpus // max(one.threads_per_core, 1) if single else one.vcpus


def _shown(number: float) -> str:
    return shown(int(number)) if number < float("inf") else "UNLIMITED"
