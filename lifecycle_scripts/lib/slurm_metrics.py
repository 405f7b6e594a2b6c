#!/usr/bin/env python3
"""Write what Slurm does as metrics, for the textfile collector of node_exporter, and which nodes there are to scrape.

Run by a timer on the controller. The file is renamed into its place, so a reader never sees half of it. A controller
that does not answer is a metric too: slurm_up 0. How many series there are depends on nodes and partitions, and on no
job, user or reason. Written for the Python of the nodes (3.8 and newer), without any
dependency.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Sample = tuple[dict[str, str], float]
    Ask = Callable[[str, list[str]], str]

_SECONDS = 20  # for an answer of slurmctld
_FLAGS = "*~#!%$@^-+"  # what sinfo puts behind a state: not answering, powering down, planned ...
_POWER = {"~": "powered_down", "#": "powering_up", "!": "powering_down", "%": "powering_down"}
"""States of nodes that save power, by what sinfo puts behind the state that they would have; no job runs there."""
_CPU_STATES = ("allocated", "idle", "other", "total")
_AWAY = {
    "FUTURE", "MAINTENANCE", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_DOWN", "POWER_UP",
    "REBOOT_ISSUED", "REBOOT_REQUESTED",
}  # fmt: skip
"""A node is away because it was meant to be: power saving, maintenance, a restart that was asked for."""
_ASKED_FOR = {"Action:Reboot", "Action:Replace"}
"""Reasons by which HyperPod is told what to do with a node (its guide: manually replace or reboot a node)."""
_BUSY = {"ALLOCATED", "COMPLETING", "MIXED"}
_UNAVAILABLE = (({"DOWN", "ERROR"}, "down"), ({"INVALID_REG"}, "invalid"), ({"FAIL", "FAILING"}, "fail"))
_REASONS = {"Resources", "Priority", "Dependency", "ReqNodeNotAvail", "BeginTime", "JobHeldUser", "JobHeldAdmin"}
_TOO_FEW = "Nodes required for job are DOWN, DRAINED"
"""What squeue says for Resources where the nodes that are left are too few (Slurm 22.05; rehearsed)."""
_QUEUES = (
    ("slurm_agent_queue_size", "Messages of slurmctld that wait to be sent.", "Agent queue size"),
    ("slurm_dbd_agent_queue_size", "Records that wait for slurmdbd.", "DBD Agent queue size"),
    ("slurm_server_threads", "Threads of slurmctld that answer.", "Server thread count"),
)


def ask(directory: Path) -> Ask:
    """Return a function that runs one of Slurm's commands."""

    def run(program: str, arguments: list[str]) -> str:
        command = [str(directory / program), *arguments]
        environment = {**os.environ, "SLURM_TIME_FORMAT": "%s"}
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=True, timeout=_SECONDS, env=environment
        )
        return done.stdout

    return run


def nodes(told: str) -> list[Sample]:
    """Count nodes by partition and state, from lines of ``partition state``."""
    counts = Counter((words[0].rstrip("*"), node_state(words[1])) for words in map(str.split, told.splitlines()))
    return [({"partition": where, "state": state}, count) for (where, state), count in sorted(counts.items())]


def node_state(told: str) -> str:
    """Return a node's state without flags; one that saves power is not idle, since it does not run."""
    plain = told.rstrip(_FLAGS)
    return next((state for flag, state in _POWER.items() if flag in told[len(plain) :]), plain)


def cpus(told: str) -> list[Sample]:
    """Add up CPUs by partition and state, from lines of ``partition allocated/idle/other/total``."""
    found: list[Sample] = []
    for partition, numbers in map(str.split, told.splitlines()):
        for state, number in zip(_CPU_STATES, numbers.split("/")):  # noqa: B905  3.8 does not know strict
            found.append(({"partition": partition.rstrip("*"), "state": state}, int(number)))
    return found


def jobs(told: str) -> list[Sample]:
    """Count jobs by partition and state, from lines of ``partition state``."""
    counts = Counter((words[0], words[1].lower()) for words in map(str.split, told.splitlines()))
    return [({"partition": where, "state": state}, count) for (where, state), count in sorted(counts.items())]


def waiting(told: str) -> list[Sample]:
    """Find the longest wait by partition and reason, from lines of ``partition|time of submission|reason``."""
    longest: dict[tuple[str, str], float] = {}
    for partition, since, reason in (line.split("|", 2) for line in told.splitlines()):
        where = (partition.split(",")[0], reason_code(reason))
        if since.isdigit():
            longest[where] = max(longest.get(where, 0.0), time.time() - int(since))
    return [({"partition": where, "reason": why}, round(most)) for (where, why), most in sorted(longest.items())]


def reason_code(told: str) -> str:
    """Return one of a few reasons of Slurm: squeue shows a sentence or a list of nodes in the place of some."""
    code = "Resources" if told.startswith(_TOO_FEW) else told.split(",", 1)[0]
    return code if code in _REASONS else "Other"


