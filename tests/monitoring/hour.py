"""What a cluster's agent writes in an hour and a half, scrape by scrape: the course of things in Slurm's own words.

Of a node there is what Slurm says of it. The rest follows as it does on a cluster: whom the agent asks and what Slurm's
metrics are, our own programs say; whether a node answers, its state; numbers are those that exporters gave, as recorded
in ``data/emitted``, which go on as those of busy machines do. What is gone is stale, as Prometheus marks it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from subprocess import CalledProcessError
from types import SimpleNamespace
from typing import Any

from cdk_trainyard.monitoring.alarms import alarms, records
from tests.lifecycle_scripts.programs import load
from tests.lifecycle_scripts.test_metrics import make_device
from tests.monitoring.test_emitted import EMITTED, asked

MINUTES = 90
CLUSTER = "c"
CONTROLLER = "ctl"
PORTS = {"node": 9100, "neuron": 8000, "gpu": 9400}
GRES = {"neuron": "neuron:16", "gpu": "gpu:h100:8"}
SILENT = {"DOWN", "UNKNOWN", "POWERED_DOWN", "POWERING_UP", "REBOOT_ISSUED"}
"""A node answers nobody in these states."""
ASKED = {name for expr in [row.expr for row in alarms()] + [row.expr for row in records()] for name, _ in asked(expr)}
Phases = Sequence[tuple[int, str | None]]
Labels = tuple[tuple[str, str], ...]
Answers = Mapping[Labels, str | None]
"""Targets of a scrape by their labels, with what each gave; None of one that gave nothing."""
Change = Callable[[int, str, float], float]
"""What becomes of a number: minute, name and number."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """One course of things.

    Attributes:
        sources: Whose metrics there are.
        nodes: Slurm's states of each node, from which minute on; None: Slurm does not know it.
        reasons: What was said of nodes, while they do not run jobs.
        waits: Jobs that wait: since which minute, until which, and why.
        missed: Scrapes that failed: minute and node.
        stopped: When the agent was stopped, and when it was started again.
        silent: When slurmctld was stopped, and when it was started again.
        updates: When groups of nodes are updated: cron expressions. Minute 0 is midnight of a Thursday.
        update_minutes: How long an update may take.
        tasks: Tasks that serve: from which minute each is there, from which its engine answers, and until when.
        engine: What their metrics begin with.
        change: What is other than on a healthy machine.
    """

    sources: Sequence[str]
    nodes: Mapping[str, Phases] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    waits: Sequence[tuple[int, int, str]] = ()
    missed: frozenset[tuple[int, str]] = frozenset()
    stopped: range = range(0)
    silent: range = range(0)
    updates: Sequence[str] = ()
    update_minutes: int = 60
    tasks: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    engine: str = "vllm:"
    change: Change = lambda _minute, _name, number: number


def state(phases: Phases, minute: int) -> str | None:
    """What Slurm says of a node at a minute."""
    return next((said for since, said in reversed(phases) if since <= minute), None)


def answers(said: str | None) -> bool:
    """Whether a node of that state answers."""
    return said is not None and not (set(said.replace("*", "").split("+")) & SILENT)


# ---------------------------------------------------------------- Slurm
class Slurm:
    """What Slurm's commands say at a minute, and what our program makes of it."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.program = load("lib/slurm_metrics.py")
        self.minute = 0
        self.program.time = SimpleNamespace(time=lambda: 60.0 * self.minute, monotonic=lambda: 0.0)
        self.metrics = ""
        self.device = next((GRES[each] for each in course.sources if each in GRES), "(null)")

    def at(self, minute: int) -> tuple[str, list[dict[str, Any]]]:
        """Metrics, and whom the agent asks."""
        self.minute = minute
        told = self.answer("scontrol", ["nodes"])
        ask = self.refuse if minute in self.course.silent else self.answer
        self.metrics = self.program.collect(ask, self.metrics)
        return self.metrics, self.program.targets(told, PORTS, CONTROLLER)

    def refuse(self, program: str, _arguments: list[str]) -> str:
        raise CalledProcessError(1, program)

    def answer(self, program: str, arguments: list[str]) -> str:
        known = {name: said for name, phases in self.course.nodes.items() if (said := state(phases, self.minute))}
        if program == "sdiag":
            return "Server thread count:  3\nAgent queue size:     2\nDBD Agent queue size: 0\n"
        if program == "sinfo":
            busy = sum("ALLOCATED" in said or "MIXED" in said for said in known.values())
            shorts = "".join(f"dev {short(said)}\n" for said in known.values())
            return shorts if "--Node" in arguments else f"dev {busy}/{len(known) - busy}/0/{len(known)}\n"
        if program == "squeue":
            waits = [(since, why) for since, until, why in self.course.waits if since <= self.minute < until]
            if "--states=all" in arguments:
                return "dev RUNNING\n" * 3 + "dev PENDING\n" * len(waits)
            return "".join(f"dev|{60 * since}|{why}\n" for since, why in waits)
        if "config" in arguments:
            return "AccountingStorageType   = accounting_storage/slurmdbd\n"
        return "".join(f"{self.described(name, said)}\n" for name, said in known.items())

    def described(self, name: str, said: str) -> str:
        used = self.device if "ALLOCATED" in said or "MIXED" in said else "(null)"
        phases = self.course.nodes[name]
        came = max((since for since, each in phases if each and since <= self.minute and self.is_new(name, since)))
        fresh = self.course.silent.stop if self.minute >= self.course.silent.stop else 0  # it asks every node anew
        started = any(answers(state(phases, minute)) for minute in range(max(came, fresh), self.minute + 1))
        return (
            f"NodeName={name} Gres={self.device} GresUsed={used} NodeAddr={name} State={said} BootTime=None"
            f" SlurmdStartTime={60 * came if started else 'None'} Reason={self.course.reasons.get(name, '')}"
        )

    def is_new(self, name: str, minute: int) -> bool:
        """Whether Slurm did not know the node a minute before."""
        return minute == 0 or state(self.course.nodes[name], minute - 1) is None


