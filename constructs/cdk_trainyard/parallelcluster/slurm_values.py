"""What Slurm's parameters take. Pure."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.texts import LINE
from cdk_trainyard.problems import shown

_UP_TO_65535: Final = r"[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9][0-9]|655[0-2][0-9]|6553[0-5]"
_PORT: Final = f"(?!0)({_UP_TO_65535})"
_FORMS: Final = {
    "long": (r"(?i:(0x[0-9a-f]+|[0-9]+)k?|UNLIMITED|INFINITE)", "a whole number of 0 or more, or UNLIMITED"),
    "number": (r"(?i:(0x[0-9a-f]+|[0-9]+)k?|UNLIMITED|INFINITE)", "a whole number of 0 to 4294967295, or UNLIMITED"),
    "short": (
        rf"(?i:0x[0-9a-f]{{1,4}}|UNLIMITED|INFINITE)|0*({_UP_TO_65535})",
        "a whole number of 0 to 65535, or UNLIMITED",
    ),
    "boolean": (r"(?i:yes|no|up|down|true|false|1|0)", "YES or NO"),
    "time": (
        r"(?i:-1|INFINITE|UNLIMITED|[0-9]+(:[0-9]+){0,2}|[0-9]+-([0-9]+(:[0-9]+){0,2})?)",
        "minutes, hours:minutes:seconds, days-hours or UNLIMITED, as 1-12",
    ),
    "text": (r'"(?:[^"#\\]|\\[^"])*"|(?:[^\s#\\]|\\\S)+', r"one word with \# for '#', or words in double quotes"),
}
"""What Slurm reads (``parse_value.c``, ``parse_time.c`` and ``parse_config.c`` of Slurm 25.11)."""
_LEVEL: Final = (r"(?i:quiet|fatal|error|info|verbose|debug[2-5]?)|[0-9]", "a level from quiet to debug5, as info")
_PREEMPT: Final = "within|priority"
_MODES: Final = f"gang|{_PREEMPT}|off|cluster|cancel|requeue|on|suspend"
_PREEMPT_MODES: Final = (
    rf"(?i:(?!.*gang.*({_PREEMPT})|.*({_PREEMPT}).*gang)((gang|{_PREEMPT}),)*({_MODES})(,(gang|{_PREEMPT}))*)",
    "OFF, CANCEL, REQUEUE or SUSPEND, with {}WITHIN or PRIORITY behind a comma",
)
_FLAGS: Final = (
    "CR_(ONE_TASK_PER_CORE|CORE_DEFAULT_DIST_BLOCK|NO_DIST_TOPO_BLOCK|LLN|PACK_NODES)|LL_SHARED_GRES|"
    "MULTIPLE_SHARING_GRES_PJ|ENFORCE_BINDING_GRES|ONE_TASK_PER_SHARING_GRES|OTHER_CONS_(RES|TRES)"
)
_SHARED: Final = "CR_((CPU|Core|Socket)(_Memory)?|Memory)"
_ENFORCE: Final = "associations|limits|safe|wckeys|qos|all|nojobs|nosteps|1|2"
_PROLOG: Final = "Alloc|Contain|DeferBatch|ForceRequeueOnFail|NoHold|RunInJob|Serial|X11"
_COUNTED: Final = "billing|cpu|energy|mem|node|pages|vmem|(bb|fs|gres|ic|license)/[^,]+"
_HEALTH: Final = "ANY|ALLOC|CYCLE|IDLE|MIXED|NONDRAINED_IDLE"
_UNIT: Final = "none|sockets|cores|threads"
_BINDING: Final = f"{_UNIT}|autobind=({_UNIT})|verbose|SlurmdOffSpec|SlurmdSpecOverride|OOMKillStep"
_TWICE: Final = (
    rf"(.*,)?({_UNIT}),(.*,)?({_UNIT})(?![^,\"])|.*autobind.*autobind|.*OffSpec.*SpecOver|.*SpecOver.*OffSpec"
)
_TASK: Final = (
    rf"(?i:(?!{_TWICE})({_BINDING})(,({_BINDING}))*)",
    "one of none, sockets, cores and threads, one autobind= of these, and flags as verbose, behind commas",
)


def _holding(words: str) -> str:
    """Return the form of none, or of a list of which each item holds one of some words: Slurm looks for no more."""
    return rf"(?i:none|[^,]*({words})[^,]*(,[^,]*({words})[^,]*)*)"


_PATH: Final = ("/.+", "an absolute path, as /shared/slurm/name")
_NO_PATH: Final = ("(?i:none)|/.+", "none, or an absolute path, as /shared/slurm/name")
_VALUES: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("cluster", "selecttypeparameters"): (
        (
            "(?i:(?!.*CR_CPU.*TASK_PER_CORE|.*TASK_PER_CORE.*CR_CPU)"
            rf"(({_FLAGS})(,({_FLAGS}))*(,{_SHARED}(,({_FLAGS}))*)?|{_SHARED}(,({_FLAGS}))*))"
        ),
        (
            "CR_CPU, CR_Core or CR_Socket, each with or without _Memory, and flags as CR_LLN behind a comma, "
            "CR_ONE_TASK_PER_CORE not with CR_CPU"
        ),
    ),
    ("cluster", "accountingstorageenforce"): (
        rf"(?i:({_ENFORCE})(,({_ENFORCE}))*)",
        "associations, limits, safe, wckeys, qos, all, nojobs or nosteps",
    ),
    ("cluster", "accountingstoragetres"): (
        rf"(?i:({_COUNTED})(,({_COUNTED}))*)",
        "cpu, mem, node, energy, vmem or a name behind gres/, license/ or fs/, with commas, as gres/gpu",
    ),
    ("cluster", "accountingstoreflags"): (
        _holding("job_comment|job_env|job_extra|job_script|no_stdio"),
        "job_comment, job_env, job_extra, job_script or no_stdio, with commas",
    ),
    ("cluster", "accountingstoragetype"): (
        r"(?i:(?!.*mysql).*)",
        "accounting_storage/none or accounting_storage/slurmdbd",
    ),
    ("cluster", "bcastexclude"): ("(?i:none)|/[^,]*(,/[^,]*)*", "none, or absolute paths with commas"),
    ("cluster", "communicationparameters"): (
        "(?i:(?!.*DisableIPv4).*|.*EnableIPv6.*)",
        "without DisableIPv4, or with EnableIPv6 behind a comma",
    ),
    ("cluster", "epilogslurmctld"): _PATH,
    ("cluster", "healthcheckprogram"): _PATH,
    ("cluster", "mailprog"): _PATH,
    ("cluster", "prologslurmctld"): _PATH,
    ("cluster", "resvepilog"): _PATH,
    ("cluster", "resvprolog"): _PATH,
    ("cluster", "slurmctldpidfile"): _PATH,
    ("cluster", "slurmdpidfile"): _PATH,
    ("cluster", "slurmdspooldir"): _PATH,
    ("cluster", "slurmschedlogfile"): _PATH,
    ("cluster", "srunepilog"): _NO_PATH,
    ("cluster", "srunprolog"): _NO_PATH,
    ("cluster", "statesavelocation"): _PATH,
    ("cluster", "enforcepartlimits"): ("(?i:all|any|yes|no|up|down|true|false|1|0)", "ALL, ANY or NO"),
    ("cluster", "healthchecknodestate"): (
        rf"(?i:START_ONLY|REBOOT_ONLY|({_HEALTH})(,({_HEALTH}))*)",
        f"{_HEALTH.replace('|', ', ')} with commas, or START_ONLY alone",
    ),
    ("cluster", "jobacctgatherparams"): (
        "(?i:(?!.*UsePSS.*NoShared|.*NoShared.*UsePSS).*)",
        "without UsePss or without NoShared, which exclude one another",
    ),
    ("cluster", "licenses"): (
        r"[,;|]*[^\s,;:=]+([:=]\+?[0-9]*)?([,;|]+[^\s,;:=|]+([:=]\+?[0-9]*)?)*[,;|]*",
        "names with counts, as matlab:5,ansys:2",
    ),
    ("cluster", "logtimeformat"): (
        "(?i:.*(iso8601|rfc5424|rfc3339|clock|short|thread_id|format_stderr).*)",
        "iso8601, iso8601_ms, rfc5424, rfc5424_ms, rfc3339, clock, short or thread_id",
    ),
    ("cluster", "prioritycalcperiod"): (
        r"(?=.*[1-9])([0-9]+(:[0-9]+){0,2}|[0-9]+-([0-9]+(:[0-9]+){0,2})?)",
        "1 minute or more, as 5 or 1:00:00",
    ),
    ("cluster", "priorityflags"): (
        _holding(
            "ACCRUE_ALWAYS|CALCULATE_RUNNING|DEPTH_OBLIVIOUS|INCR_ONLY|MAX_TRES|FAIR_TREE|SMALL_RELATIVE_TO_TIME|"
            "NO_NORMAL_(ALL|ASSOC|PART|QOS|TRES)"
        ),
        "flags of Slurm with commas, as MAX_TRES,NO_FAIR_TREE",
    ),
    ("cluster", "privatedata"): (
        _holding("account|event|job|node|partition|reservation|usage|user|all|cloud"),
        "accounts, events, jobs, nodes, partitions, reservations, usage or users, with commas",
    ),
    ("cluster", "srunportrange"): (rf"{_PORT}-{_PORT}", "two ports with a hyphen, as 60001-63000"),
    ("cluster", "priorityusageresetperiod"): (
        "(?i:none|now|daily|weekly|monthly|quarterly|yearly)",
        "NONE, NOW, DAILY, WEEKLY, MONTHLY, QUARTERLY or YEARLY",
    ),
    ("cluster", "slurmctldport"): (rf"{_PORT}(-{_PORT})?", "a port, or two with a hyphen, as 6820-6829"),
    ("cluster", "taskpluginparam"): _TASK,
    ("cluster", "preemptmode"): (_PREEMPT_MODES[0], _PREEMPT_MODES[1].format("GANG, ")),
    ("partition", "preemptmode"): (_PREEMPT_MODES[0], _PREEMPT_MODES[1].format("")),
    ("cluster", "prologflags"): (
        rf"(?i:(?!.*nohold.*(contain|x11)|.*(contain|x11).*nohold)({_PROLOG})(,({_PROLOG}))*)",
        f"{_PROLOG.replace('|', ', ')}, but NoHold not with Contain or X11",
    ),
    ("cluster", "slurmctlddebug"): _LEVEL,
    ("cluster", "slurmddebug"): _LEVEL,
    ("cluster", "slurmctldsyslogdebug"): _LEVEL,
    ("cluster", "slurmdsyslogdebug"): _LEVEL,
    ("partition", "selecttypeparameters"): (
        r"(?i:CR_(Core|Socket)).*",
        "CR_Core, CR_Core_Memory, CR_Socket or CR_Socket_Memory",
    ),
    ("partition", "state"): ("(?i:up|down|drain|inactive)", "UP, DOWN, DRAIN or INACTIVE"),
    ("node", "nodename"): ("(?i:(?!all$).*)", "another name than ALL, which is Slurm's own word"),
    ("node", "port"): (rf"{_FORMS['short'][0]}|.*\[.*", "a port of 1 to 65535"),
}
"""What a parameter takes that is narrower than its kind: Slurm's daemons end at anything else (``read_config.c``,
``slurm_protocol_defs.c`` and the folders of ``src/plugins``, Slurm 23.11 to 26.05), or run no program of it ("Fully
qualified pathname" of slurm.conf(5); ``run_command.c``)."""
_TIMES: Final = {
    ("cluster", "preemptexempttime"),
    ("cluster", "prioritydecayhalflife"),
    ("cluster", "prioritymaxage"),
    ("partition", "defaulttime"),
    ("partition", "maxtime"),
}
"""Parameters that Slurm's parser takes as text, and its daemons as a time."""
_LARGEST: Final = {"max_script_size": 512 << 20, "max_submit_line_size": 2 << 20}
"""What SchedulerParameters may ask for at most, in bytes: ``read_config.h`` of Slurm 23.11 to 26.05."""
_RANGES: Final[Mapping[tuple[str, str], tuple[int, float]]] = {
    ("cluster", "firstjobid"): (1, math.inf),
    ("cluster", "maxarraysize"): (0, 4_000_001),
    ("cluster", "maxdbdmsgs"): (10_000, math.inf),
    ("cluster", "maxjobcount"): (1, math.inf),
    ("cluster", "maxstepcount"): (1, math.inf),
    ("cluster", "propagateprioprocess"): (0, 2),
    ("cluster", "slurmdport"): (1, 65_535),
    ("partition", "maxcpuspernode"): (1, math.inf),
    ("partition", "maxcpuspersocket"): (1, math.inf),
    ("partition", "maxnodes"): (1, math.inf),
}
"""Least and most of a number where Slurm's daemons end at others, cannot be reached at them, or run no job
(``read_config.c``, ``job_mgr.c`` and ``job_test.c`` of ``cons_tres``, Slurm 23.11 to 26.05; slurm.conf(5))."""
_MOST: Final = 0xFFFF_FFFF
ENDLESS: Final = ("infinite", "unlimited", "-1")
"""A time, or a number, without end."""
WEEK: Final = "0*7-(0+(:0+){0,2})?|0*10080(:0+)?|0*168:0+:0+"
"""The form of a week, for which Slurm remembers usage and counts age by default."""


def slurm_facts() -> Mapping[str, Any]:
    """Return the names of parameters with their kinds, and of plugins, as Slurm's source has them."""
    facts: Mapping[str, Any] = load("parallelcluster", "slurm")
    return facts


def minutes_of(value: Any) -> float | None:
    """Return a time in minutes, as Slurm rounds it (``time_str2mins`` of ``parse_time.c``), or None for none.

    Args:
        value: What was said.
    """
    text = str(value).lower()
    if text in ENDLESS:
        return math.inf
    if not re.fullmatch(r"[0-9]+(:[0-9]+){0,2}|[0-9]+-([0-9]+(:[0-9]+){0,2})?", text):
        return None
    days, dash, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":") if part]
    units = (3600, 60, 1) if dash or len(parts) > 2 else (60, 1)  # noqa: PLR2004  hours, minutes and seconds
    seconds = int(days or 0) * 86_400 + sum(part * unit for part, unit in zip(parts, units, strict=False))
    return math.ceil(seconds / 60)


