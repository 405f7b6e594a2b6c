"""Whether Slurm reads the parameters that a file hands to it. Pure: nothing is created here."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.resolve import computes, known
from cdk_trainyard.parallelcluster.rules_slurm_plugins import has_own_head_node
from cdk_trainyard.parallelcluster.slurm_lines import said, table_of, texts
from cdk_trainyard.parallelcluster.slurm_values import WEEK, minutes_of, slurm_facts, value_problem
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
        "fairsharedampeningfactor": (_WEIGHTS[0], "(?!0*1$).*"),
        "prioritydecayhalflife": (_WEIGHTS[0], rf"(?!({WEEK}|[-0:]+)$).*"),
        "priorityusageresetperiod": (_WEIGHTS[0], "(?i:(?!none$).*)"),
        "accountingstoragetres": (
            ", which counts what is not cpu, mem, energy, node, billing, vmem, pages or fs/disk",
            r"(?i:(.*,)?(gres|license|ic|bb|fs/(?!disk)).*)",
        ),
    },
    "partition": {"allowqos": (_SHARES[0], r"(?i:(?!all$).*)"), "denyqos": _SHARES, "qos": _SHARES},
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
_SHOWN: Final = {"jobdefaults": "; write DefCpuPerGPU and DefMemPerGPU as parameters of their own"}
"""What ``scontrol show partition`` has together, and slurm.conf apart (slurm.conf(5), read 2026-11)."""
_OTHER_NAMES: Final = {
    "cluster": ("backupaddr", "backupcontroller", "controladdr", "controlmachine"),
    "queue": ("shared",),
    "compute_resource": ("procs",),
}
"""Older names of what ParallelCluster keeps for itself, which Slurm reads, or ignores beside the new: of
``SlurmctldHost``, ``OverSubscribe`` and ``CPUs``."""
_ONCE: Final = "must be given once, got it a second time; Slurm would take the last"
_OFTEN: Final = {"epilogslurmctld", "poweraction", "prologslurmctld"}
"""Parameters of which Slurm reads every line (``S_P_ARRAY`` of ``read_config.c``, 24.05 to 26.05)."""


def slurm_settings_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Every parameter is one of Slurm's, has a value that Slurm reads, once, and is not ParallelCluster's to set."""
    denied = fact("denied_slurm_settings")
    names = [*denied["cluster"], *_OTHER_NAMES["cluster"], *(denied["accounting"] if spec.slurm.accounting else ())]
    before: set[str] = set()
    has_accounts = _has_accounts(spec)
    at_times = any(minutes_of(value) == 0 for _, value in texts(spec, "prioritydecayhalflife"))
    heeded = ("priorityusageresetperiod",) if at_times else ()
    for index, line in known(spec.slurm.custom):
        at: At = ("slurm", "custom", index)
        table = table_of(line)
        if not line:
            yield Problem(at, "must be a parameter with its value, as KillWait: 60, got nothing; remove it")
        yield from _parameter_problems(at, _without(line, names) if table == "cluster" else line, table)
        for name, value in line.items():
            if name.lower() == "nodename" and any(mark in str(value) for mark in ("-st-", "-dy-")):
                yield Problem((*at, name), f"must name no nodes with -st- or -dy-, got {shown(value)}")
            if table == "cluster" and name.lower() in names:  # the others are nodes or partitions of your own
                yield Problem((*at, name), "is ParallelCluster's own to set; remove it")
        if table == "cluster":
            yield from _again(at, line, before)
        if table in _ACCOUNTS and not has_accounts:
            yield from _account_problems(at, line, table, heeded=heeded)
    for index, queue in known(spec.queues):
        yield from _level_problems(
            ("queues", index, "slurm"), queue.slurm, "partition", "queue", has_accounts=has_accounts
        )
    for at, _queue, compute in computes(spec):
        yield from _level_problems((*at, "slurm"), compute.slurm, "node", "compute_resource")