def short(said: str) -> str:
    """What sinfo makes of a state."""
    first, *flags = said.lower().replace("*", "").split("+")
    signs = {"powered_down": "~", "powering_up": "#", "powering_down": "%", "reboot_issued": "^", "maintenance": "$"}
    return first + "".join(sign for flag, sign in signs.items() if flag in flags) + ("*" if "*" in said else "")


# ---------------------------------------------------------------- exporters
RISES = {
    "node_amazonefa_tx_pkts": 1e6, "node_amazonefa_rx_pkts": 1e6, "node_amazonefa_retrans_pkts": 2e3,
    "node_vmstat_pgpgin": 1e4, "execution_status_total": 300.0, "lustre_rpcs_total": 1e3,
    "http_requests_total/2xx": 600.0, "tgi_request_count": 600.0, "http_requests_total/5xx": 0.5,
    "tgi_request_failure/overloaded": 0.5, "tgi_request_failure/validation": 60.0,
    "vllm:time_to_first_token_seconds_bucket/5.0": 596.0, "vllm:time_to_first_token_seconds_bucket": 600.0,
    "tgi_request_queue_duration_bucket/0.1": 560.0, "tgi_request_queue_duration_bucket": 600.0,
    "hardware_ecc_events_total/mem_ecc_corrected": 1.0, "execution_errors_total/numerical": 0.2,
}  # fmt: skip
"""How much counters of busy machines grow in a minute, by name, or by name and the value of a label."""
SWINGS = {
    "node_filesystem_avail_bytes": lambda base, minute: base * (1 - minute / 1000),
    "node_filesystem_files_free": lambda base, minute: base - 500 * minute,
    "node_textfile_mtime_seconds": lambda _base, minute: 60 * minute - 15,
    "node_timex_sync_status": lambda _base, _minute: 1,  # the recorded machine had no clock to follow
    "neuroncore_utilization_ratio": lambda _base, minute: 0.4 + 0.05 * (minute % 9),
    "DCGM_FI_DEV_GPU_UTIL": lambda _base, minute: 55 + 5 * (minute % 9),
    "DCGM_FI_DEV_GPU_TEMP": lambda base, minute: base + 2 * (minute % 16),
    "DCGM_FI_DEV_XID_ERRORS": lambda _base, minute: 31 if minute >= 20 else 0,  # an application's
    "vllm:num_requests_waiting": lambda _base, minute: 50 if minute % 8 == 0 else minute % 5,
    "tgi_queue_size": lambda _base, minute: 50 if minute % 8 == 0 else minute % 5,
    "vllm:kv_cache_usage_perc": lambda _base, minute: 0.98 if minute % 8 < 5 else 0.7,
}
LINE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")


def of_text(text: str) -> Iterator[tuple[str, str, float, float]]:
    """Yield what alarms ask for of an exporter's text: name, labels, number, and by how much it grows in a minute."""
    for match in map(LINE.match, text.splitlines()):
        if match and match[1] in ASKED:
            name, labels = match[1], match[2] or ""
            keys = [*(f"{name}/{value}" for value in re.findall(r'="([^"]*)"', labels)), name]
            yield name, labels, float(match[3]), next((RISES[key] for key in keys if key in RISES), 0)