def value_problem(table: str, name: str, kind: str, value: Any) -> str | None:
    """Return what is wrong with the value of a parameter, or None.

    Args:
        table: What the line defines.
        name: The parameter, in small letters.
        kind: How Slurm reads it.
        value: The value; not a Token.
    """
    if (line := _in_one_line(value)) and value_problem(table, name, kind, line) is None:
        return f"must be one value, got {'a mapping' if isinstance(value, Mapping) else 'a list'}; write {shown(line)}"
    form, words = _FORMS["time" if (table, name) in _TIMES else kind]
    words = _words_of_range(table, name) or words
    text = _value_problem(value, form, words)
    joined = re.sub(r"\s*,\s*", ",", value) if isinstance(value, str) else value
    if text and joined != value and not _value_problem(joined, form, words):
        text = f"{text}; write {shown(joined)}, without blanks"
    if narrower := None if text else _VALUES.get((table, name)):
        text = _value_problem(value, *narrower)
    if text is None and kind in ("short", "number") and not _in_range(table, name, value):
        text = f"must be {words}, got {shown(value)}"
    if text is None and (words_problem := _OF_WORDS.get((table, name))):
        text = words_problem(value.strip('"') if isinstance(value, str) else str(value))
    return text


def _words_of_range(table: str, name: str) -> str | None:
    """Return the words of the numbers that a parameter takes, or None: those of its kind."""
    if (table, name) not in _RANGES:
        return None
    least, most = _RANGES[table, name]
    return f"a whole number of {least} to {min(most, _MOST)}{', or UNLIMITED' if most == math.inf else ''}"


