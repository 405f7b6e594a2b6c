"""Whether parameters of ``slurm.conf`` go together. Pure: nothing is created here.

Source: ``read_config.c`` of ``src/common`` and ``src/slurmctld``, Slurm 23.11 to 26.05: the daemon ends at each.
"""

import re
from collections.abc import Iterator
from typing import Final

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.rules_slurm_plugins import has_own_head_node
from cdk_trainyard.parallelcluster.slurm_lines import is_said, said, texts
from cdk_trainyard.parallelcluster.slurm_values import minutes_of, number_of
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_LAST_JOB: Final = 0x03FF_0000
_HIGHEST_JOB: Final = 0x03FF_FFFF
"""The number of the last job unless MaxJobId is said, and at most (``read_config.h`` and ``slurm.h``)."""
_SHARED: Final = "cr_(cpu|core|socket)(_memory)?$"
"""What ``cons_tres`` shares out, in small letters: one of these (``select_cons_tres.c``)."""
_CONTAINED: Final = ("contain", "x11", "runinjob")
"""Flags of prologs that give a job a container of processes."""


def combination_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """What is said in one line does not undo, or forbid, what is said in another."""
    for problems in _COMBINATIONS:
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
    chosen = [kind.strip('"') for _, kind in types if kind.strip('"') != "preempt/none"]
    if active and not chosen:
        text = f"must be given with PreemptType in a line of its own, got {modes[0][1]} without"
        yield Problem(modes[0][0], f"{text}; Slurm would not start")
    if not active and not {"preempt/partition_prio", "preempt/qos"}.isdisjoint(chosen):
        yield Problem(types[0][0], f"must be given with PreemptMode, as REQUEUE, got {types[0][1]} without")


def _selection_problems(spec: ParallelClusterSpec) -> Problems:
    """What is shared out among jobs is what 'memory_scheduling' says, and what the plugin can (``cons_tres``)."""
    plugins = [value for _, value in said(spec, "selecttype")]
    others = any(unresolved(plugin) or str(plugin).strip('"') != "select/cons_tres" for plugin in plugins)
    linear = any(value == "select/linear" for _, value in texts(spec, "selecttype"))
    for at, value in said(spec, "selecttypeparameters"):
        words = ["_memory"] if unresolved(value) else str(value).strip('"').lower().split(",")
        if "cr_memory" in words and not others:
            yield Problem(at, f"must be CR_CPU_Memory, CR_Core_Memory or CR_Socket_Memory, got {shown(value)}")
        elif not (others or unresolved(value) or any(re.match(_SHARED, word) for word in words)):
            text = "must have CR_CPU, CR_Core or CR_Socket, each with or without _Memory, unless beside select/linear"
            yield Problem(at, f"{text}, got {shown(value)}; Slurm would not start")
        if linear and any(re.match(_SHARED, word) for word in words) and not unresolved(value):
            text = "must be CR_Memory, or flags as CR_LLN, beside select/linear"
            yield Problem(at, f"{text}, got {shown(value)}; Slurm would not start")
        if spec.slurm.memory_scheduling is True and not any(word.endswith("_memory") for word in words):
            text = "must have _Memory, as CR_Core_Memory, with 'memory_scheduling' of 'slurm', which it would undo"
            yield Problem(at, f"{text}, got {shown(value)}")


def _linear_problems(spec: ParallelClusterSpec) -> Problems:
    """ParallelCluster shares out CPUs, which whole nodes have not ("Invalid SelectTypeParameters" of ``select.c``)."""
    for at, value in texts(spec, "selecttype"):
        if value == "select/linear" and not is_said(spec, "selecttypeparameters"):
            text = "must be given with SelectTypeParameters CR_Memory in a line of its own"
            yield Problem(at, f"{text}, got {value} without; Slurm would not start")


def _tracking_problems(spec: ParallelClusterSpec) -> Problems:
    """Slurm forwards X11 into a container of processes, which linuxproc is not."""
    if any(value == "proctrack/linuxproc" for _, value in said(spec, "proctracktype")):
        for at, value in said(spec, "prologflags"):
            if "x11" in str(value).lower().split(",") and not unresolved(value):
                yield Problem(at, f"must be without X11 beside proctrack/linuxproc, got {shown(value)}")


def _database_problems(spec: ParallelClusterSpec) -> Problems:
    """Accounts have a slurmdbd, which runs on the head node with 'accounting' alone ("no TRES" of ``controller.c``)."""
    if spec.slurm.accounting is not None or is_said(spec, "accountingstoragehost") or has_own_head_node(spec):
        return
    for at, value in texts(spec, "accountingstoragetype"):
        if value.lower().endswith("slurmdbd"):
            text = "must be left out for 'accounting' of 'slurm', or be given with AccountingStorageHost, your own"
            yield Problem(at, f"{text}, got {value} alone; Slurm would not start")


def _completion_problems(spec: ParallelClusterSpec) -> Problems:
    """ParallelCluster's head node has no MySQL, and slurmctld ends without the one that jobs are told to."""
    for at, value in texts(spec, "jobcomptype"):
        if value == "jobcomp/mysql" and not is_said(spec, "jobcomphost") and not has_own_head_node(spec):
            yield Problem(at, "must be given with JobCompHost, the database's, in a line of its own, got jobcomp/mysql")


def _identifier_problems(spec: ParallelClusterSpec) -> Problems:
    """Jobs have numbers from the first to the last."""
    most, _ = _number(spec, "maxjobid", _LAST_JOB)
    for at, value in texts(spec, "firstjobid"):
        first, word = _number(spec, "firstjobid", 1)
        if first > min(most, _HIGHEST_JOB):
            text = f"must be at most MaxJobId, {min(most, _HIGHEST_JOB):.0f}, got {word or value}"
            yield Problem(at, f"{text}; Slurm would not start")