class Exporters:
    """What exporters give at a minute: names and first numbers are those that were recorded."""

    def __init__(self, course: Course, folder: Path) -> None:
        self.course = course
        counters = (EMITTED / "efa.counters").read_text().splitlines()[1:]
        make_device(folder, "rdmap16s2", "efa", dict.fromkeys(counters, "3"))
        lustre = (EMITTED / "lustre.answers").read_text().replace("DISCONN", "FULL").replace("EVICTED", "RECOVER")
        self.texts = {path.stem: path.read_text() for path in EMITTED.glob("*.prom")}
        self.texts["efa"] = load("lib/efa_metrics.py").collect(folder)
        self.texts["lustre"] = load("lib/lustre_metrics.py").collect(lustre)
        self.asked = {source: [*of_text(text)] for source, text in self.texts.items()}

    def give(self, minute: int, *sources: str, files: Sequence[str] = (), since: int = 0) -> str:
        """What they give together; counters began at a minute, and files are what the textfile collector has."""
        told = []
        for name, labels, first, by in (line for source in sources for line in self.asked[source]):
            if name == "node_textfile_mtime_seconds" and not any(f"/{file}.prom" in labels for file in files):
                continue
            number = SWINGS[name](first, minute) if name in SWINGS else first + by * (minute - since)
            told.append(f"{name}{{{labels}}} {self.course.change(minute, name, number):g}")
        return "\n".join(told) + "\n"


# ---------------------------------------------------------------- scrapes
def scrapes(course: Course, folder: Path) -> Iterator[Answers | None]:
    """Yield every minute's scrape; None while the agent was stopped."""
    exporters, slurm = Exporters(course, folder), Slurm(course)
    for minute in range(MINUTES + 1):
        if minute in course.stopped:
            yield None
            continue
        found = {**of_nodes(course, exporters, slurm, minute), **of_tasks(course, exporters, minute)}
        if "controller" in course.sources:
            began = course.stopped.stop if minute >= course.stopped.stop else 0
            found[labelled("agent", CONTROLLER)] = exporters.give(minute, "agent", since=began)
        yield found


def of_nodes(course: Course, exporters: Exporters, slurm: Slurm, minute: int) -> Answers:
    """What nodes give: those that Slurm names, or all of a fleet."""
    textfiles = [each for each in ("efa", "lustre") if each in course.sources]
    if "slurm" in course.sources:
        metrics, targets = slurm.at(minute)
    else:
        jobs = ["node", *(each for each in GRES if each in course.sources)]
        metrics, targets = "", [{"labels": {"job": job, "node": node}} for node in course.nodes for job in jobs]
    found: dict[Labels, str | None] = {}
    for target in targets:
        job, node = target["labels"]["job"], target["labels"]["node"]
        there = node == CONTROLLER or answers(state(course.nodes[node], minute))
        if job != "node":
            text = exporters.give(minute, job)
        elif node == CONTROLLER:
            text = exporters.give(minute, "node", files=["slurm"]) + metrics
        else:
            text = exporters.give(minute, "node", *textfiles, files=textfiles)
        found[labelled(job, node)] = text if there and (minute, node) not in course.missed else None
    return found


def of_tasks(course: Course, exporters: Exporters, minute: int) -> Answers:
    """What tasks that serve give, each on a host of its own."""
    other = {"vllm:": ("tgi_", "vllm:gpu"), "tgi_": ("vllm:", "http_")}[course.engine]
    found: dict[Labels, str | None] = {}
    for number, (task, (begins, loaded, ends)) in enumerate(course.tasks.items()):
        if begins <= minute < ends:
            told = exporters.give(minute, "engine", since=begins).splitlines()
            engine = "".join(f"{line}\n" for line in told if not line.startswith(other))
            found[labelled("engine", f"h{number}", task)] = engine if minute >= loaded else None
            found[labelled("node", f"h{number}", task)] = exporters.give(minute, "node")
    return found


def labelled(job: str, node: str, task: str | None = None) -> Labels:
    """Labels that the agent gives to all that a target says."""
    more = [("task", task)] if task else []
    return (("cluster", CLUSTER), ("job", job), ("node", node), *more)


def written(course: Course, folder: Path) -> list[dict[str, str]]:
    """Every series of a course, in promtool's notation: a sample a minute, ``_`` for none, ``stale`` where it ended."""
    series: dict[str, dict[int, str]] = {}
    before: dict[str, str] = {}
    for minute, found in enumerate(scrapes(course, folder)):
        if found is None:
            before = {}  # one that is started again knows of nothing
            continue
        now: dict[str, str] = {}
        for labels, text in found.items():
            now[named("up", labels, "")] = "0" if text is None else "1"
            for line in (text or "").splitlines():
                if (match := LINE.match(line)) and match[1] in ASKED:
                    now[named(match[1], labels, match[2] or "")] = match[3]
        for name in {**before, **now}:
            series.setdefault(name, {})[minute] = now.get(name, "stale")
        before = now
    return [
        {"series": name, "values": " ".join(samples.get(minute, "_") for minute in range(MINUTES + 1))}
        for name, samples in series.items()
    ]


@cache
def named(name: str, labels: Labels, own: str) -> str:
    """A series with the labels of its target; those are first, and a metric's own of the same name is its own."""
    kept = [f'{key}="{value}"' for key, value in labels if not re.search(rf"\b{key}=", own)]
    return f"{name}{{{','.join([*kept, *([own] if own else [])])}}}"