def described(told: str) -> Iterator[dict[str, str]]:
    """Yield what ``scontrol --oneliner`` says of every node: a value without blanks for each of its keys.

    Of its reason, which people write, the first word is ``Reason``.
    """
    for line in told.splitlines():
        said, _, reason = line.partition(" Reason=")
        yield {**dict(re.findall(r"(\w+)=(\S+)", said)), "Reason": reason.split(" ", 1)[0]}


def unavailable(told: str, dead: Collection[str] = ()) -> list[Sample]:
    """Say of every node that takes no jobs, and was not meant to be away, why; ``dead`` are those that were down."""
    found = ((node, why_unavailable(node, dead)) for node in described(told))
    return [({"node": node["NodeName"], "state": why}, 1) for node, why in found if why]


def why_unavailable(node: dict[str, str], dead: Collection[str] = ()) -> str | None:
    """Return why a node takes no jobs; None when it does, or is away.

    Why is down, invalid, fail, drained or draining; awaited of one that HyperPod was told to restart or to replace,
    and of one that is down and has not registered since slurmctld started: it is not set up yet. A node that was dead
    before slurmctld started again is still dead.
    """
    flags = set(node.get("State", "").replace("*", "").split("+"))
    if flags & _AWAY:
        return None
    why = next((word for signs, word in _UNAVAILABLE if flags & signs), None)
    if why is None and "DRAIN" in flags:
        why = "draining" if flags & _BUSY else "drained"
    came = node.get("NodeName") in dead or node.get("SlurmdStartTime", "0")[0].isdigit()
    return "awaited" if why and (node.get("Reason") in _ASKED_FOR or (why == "down" and not came)) else why


def gres(told: str) -> list[Sample]:
    """Add up generic resources of all nodes, as neuron and gpu: how many there are, and how many jobs have."""
    totals: Counter[tuple[str, str]] = Counter()
    for node in described(told):
        for state, key in (("total", "Gres"), ("allocated", "GresUsed")):
            for name, number in resources(node.get(key, "")):
                totals[name, state] += number
    return [({"gres": name, "state": state}, number) for (name, state), number in sorted(totals.items())]


def held(told: str) -> list[Sample]:
    """Say how many generic resources jobs have of every node of which they have some."""
    return [
        ({"node": node["NodeName"], "gres": name}, number)
        for node in described(told)
        for name, number in resources(node.get("GresUsed", ""))
        if number
    ]


def resources(told: str) -> Iterator[tuple[str, int]]:
    """Yield name and number from Slurm's words: ``gpu:h100:8(S:0-1),neuron:16``."""
    for part in re.sub(r"\([^)]*\)", "", told).split(","):
        name, *_, number = f"{part}:".rstrip(":").split(":") if ":" in part else ("", "")
        if number.isdigit():
            yield name, int(number)


def queue(label: str) -> Callable[[str], list[Sample]]:
    """Return what finds a number of ``sdiag`` by the words before it."""

    def find(told: str) -> list[Sample]:
        found = re.search(rf"^\s*{label}:\s*(\d+)", told, re.MULTILINE)
        return [({}, int(found[1]))] if found else []

    return find


_NODES = ("scontrol", ["show", "nodes", "--details", "--oneliner"])
_TAKES_NONE = ("slurm_node_unavailable", "Nodes that take no jobs, and were not meant to be away.")
_FAMILIES = (
    ("slurm_nodes", "Nodes by partition and state; a node is in every partition that has it.",
     nodes, "sinfo", ["--noheader", "--Node", "--format=%R %T"]),
    ("slurm_cpus", "CPUs by partition and state.", cpus, "sinfo", ["--noheader", "--format=%R %C"]),
    ("slurm_jobs", "Jobs by partition and state.",
     jobs, "squeue", ["--noheader", "--all", "--states=all", "--format=%P %T"]),
    ("slurm_jobs_longest_wait_seconds", "How long a job has waited, by partition and reason.",
     waiting, "squeue", ["--noheader", "--all", "--states=PENDING", "--format=%P|%V|%r"]),
    ("slurm_gres", "Generic resources of all nodes: neuron, gpu.", gres, *_NODES),
    ("slurm_node_gres_allocated", "Generic resources that jobs have, by node.", held, *_NODES),
    *((name, text, queue(label), "sdiag", []) for name, text, label in _QUEUES),
)  # fmt: skip


