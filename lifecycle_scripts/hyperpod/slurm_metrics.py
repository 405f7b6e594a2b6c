#!/usr/bin/env python3
"""Write what Slurm does as metrics, for the textfile collector of node_exporter.

Run by a timer on the controller. The file is renamed into its place, so a reader never sees half of it. A controller
that does not answer is a metric too: slurm_up 0. Written for the Python of the nodes (3.8 and newer), without any
dependency.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Sample = tuple[dict[str, str], float]
    Ask = Callable[[str, list[str]], str]

_SECONDS = 20  # for an answer of slurmctld
_FLAGS = "*~#!%$@^-+"  # what sinfo puts behind a state: not answering, powering down, planned ...
_CPU_STATES = ("allocated", "idle", "other", "total")


def ask(directory: Path) -> Ask:
    """Return a function that runs one of Slurm's commands."""

    def run(program: str, arguments: list[str]) -> str:
        command = [str(directory / program), *arguments]
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=True, timeout=_SECONDS
        )
        return done.stdout

    return run


def nodes(told: str) -> list[Sample]:
    """Count nodes by partition and state, from lines of ``partition state``."""
    counts = Counter((words[0].rstrip("*"), words[1].rstrip(_FLAGS)) for words in map(str.split, told.splitlines()))
    return [({"partition": where, "state": state}, count) for (where, state), count in sorted(counts.items())]


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


_FAMILIES = (
    ("slurm_nodes", "Nodes by partition and state; a node is in every partition that has it.",
     nodes, "sinfo", ["--noheader", "--Node", "--format=%R %T"]),
    ("slurm_cpus", "CPUs by partition and state.", cpus, "sinfo", ["--noheader", "--format=%R %C"]),
    ("slurm_jobs", "Jobs by partition and state.",
     jobs, "squeue", ["--noheader", "--all", "--states=all", "--format=%P %T"]),
)  # fmt: skip


def render(name: str, text: str, samples: Iterable[Sample]) -> str:
    """Return a family of gauges in Prometheus' text format."""
    lines = [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
    for labels, value in samples:
        listed = ",".join(f'{key}="{word}"' for key, word in labels.items())
        lines.append(f"{name}{{{listed}}} {value:g}" if listed else f"{name} {value:g}")
    return "\n".join(lines) + "\n"


def collect(run: Ask) -> str:
    """Return every metric; of a Slurm that does not answer only that it does not."""
    started = time.monotonic()
    try:
        families = [render(name, text, parse(run(program, args))) for name, text, parse, program, args in _FAMILIES]
    except (OSError, subprocess.SubprocessError):
        return state(0)
    took = time.monotonic() - started
    families.append(render("slurm_collect_seconds", "How long its answers took.", [({}, round(took, 3))]))
    return state(1) + "".join(families)


def state(up: int) -> str:
    """Return the metric that says whether Slurm answers."""
    return render("slurm_up", "Whether slurmctld answered.", [({}, up)])


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o644)
    fresh.replace(path)


def main(arguments: list[str]) -> int:
    """Write the file once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slurm", type=Path, required=True, help="the directory of Slurm's commands")
    parser.add_argument("--output", type=Path, required=True, help="a file whose name ends in .prom")
    chosen = parser.parse_args(arguments)
    if not chosen.output.exists():
        replace(chosen.output, state(0))  # a Slurm that has not started lets its commands wait for long
    replace(chosen.output, collect(ask(chosen.slurm)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
