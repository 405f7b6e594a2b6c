"""Whether Slurm reads the parameters that a file hands to it. Pure: nothing is created here."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.resolve import computes, known
from cdk_trainyard.parallelcluster.slurm_lines import said, table_of
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_WORDS: Final = {
    "cluster": "cluster",
    "partition": "partition",
    "node": "node",
    "nodeset": "node set",
    "downnodes": "line of DownNodes",
}
_FORMS: Final = {
    "number": (r"(?i:(0x[0-9a-f]+|[0-9]+)k?|UNLIMITED|INFINITE)", "a whole number of 0 or more, or UNLIMITED"),
    "short": (
        r"(?i:0x[0-9a-f]{1,4}|UNLIMITED|INFINITE)|0*(\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])",
        "a whole number of 0 to 65535, or UNLIMITED",
    ),
    "boolean": (r"(?i:yes|no|up|down|true|false|1|0)", "YES or NO"),
    "time": (
        r"(?i:-1|INFINITE|UNLIMITED|\d+(:\d+){0,2}|\d+-(\d+(:\d+){0,2})?)",
        "minutes, hours:minutes:seconds, days-hours or UNLIMITED, as 1-12",
    ),
    "text": (r'"[^"#]*"|[^\s#]+', "one word without '#', or words in double quotes"),
}
"""What Slurm reads (``parse_value.c``, ``parse_time.c`` and ``parse_config.c`` of Slurm 25.11)."""
_LEVEL: Final = (r"(?i:quiet|fatal|error|info|verbose|debug[2-5]?)|[0-9]", "a level from quiet to debug5, as info")
_PREEMPT: Final = "within|priority"
_MODES: Final = f"gang|{_PREEMPT}|off|cluster|cancel|requeue|on|suspend"
_PREEMPT_MODES: Final = (
    rf"(?i:(?!.*gang.*({_PREEMPT})|.*({_PREEMPT}).*gang)((gang|{_PREEMPT}),)*({_MODES})(,(gang|{_PREEMPT}))*)",
    "OFF, CANCEL, REQUEUE or SUSPEND, with GANG, WITHIN or PRIORITY behind a comma",
)
_FLAGS: Final = (
    "CR_(ONE_TASK_PER_CORE|CORE_DEFAULT_DIST_BLOCK|NO_DIST_TOPO_BLOCK|LLN|PACK_NODES)|LL_SHARED_GRES|"
    "MULTIPLE_SHARING_GRES_PJ|ENFORCE_BINDING_GRES|ONE_TASK_PER_SHARING_GRES|OTHER_CONS_(RES|TRES)"
)
_ENFORCE: Final = "associations|limits|safe|wckeys|qos|all|nojobs|nosteps|1|2"
_PROLOG: Final = "Alloc|Contain|DeferBatch|ForceRequeueOnFail|NoHold|RunInJob|Serial|X11"
_POSITIVE: Final = (r"(?!0+$)\S+", "1 or more")
_VALUES: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("cluster", "schedulertype"): ("sched/(backfill|builtin)", "sched/backfill or sched/builtin"),
    ("cluster", "prioritytype"): ("priority/(basic|multifactor)", "priority/basic or priority/multifactor"),
    ("cluster", "preempttype"): (
        "preempt/(none|partition_prio|qos)",
        "preempt/none, preempt/partition_prio or preempt/qos",
    ),
    ("cluster", "selecttype"): (
        "select/(cons_tres|linear|cray_aries|other)",
        "select/cons_tres or select/linear",
    ),
    ("cluster", "selecttypeparameters"): (
        rf"(?i:(?!.*CR_CPU.*TASK_PER_CORE|.*TASK_PER_CORE.*CR_CPU)(({_FLAGS}),)*CR_((CPU|Core|Socket)(_Memory)?|Memory)(,({_FLAGS}))*)",
        (
            "CR_CPU, CR_Core or CR_Socket, each with or without _Memory, and flags as CR_LLN behind a comma, "
            "CR_ONE_TASK_PER_CORE not with CR_CPU"
        ),
    ),
    ("cluster", "proctracktype"): (
        "proctrack/(cgroup|linuxproc|pgid|cray_aries)",
        "proctrack/cgroup, proctrack/linuxproc or proctrack/pgid",
    ),
    ("cluster", "jobcomptype"): (
        "jobcomp/(none|elasticsearch|filetxt|kafka|lua|mysql|script)",
        "jobcomp/ and none, elasticsearch, filetxt, kafka, lua, mysql or script",
    ),
    ("cluster", "accountingstorageenforce"): (
        rf"(?i:({_ENFORCE})(,({_ENFORCE}))*)",
        "associations, limits, safe, wckeys, qos, all, nojobs or nosteps",
    ),
    ("cluster", "preemptmode"): _PREEMPT_MODES,
    ("partition", "preemptmode"): _PREEMPT_MODES,
    ("cluster", "prologflags"): (
        rf"(?i:(?!.*nohold.*(contain|x11)|.*(contain|x11).*nohold)({_PROLOG})(,({_PROLOG}))*)",
        f"{_PROLOG.replace('|', ', ')}, but NoHold not with Contain or X11",
    ),
    ("cluster", "slurmctlddebug"): _LEVEL,
    ("cluster", "slurmddebug"): _LEVEL,
    ("cluster", "slurmctldsyslogdebug"): _LEVEL,
    ("cluster", "slurmdsyslogdebug"): _LEVEL,
    ("cluster", "maxjobcount"): _POSITIVE,
    ("cluster", "maxstepcount"): _POSITIVE,
    ("cluster", "firstjobid"): _POSITIVE,
    ("partition", "selecttypeparameters"): (
        r"(?i:CR_(Core|Socket)).*",
        "CR_Core, CR_Core_Memory, CR_Socket or CR_Socket_Memory",
    ),
    ("partition", "state"): ("(?i:up|down|drain|inactive)", "UP, DOWN, DRAIN or INACTIVE"),
    ("node", "port"): (rf"{_FORMS['short'][0]}|.*\[.*", "a port of 1 to 65535"),
}
"""What a parameter takes that is narrower than its kind: Slurm's daemons end at anything else (``read_config.c``,
``slurm_protocol_defs.c`` and the folders of ``src/plugins``, Slurm 23.11 to 26.05)."""
_SHARES: Final = (", which holds qualities of service and limits", r".*")
_WEIGHTS: Final = ("; Slurm would ignore it", r"(?!0+$).*")
_ACCOUNTS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "cluster": {
        "accountingstorageenforce": _SHARES,
        "preempttype": (_SHARES[0], "preempt/qos"),
        "priorityweightage": _WEIGHTS,
        "priorityweightassoc": _WEIGHTS,
        "priorityweightfairshare": _WEIGHTS,
        "priorityweightqos": _WEIGHTS,
        "accountingstoragetres": (
            ", which counts what is not cpu, mem, energy, node, billing, vmem, pages or fs/disk",
            r"(?i:(.*,)?(gres|license|ic|bb|fs/(?!disk)).*)",
        ),
    },
    "partition": dict.fromkeys(("allowqos", "denyqos", "qos"), _SHARES),
}
"""What the database of accounts alone has, why, and the values that ask for it (slurm.conf(5), sacctmgr(1);
``priority_multifactor.c`` ignores weights, and ``controller.c`` ends at resources to count, Slurm 23.11 to 26.05)."""
_GONE: Final = {
    "fastschedule": "leave it out for 1, and give SlurmdParameters config_overrides for 2",
    "accountingstorageloc": "leave it out",
    "accountingstorejobcomment": "give AccountingStoreFlags job_comment",
    "sallocdefaultcommand": "leave it out",
}
"""Parameters that Slurm still knows, and ends at or ignores: they are removed (``read_config.c``, 23.11 to 26.05)."""
_OTHER_NAMES: Final = {"queue": ("shared",)}
"""Older names of what ParallelCluster keeps for itself, which Slurm still reads: ``Shared`` is ``OverSubscribe``."""
_ONCE: Final = "must be given once, got it a second time; Slurm would take the last"
_TIMES: Final = {"maxtime", "defaulttime"}


@cache
def _tables() -> Mapping[str, Any]:
    text = files("cdk_trainyard.parallelcluster").joinpath("data", "slurm.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def slurm_settings_problems(spec: ParallelClusterSpec, _: ClusterContext) -> Problems:
    """Every parameter is one of Slurm's, has a value that Slurm reads, once, and is not ParallelCluster's to set."""
    denied = fact("denied_slurm_settings")
    names = [*denied["cluster"], *(denied["accounting"] if spec.slurm.accounting else ())]
    before: set[str] = set()
    has_accounts = _has_accounts(spec)
    for index, line in known(spec.slurm.custom):
        at: At = ("slurm", "custom", index)
        table = table_of(line)
        yield from _parameter_problems(at, line, table)
        for name, value in line.items():
            if name.lower() == "nodename" and any(mark in str(value) for mark in ("-st-", "-dy-")):
                yield Problem((*at, name), f"must name no nodes with -st- or -dy-, got {shown(value)}")
            if table == "cluster" and name.lower() in names:  # the others are nodes or partitions of your own
                yield Problem((*at, name), "is ParallelCluster's own to set; remove it")
        if table == "cluster":
            yield from _again(at, line, before)
        if table in _ACCOUNTS and not has_accounts:
            yield from _account_problems(at, line, table)
    for problems in (_preemption_problems, _selection_problems, _tracking_problems, _completion_problems):
        yield from problems(spec)
    for index, queue in known(spec.queues):
        yield from _level_problems(
            ("queues", index, "slurm"), queue.slurm, "partition", "queue", has_accounts=has_accounts
        )
    for at, _queue, compute in computes(spec):
        yield from _level_problems((*at, "slurm"), compute.slurm, "node", "compute_resource")


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


def _has_accounts(spec: ParallelClusterSpec) -> bool:
    """Whether there is a database of accounts: ours, or one that raw keys or parameters name."""
    named = any(True for _ in said(spec, "accountingstoragetype"))
    return spec.slurm.accounting is not None or named or bool(spec.raw_overrides)


def _account_problems(at: At, parameters: Mapping[str, Any], table: str) -> Problems:
    for name, value in parameters.items():
        why, form = _ACCOUNTS[table].get(name.lower(), ("", "(?!)"))
        if not unresolved(value) and re.fullmatch(form, str(value).strip('"')):
            text = f"must be left out without 'accounting' of 'slurm'{why}"
            yield Problem((*at, name), f"{text}, got {shown(value)}" if form not in _SHARES else text, of_key=True)


def _level_problems(at: At, parameters: Any, table: str, level: str, *, has_accounts: bool = True) -> Problems:
    yield from _parameter_problems(at, parameters or {}, table)
    if table == "partition" and not has_accounts:
        yield from _account_problems(at, parameters or {}, table)
    for name in parameters or {}:
        if name.lower() in (*fact("denied_slurm_settings")[level], *_OTHER_NAMES.get(level, ())):
            hint = "; schedule whole nodes with 'exclusive' of the queue" if name.lower() == "gres" else "; remove it"
            yield Problem((*at, name), f"is ParallelCluster's own to set{hint}", of_key=True)
    yield from _again(at, parameters or {}, set())


def _again(at: At, parameters: Mapping[str, Any], before: set[str]) -> Problems:
    """What was said before, in whatever letters; the names are added to those of before."""
    for name in parameters:
        if name.lower() in before:
            yield Problem((*at, name), _ONCE, of_key=True)
        before.add(name.lower())


def _parameter_problems(at: At, parameters: Mapping[str, Any], table: str) -> Problems:
    """Each parameter has a name that Slurm knows, and one value in one line that Slurm reads."""
    kinds = {name.lower(): kind for name, kind in _tables()[table].items()}
    for name, value in parameters.items():
        if not limits.SLURM_PARAMETER.fullmatch(str(name)):
            yield Problem((*at, name), "must be the name of a parameter of Slurm, as PriorityTier", of_key=True)
            continue
        if name.lower() not in kinds:
            hint = did_you_mean(name, _tables()[table])
            yield Problem((*at, name), f"is no parameter of a {_WORDS[table]} in slurm.conf{hint}", of_key=True)
            continue
        if table == "cluster" and (remedy := _GONE.get(name.lower())):
            yield Problem((*at, name), f"is removed from Slurm; {remedy}", of_key=True)
            continue
        kind = "time" if table == "partition" and name.lower() in _TIMES else kinds[name.lower()]
        if unresolved(value) or (kind == "boolean" and isinstance(value, bool)):  # CloudFormation writes it
            continue
        text = _value_problem(value, *_FORMS[kind])
        if narrower := None if text else _VALUES.get((table, name.lower())):
            text = _value_problem(value, *narrower)
        if text:
            yield Problem((*at, name), text)


def _value_problem(value: Any, form: str, words: str) -> str | None:
    if isinstance(value, bool):
        return f"must be one value as Slurm writes it, in quotes, got {shown(value)}"
    if not isinstance(value, str | int | float):
        return f"must be one value, got {'a mapping' if hasattr(value, 'keys') else 'a list'}"
    if isinstance(value, str) and not (value.isprintable() and value.strip()):
        return f"must be one line that says something, got {shown(value)}"
    return None if re.fullmatch(rf'("?)(?:{form})\1', str(value)) else f"must be {words}, got {shown(value)}"
