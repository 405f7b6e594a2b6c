"""Whether parameters of ``slurm.conf`` go together. Pure: nothing is created here."""

from collections.abc import Iterator

from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.slurm_lines import said
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]


def combination_problems(spec: ParallelClusterSpec, _: ClusterContext) -> Problems:
    """What is said in one line does not undo, or forbid, what is said in another."""
    for problems in (_preemption_problems, _selection_problems, _tracking_problems, _completion_problems):
        yield from problems(spec)


def _preemption_problems(spec: ParallelClusterSpec) -> Problems:
    """A mode and a type of preemption go together, or slurmctld ends ("values incompatible" of ``read_config.c``)."""
    modes, types = list(said(spec, "preemptmode")), list(said(spec, "preempttype"))
    if any(not isinstance(value, str) or unresolved(value) for _, value in (*modes, *types)):
        return
    for at, mode in modes:
        if mode.lower() in ("on", "suspend"):
            yield Problem(at, f"must be GANG,SUSPEND, got {mode} alone; Slurm would not start")
    active = any({*mode.lower().split(",")} - {"gang", "within", "priority", "off", "cluster"} for _, mode in modes)
    chosen = any(kind != "preempt/none" for _, kind in types)
    if active and not chosen:
        text = f"must be given with PreemptType in a line of its own, got {modes[0][1]} without"
        yield Problem(modes[0][0], f"{text}; Slurm would not start")
    if chosen and not active:
        yield Problem(types[0][0], f"must be given with PreemptMode, as REQUEUE, got {types[0][1]} without")


def _selection_problems(spec: ParallelClusterSpec) -> Problems:
    """What is shared out among jobs is what 'memory_scheduling' says, and what the plugin can (``cons_tres``)."""
    linear = any(value == "select/linear" for _, value in said(spec, "selecttype"))
    for at, value in said(spec, "selecttypeparameters"):
        words = ["_memory"] if unresolved(value) else str(value).strip('"').lower().split(",")
        if "cr_memory" in words and not linear:
            yield Problem(at, f"must be CR_CPU_Memory, CR_Core_Memory or CR_Socket_Memory, got {shown(value)}")
        if spec.slurm.memory_scheduling is True and not any(word.endswith("_memory") for word in words):
            text = "must have _Memory, as CR_Core_Memory, with 'memory_scheduling' of 'slurm', which it would undo"
            yield Problem(at, f"{text}, got {shown(value)}")


def _tracking_problems(spec: ParallelClusterSpec) -> Problems:
    """Slurm forwards X11 into a container of processes, which linuxproc is not."""
    if any(value == "proctrack/linuxproc" for _, value in said(spec, "proctracktype")):
        for at, value in said(spec, "prologflags"):
            if "x11" in str(value).lower().split(",") and not unresolved(value):
                yield Problem(at, f"must be without X11 beside proctrack/linuxproc, got {shown(value)}")


def _completion_problems(spec: ParallelClusterSpec) -> Problems:
    """A head node has no MySQL of its own, and slurmctld ends without the one that jobs are told to."""
    for at, value in said(spec, "jobcomptype"):
        if value == "jobcomp/mysql" and not any(True for _ in said(spec, "jobcomphost")):
            yield Problem(at, "must be given with JobCompHost, the database's, in a line of its own, got jobcomp/mysql")