def _in_range(table: str, name: str, value: Any) -> bool:
    """Say whether a number is of the size that a parameter takes."""
    number = number_of(value)
    least, most = _RANGES.get((table, name), (0, math.inf))
    return least <= number <= most and (number <= _MOST or number == math.inf)


def number_of(value: Any) -> float:
    """Return a number as Slurm reads it, or infinity.

    Args:
        value: What was said, in the form of a number.
    """
    text = str(value).strip('"').lower()
    if text in ENDLESS:
        return math.inf
    digits = text.removesuffix("k")
    return int(digits, 16 if digits.startswith("0x") else 10) * (1024 if digits != text else 1)


def _flags_problem(text: str) -> str | None:
    """Slurm knows every flag of what its daemons tell."""
    flags = slurm_facts()["debug_flags"]
    for word in filter(None, text.split(",")):
        if word.lower() not in map(str.lower, flags):
            return f"must be flags of Slurm with commas, as Backfill,Gres, got {shown(word)}{did_you_mean(word, flags)}"
    return None


def _limits_problem(text: str) -> str | None:
    """Slurm knows every limit of resources, in capital letters."""
    names = slurm_facts()["resource_limits"]
    for word in () if text in ("ALL", "NONE") else filter(None, re.split(r"[,\s]", text)):
        if word.removeprefix("RLIMIT_") not in names:
            more = did_you_mean(word.upper(), names)
            return f"must be ALL, NONE, or limits in capitals with commas, as STACK,MEMLOCK, got {shown(word)}{more}"
    return None


