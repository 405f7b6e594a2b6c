"""Whether Slurm heeds what is said in ``slurm.conf``, beside what else is said there. Pure: nothing is created here.

Sources: slurm.conf(5), and ``slurmd.c``, ``ping_nodes.c``, ``jobcomp.c``, ``preempt.c``, ``accounting_storage.c``,
``priority_multifactor.c`` and the schedulers of Slurm 23.11 to 26.05.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.rules_slurm_plugins import has_own_head_node
from cdk_trainyard.parallelcluster.slurm_lines import said, texts
from cdk_trainyard.parallelcluster.slurm_values import WEEK
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_NEVER: Final = "(?!)"
_NONE: Final = ".*none.*"
_ZERO: Final = "0+"
_NO: Final = "no|down|false|0"
_IGNORED: Final = "Slurm would ignore it"
_SLURMDBD: Final = "AccountingStorageType accounting_storage/slurmdbd"
_OF_SLURMDBD: Final = {
    **dict.fromkeys(("BackupHost", "ExternalHost", "Parameters", "Pass"), _NEVER),
    "Host": "localhost",
    "Port": "0*6819|0+",
    "User": "root",
}
_OF_COMPLETION: Final = {
    **dict.fromkeys(("Params", "Pass", "PassScript"), _NEVER),
    "Host": "localhost",
    "Loc": "/var/log/slurm_jobcomp.log",
    "Port": "0+",
    "User": "root",
}
"""What is said of a database, and the default (slurm.conf(5)), which asks for nothing."""
_NEEDS: Final[Mapping[str, tuple[str, Mapping[str, str], str]]] = {
    **{
        f"accountingstorage{name.lower()}": (idle, {"accountingstoragetype": _NONE}, _SLURMDBD)
        for name, idle in _OF_SLURMDBD.items()
    },
    "acctgathernodefreq": (_ZERO, {"acctgatherenergytype": _NONE}, "AcctGatherEnergyType, as acct_gather_energy/rapl,"),
    "healthcheckinterval": (_ZERO, {"healthcheckprogram": _NEVER}, "HealthCheckProgram"),
    "healthchecknodestate": ("any", {"healthcheckprogram": _NEVER}, "HealthCheckProgram"),
    "healthcheckprogram": (
        _NEVER,
        {"healthcheckinterval": _ZERO, "healthchecknodestate": "(?!.*_only).*"},
        "HealthCheckInterval, the seconds between its runs,",
    ),
    **{
        f"jobcomp{name.lower()}": (idle, {"jobcomptype": _NONE}, "JobCompType, as jobcomp/filetxt,")
        for name, idle in _OF_COMPLETION.items()
    },
    "preemptexempttime": ("[-0:]+|-1", {"preempttype": _NONE}, "PreemptType, as preempt/partition_prio,"),
    "priorityfavorsmall": (_NO, {"priorityweightjobsize": _ZERO}, "PriorityWeightJobSize, as 1000,"),
    "prioritymaxage": (
        WEEK,
        {"priorityweightage": _ZERO},
        "PriorityWeightAge, as 1000, which needs a database of accounts,",
    ),
}
"""What is heeded with another alone: values that ask for nothing; the others, with values that do not help; words."""
_MULTIFACTOR: Final = {
    "fairsharedampeningfactor": "1",
    "prioritycalcperiod": r"0*5(:0+)?|0+:0*5:0+",
    "prioritydecayhalflife": WEEK,
    "priorityfavorsmall": _NO,
    "prioritymaxage": WEEK,
    "priorityusageresetperiod": "none",
    "priorityweighttres": _NEVER,
    **{f"priorityweight{name}": _ZERO for name in ("age", "assoc", "fairshare", "jobsize", "partition", "qos")},
}
_BACKFILL: Final = "(?!.*bf_(?!busy_nodes|hetjob|max_job_test|min_age_reserve|min_prio_reserve|window_linear)).*"
_FREQUENCY: Final = ".*(energy|filesystem|network)=.*|(task=)?0*(30)?"
_EXCLUDED: Final[tuple[tuple[Mapping[str, str], str, str, str], ...]] = (
    (_MULTIFACTOR, "prioritytype", "priority/basic", "be left out"),
    ({"jobacctgatherfrequency": _FREQUENCY}, "jobacctgathertype", "jobacct_gather/none", "be left out"),
    ({"schedulerparameters": _BACKFILL}, "schedulertype", "sched/builtin", "have no bf_ parameters of the backfill"),
)
"""What is ignored beside another: the values that ask for nothing; the other, its value, and what to do."""


def unheeded_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """What is said has an effect; an image, a script or raw keys of yours may say more."""
    if has_own_head_node(spec):
        return
    excluded = list(_excluded_problems(spec))
    yield from excluded
    answered = {problem.at for problem in excluded}
    for name, (idle, others, words) in _NEEDS.items():
        if name.startswith("accountingstorage") and spec.slurm.accounting is not None:
            continue
        for at, value in _active(spec, name, idle):
            if at not in answered and not any(_helps(spec, other, useless) for other, useless in others.items()):
                got = "one" if name.endswith("pass") else value  # a password is not shown
                yield Problem(at, f"must be given with {words} in a line of its own, got {got} without; {_IGNORED}")


def _excluded_problems(spec: ParallelClusterSpec) -> Problems:
    for parameters, other, excluding, remedy in _EXCLUDED:
        if all(value.lower() != excluding for _, value in texts(spec, other)):
            continue
        for name, idle in parameters.items():
            for at, value in _active(spec, name, idle):
                yield Problem(at, f"must {remedy} beside {excluding}, got {value}; {_IGNORED}")


def _active(spec: ParallelClusterSpec, name: str, idle: str) -> Iterator[tuple[At, str]]:
    """Yield where a parameter is said with a value that asks for something, and the value."""
    return ((at, value) for at, value in texts(spec, name) if not re.fullmatch(f"(?i:{idle})", value))


def _helps(spec: ParallelClusterSpec, name: str, useless: str) -> bool:
    """Whether another is said with a value that makes Slurm heed the first; a Token may be one."""
    return any(unresolved(value) for _, value in said(spec, name)) or any(_active(spec, name, useless))