def _number(spec: ParallelClusterSpec, name: str, default: int) -> tuple[float, str]:
    for _, value in texts(spec, name):
        if re.fullmatch(r"(?i)(0x[0-9a-f]+|[0-9]+)k?|unlimited|infinite", value):
            return number_of(value), value
    return default, ""


def _label_problems(spec: ParallelClusterSpec) -> Problems:
    """Labels of jobs (MCS) have a plugin and what it takes."""
    plugins, parameters = list(texts(spec, "mcsplugin")), list(said(spec, "mcsparameters"))
    none = any("none" in plugin.lower() for _, plugin in plugins)
    for at, value in parameters:
        if none or not is_said(spec, "mcsplugin"):
            text = "must be given with MCSPlugin, as mcs/group, in a line of its own"
            yield Problem(at, f"{text}, got {shown(value)} without")
    for at, plugin in plugins:
        if plugin == "mcs/group" and not parameters:
            text = "must be given with MCSParameters, the groups, in a line of its own, got mcs/group without"
            yield Problem(at, f"{text}; Slurm would not start")


def _log_problems(spec: ParallelClusterSpec) -> Problems:
    """The scheduler's log has a file."""
    for at, value in texts(spec, "slurmschedloglevel"):
        if value.strip("0") and not is_said(spec, "slurmschedlogfile"):
            text = "must be given with SlurmSchedLogFile in a line of its own"
            yield Problem(at, f"{text}, got {value} without; Slurm would not start")


def _decay_problems(spec: ParallelClusterSpec) -> Problems:
    """Usage is forgotten by and by, or at times: its sum would overflow."""
    for at, value in texts(spec, "prioritydecayhalflife"):
        if minutes_of(value) == 0 and not is_said(spec, "priorityusageresetperiod"):
            text = "must be given with PriorityUsageResetPeriod, as MONTHLY, in a line of its own"
            yield Problem(at, f"{text}, got {value} without; Slurm would not start")


def _container_problems(spec: ParallelClusterSpec) -> Problems:
    """Jobs have a directory of their own for temporary files where each has a container for its processes."""
    flags = [set(value.lower().split(",")) for _, value in texts(spec, "prologflags")]
    if is_said(spec, "prologflags") and (not flags or not flags[0].isdisjoint(_CONTAINED)):
        return
    for name in ("jobcontainertype", "namespacetype"):
        for at, value in texts(spec, name):
            if "tmpfs" in value and "none" not in value.lower():
                text = "must be given with PrologFlags Contain in a line of its own"
                yield Problem(at, f"{text}, got {shown(value)} without; Slurm would not start")


def _limit_problems(spec: ParallelClusterSpec) -> Problems:
    """One alone ends jobs that need more memory than they asked for."""
    for at, value in texts(spec, "jobacctgatherparams"):
        if spec.slurm.memory_scheduling is True and "overmemorykill" in value.lower().split(","):
            text = "must be without OverMemoryKill with 'memory_scheduling' of 'slurm', which limits memory by itself"
            yield Problem(at, f"{text}, got {shown(value)}; Slurm would not start")


def _port_problems(spec: ParallelClusterSpec) -> Problems:
    """A range of ports begins with its lowest."""
    for name, effect in (("slurmctldport", "Slurm would not start"), ("srunportrange", "Slurm would ignore it")):
        for at, value in texts(spec, name):
            if (ports := re.fullmatch(r"([0-9]+)-([0-9]+)", value)) and int(ports[1]) >= int(ports[2]):
                yield Problem(at, f"must have the lower port first, got {shown(value)}; {effect}")


def _node_count_problems(spec: ParallelClusterSpec) -> Problems:
    """Nodes that join by themselves are for one of the plugins that select nodes."""
    if any(value == "select/linear" for _, value in texts(spec, "selecttype")):
        for at, _ in said(spec, "maxnodecount"):
            yield Problem(at, "must be left out beside select/linear; Slurm would not start", of_key=True)


def _key_problems(spec: ParallelClusterSpec) -> Problems:
    """Plugins that authenticate have a key, which ParallelCluster has for munge alone.

    slurmctld ends without (``internal.c`` of ``auth/slurm``, which is ``cred/slurm`` too, and ``auth_jwt.c``).
    """
    if has_own_head_node(spec):
        return
    elsewhere = is_said(spec, "authaltparameters") or is_said(spec, "statesavelocation")
    keys = {"slurm": "slurm.key"} if elsewhere else {"slurm": "slurm.key", "jwt": "jwt_hs256.key"}
    for name in ("authtype", "authalttypes", "credtype"):
        for at, value in texts(spec, name):
            if key := next((keys[plugin] for plugin in map(_plugin, value.split(",")) if plugin in keys), None):
                text = f"must be given with {key}, which a script of 'on_start' of 'head_node' or an image may bring"
                yield Problem(at, f"{text}, got {shown(value)} without; Slurm would not start")


def _plugin(name: str) -> str:
    return name.rpartition("/")[2]


_COMBINATIONS: Final = (
    _preemption_problems,
    _selection_problems,
    _linear_problems,
    _tracking_problems,
    _database_problems,
    _completion_problems,
    _identifier_problems,
    _label_problems,
    _log_problems,
    _decay_problems,
    _container_problems,
    _limit_problems,
    _port_problems,
    _node_count_problems,
    _key_problems,
)