def _sizes_problem(text: str) -> str | None:
    """A script and a command line are no longer than Slurm's daemon takes."""
    for name, number in re.findall(r"(?i)(max_script_size|max_submit_line_size)=([0-9]+)", text):
        if int(number) > _LARGEST[name.lower()]:
            return f"must have {name} of at most {_LARGEST[name.lower()]}, got {number}"
    return None


def _socket_problem(text: str) -> str | None:
    """No password is of use (slurm.conf(5), AccountingStoragePass), and none is shown."""
    where = "the path of a socket of MUNGE, as /run/munge/global.socket.2"
    return None if text.startswith("/") else f"must be {where}: slurmctld takes no password there; leave it out"


_OF_WORDS: Final[Mapping[tuple[str, str], Callable[[str], str | None]]] = {
    ("cluster", "accountingstoragepass"): _socket_problem,
    ("cluster", "debugflags"): _flags_problem,
    ("cluster", "propagateresourcelimits"): _limits_problem,
    ("cluster", "propagateresourcelimitsexcept"): _limits_problem,
    ("cluster", "schedulerparameters"): _sizes_problem,
}


def _in_one_line(value: Any) -> str:
    """Return a list, or numbers by their names, as Slurm writes them; nothing of what is neither."""
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple | list) else ()
    if not items or any(isinstance(each, bool) or not isinstance(each, str | int | float) for each in items):
        return ""
    pairs = [f"{name}={each}" for name, each in value.items()] if isinstance(value, Mapping) else map(str, items)
    return ",".join(pairs)


def _value_problem(value: Any, form: str, words: str) -> str | None:
    if isinstance(value, bool):
        return f"must be one value as Slurm writes it, in quotes, got {shown(value)}"
    if not isinstance(value, str | int | float):
        return f"must be one value, got {'a mapping' if hasattr(value, 'keys') else 'a list'}"
    if isinstance(value, str) and not (value.isprintable() and value.strip()):
        return f"must be one line that says something, got {shown(value)}"
    if isinstance(value, str) and (wrong := LINE.problem(value, NOWHERE)):
        return str(wrong)
    if re.fullmatch(rf'("?)(?:{form})\1', str(value), re.ASCII):
        return None
    whole = int(value) if isinstance(value, float) and value.is_integer() else ""  # YAML reads 1e3 as 1000.0
    remedy = f"; write {whole}" if re.fullmatch(form, str(whole)) else ""
    return f"must be {words}, got {shown(value)}{remedy}"