def _has_accounts(spec: ParallelClusterSpec) -> bool:
    """Whether there is a database of accounts: ours, one that parameters name, or one of your own head node's."""
    kinds = [unresolved(kind) or "none" not in str(kind).lower() for _, kind in said(spec, "accountingstoragetype")]
    return spec.slurm.accounting is not None or any(kinds) or has_own_head_node(spec)


def _account_problems(at: At, parameters: Mapping[str, Any], table: str, *, heeded: Sequence[str] = ()) -> Problems:
    for name, value in parameters.items():
        if name.lower() in heeded:
            continue
        why, form = _ACCOUNTS[table].get(name.lower(), ("", "(?!)"))
        if not unresolved(value) and re.fullmatch(form, str(value).strip('"')):
            text = f"must be left out without 'accounting' of 'slurm'{why}"
            yield Problem((*at, name), f"{text}, got {shown(value)}" if form not in _SHARES else text, of_key=True)


def _level_problems(at: At, parameters: Any, table: str, level: str, *, has_accounts: bool = True) -> Problems:
    denied = (*fact("denied_slurm_settings")[level], *_OTHER_NAMES.get(level, ()))
    yield from _parameter_problems(at, _without(parameters or {}, denied), table)
    if table == "partition" and not has_accounts:
        yield from _account_problems(at, parameters or {}, table)
    for name in parameters or {}:
        if name.lower() in denied:
            hint = "; schedule whole nodes with 'exclusive' of the queue" if name.lower() == "gres" else "; remove it"
            yield Problem((*at, name), f"is ParallelCluster's own to set{hint}", of_key=True)
    yield from _again(at, parameters or {}, set())


def _without(parameters: Mapping[str, Any], denied: Collection[str]) -> dict[str, Any]:
    """Return parameters without those that must go, whatever their values."""
    return {name: value for name, value in parameters.items() if name.lower() not in denied}


def _again(at: At, parameters: Mapping[str, Any], before: set[str]) -> Problems:
    """What was said before, in whatever letters; the names are added to those of before."""
    for name in parameters:
        if name.lower() in before - _OFTEN:
            yield Problem((*at, name), _ONCE, of_key=True)
        before.add(name.lower())


def _parameter_problems(at: At, parameters: Mapping[str, Any], table: str) -> Problems:
    """Each parameter has a name that Slurm knows, and one value in one line that Slurm reads.

    A name and a value apart are how other services write it (AWS PCS API reference, ``SlurmCustomSetting``).
    """
    pair = {str(name).lower().removeprefix("parameter"): value for name, value in parameters.items()}
    if pair.keys() == {"name", "value"} and not unresolved(*pair.values()):
        said = f"is no parameter of a {_WORDS[table]} in slurm.conf"
        line = f"{pair['name']}: {shown(pair['value'])}"
        yield Problem((*at, next(iter(parameters))), f"{said}; write {line}", of_key=True)
        return
    kinds = {name.lower(): kind for name, kind in slurm_facts()[table].items()}
    for name, value in parameters.items():
        if not limits.SLURM_PARAMETER.fullmatch(str(name)):
            yield Problem((*at, name), "must be the name of a parameter of Slurm, as PriorityTier", of_key=True)
            continue
        if name.lower() not in kinds:
            meant = [known for known in slurm_facts()[table] if not known.endswith("Pass") and name.lower() != "name"]
            hint = _SHOWN.get(name.lower()) or did_you_mean(name, meant)
            yield Problem((*at, name), f"is no parameter of a {_WORDS[table]} in slurm.conf{hint}", of_key=True)
            continue
        if table == "cluster" and (remedy := _GONE.get(name.lower())):
            yield Problem((*at, name), f"is removed from Slurm; {remedy}", of_key=True)
            continue
        kind = kinds[name.lower()]
        is_boolean = kind == "boolean" or name.lower() == "enforcepartlimits"  # which takes ALL and ANY, too
        if unresolved(value) or (isinstance(value, bool) and is_boolean):  # CloudFormation writes it
            continue
        if text := value_problem(table, name.lower(), kind, value):
            yield Problem((*at, name), text)