def render(name: str, text: str, samples: Iterable[Sample]) -> str:
    """Return a family of gauges in Prometheus' text format."""
    lines = [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        listed = ",".join(f'{key}="{word}"' for key, word in labels.items())
        lines.append(f"{name}{{{listed}}} {value:g}" if listed else f"{name} {value:g}")
    return "\n".join(lines) + "\n"


def collect(run: Ask, before: str = "") -> str:
    """Return every metric; of a Slurm that does not answer that it does not, and its nodes as they were.

    Args:
        run: Asks Slurm.
        before: What was returned the last time.
    """
    started = time.monotonic()
    run = once(run)
    try:
        families = [render(name, text, parse(run(program, args))) for name, text, parse, program, args in _FAMILIES]
        dead = re.findall(r'^slurm_node_unavailable{node="([^"]+)",state="down"}', before, re.MULTILINE)
        families.append(render(*_TAKES_NONE, unavailable(run(*_NODES), dead)))
    except (OSError, subprocess.SubprocessError):
        return state(0) + "".join(re.findall(r"^(?:# \w+ )?slurm_node_unavailable\b.*\n", before, re.MULTILINE))
    families += accounting(run)
    took = time.monotonic() - started
    families.append(render("slurm_collect_seconds", "How long its answers took.", [({}, round(took, 3))]))
    return state(1) + "".join(families)


def accounting(run: Ask) -> Iterator[str]:
    """Yield whether slurmdbd answers, where there is one."""
    try:
        if "accounting_storage/slurmdbd" not in run("scontrol", ["show", "config"]):
            return
        run("sacctmgr", ["--noheader", "--parsable2", "show", "cluster", "format=cluster"])
        up = 1
    except (OSError, subprocess.SubprocessError):
        up = 0
    yield render("slurm_dbd_up", "Whether slurmdbd answered.", [({}, up)])


def once(run: Ask) -> Ask:
    """Return a function that asks each question once, however many families are made of its answer."""
    answers: dict[tuple[str, ...], str] = {}

    def asked(program: str, arguments: list[str]) -> str:
        question = (program, *arguments)
        if question not in answers:
            answers[question] = run(program, arguments)
        return answers[question]

    return asked


def targets(
    told: str, ports: dict[str, int], this: str, having: dict[str, list[str]] | None = None
) -> list[dict[str, object]]:
    """Return what Prometheus scrapes on nodes, in the words of its file_sd.

    A node that is away has no targets; one that is down keeps them. The controller, this machine, has its own.

    Args:
        told: What ``scontrol`` says of every node.
        ports: Ports of exporters: of node everywhere, of neuron and gpu where a node has such devices.
        this: The name of this machine.
        having: Patterns of the names of nodes with devices that Slurm does not know, by exporter. Default - none.
    """
    found = [target("node", f"127.0.0.1:{ports['node']}", this)] if "node" in ports else []
    for node in described(told):
        if set(node.get("State", "").replace("*", "").split("+")) & _AWAY or node["NodeName"] == this:
            continue
        devices = {"node", *(name for name, _ in resources(node.get("Gres", "")))}
        devices |= {
            name for name, known in (having or {}).items() if any(fnmatchcase(node["NodeName"], one) for one in known)
        }
        address = node.get("NodeAddr", node["NodeName"])
        found += [
            target(job, f"{address}:{port}", node["NodeName"]) for job, port in sorted(ports.items()) if job in devices
        ]
    return found


def target(job: str, address: str, node: str) -> dict[str, object]:
    """Return one target of Prometheus."""
    return {"targets": [address], "labels": {"job": job, "node": node}}


def ports_of(text: str) -> dict[str, int]:
    """Return ports by exporter from ``node=9100,neuron=8000``."""
    return {name: int(port) for name, port in (part.split("=") for part in text.split(",") if part)}


def patterns_of(text: str) -> dict[str, list[str]]:
    """Return patterns by exporter from ``neuron=train-*,other-*``."""
    name, _, patterns = text.partition("=")
    return {name: patterns.split(",")}


def state(up: int) -> str:
    """Return the metric that says whether Slurm answers."""
    return render("slurm_up", "Whether slurmctld answered.", [({}, up)])


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o644)
    fresh.replace(path)


def main(arguments: list[str]) -> int:
    """Write the file once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slurm", type=Path, required=True, help="the directory of Slurm's commands")
    parser.add_argument("--output", type=Path, required=True, help="a file whose name ends in .prom")
    parser.add_argument("--targets", type=Path, help="a file for Prometheus' file_sd")
    parser.add_argument("--ports", type=ports_of, default={}, help="ports of exporters: node=9100,neuron=8000")
    parser.add_argument(
        "--having", type=patterns_of, help="nodes with devices that Slurm does not know: neuron=train-*"
    )
    chosen = parser.parse_args(arguments)
    if not chosen.output.exists():
        replace(chosen.output, state(0))  # a Slurm that has not started lets its commands wait for long
    run = once(ask(chosen.slurm))
    replace(chosen.output, collect(run, chosen.output.read_text(encoding="utf-8")))
    if chosen.targets:
        discover(run, chosen.targets, chosen.ports, chosen.having)
    return 0


def discover(run: Ask, path: Path, ports: dict[str, int], having: dict[str, list[str]] | None = None) -> None:
    """Write what is to be scraped; when Slurm does not answer, what was there stays."""
    try:
        told = run(*_NODES)
    except (OSError, subprocess.SubprocessError):
        if path.exists():
            return
        told = ""
    replace(path, json.dumps(targets(told, ports, os.uname().nodename, having), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
