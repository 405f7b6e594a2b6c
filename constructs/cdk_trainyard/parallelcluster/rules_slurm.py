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
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import Unknown

Problems = Iterator[Problem]
_LINES: Final = {"partitionname": "partition", "nodename": "node", "nodeset": "nodeset", "downnodes": "downnodes"}
"""What a line of ``slurm.conf`` with parameters of its own begins with, in small letters, and their table."""
_WORDS: Final = {
    "cluster": "cluster",
    "partition": "partition",
    "node": "node",
    "nodeset": "node set",
    "downnodes": "line of DownNodes",
}
_FORMS: Final = {
    "number": (r"(?i:(0x[0-9a-f]+|[0-9]+)k?|UNLIMITED|INFINITE)", "a whole number of 0 or more, or UNLIMITED"),
    "boolean": (r"(?i:yes|no|up|down|true|false|1|0)", "YES or NO in quotes"),
    "time": (
        r"(?i:-1|INFINITE|UNLIMITED|\d+(:\d+){0,2}|\d+-(\d+(:\d+){0,2})?)",
        "minutes, hours:minutes:seconds, days-hours or UNLIMITED, as 1-12",
    ),
    "text": (r'"[^"#]*"|[^\s#]+', "one word without '#', or words in double quotes"),
}
"""What Slurm reads (``parse_value.c``, ``parse_time.c`` and ``parse_config.c`` of Slurm 25.11)."""
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
    for index, line in known(spec.slurm.custom):
        at: At = ("slurm", "custom", index)
        table = _table_of(line)
        yield from _parameter_problems(at, line, table)
        for name, value in line.items():
            if name.lower() == "nodename" and any(mark in str(value) for mark in ("-st-", "-dy-")):
                yield Problem((*at, name), f"must name no nodes with -st- or -dy-, got {shown(value)}")
            if table == "cluster" and name.lower() in names:  # the others are nodes or partitions of your own
                yield Problem((*at, name), "is ParallelCluster's own to set; remove it")
        if table == "cluster":
            yield from _again(at, line, before)
    for index, queue in known(spec.queues):
        yield from _level_problems(("queues", index, "slurm"), queue.slurm, "partition", "queue")
    for at, _queue, compute in computes(spec):
        yield from _level_problems((*at, "slurm"), compute.slurm, "node", "compute_resource")


def _table_of(line: Mapping[str, Any]) -> str:
    """Return what a line of ``slurm.conf`` defines, by the name that it begins with."""
    return _LINES.get(next(iter(line), "").lower(), "cluster")


def _level_problems(at: At, parameters: Any, table: str, level: str) -> Problems:
    yield from _parameter_problems(at, parameters or {}, table)
    for name in parameters or {}:
        if name.lower() in fact("denied_slurm_settings")[level]:
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
        kind = "time" if table == "partition" and name.lower() in _TIMES else kinds[name.lower()]
        if text := _value_problem(value, *_FORMS[kind]):
            yield Problem((*at, name), text)


def _value_problem(value: Any, form: str, words: str) -> str | None:
    if isinstance(value, Unknown):
        return None
    if isinstance(value, bool):
        return f"must be one value as Slurm writes it, YES or NO in quotes, got {shown(value)}"
    if not isinstance(value, str | int | float):
        return f"must be one value, got {'a mapping' if hasattr(value, 'keys') else 'a list'}"
    if isinstance(value, str) and not (value.isprintable() and value.strip()):
        return f"must be one line that says something, got {shown(value)}"
    return None if re.fullmatch(form, str(value)) else f"must be {words}, got {shown(value)}"
