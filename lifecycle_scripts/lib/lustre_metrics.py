#!/usr/bin/env python3
"""Write what the Lustre client says as metrics, for the textfile collector of node_exporter.

Run by a timer on every node that mounts FSx for Lustre. Asked is ``lctl get_param``, whose answers have the form of
Lustre's own sources (lprocfs_rd_import, lprocfs_rd_state, ll_stats_ops_tbl). How many series there are depends on no
number of targets: those that are connected are counted, and of those that are not the first are named. The file is
renamed into its place, so a reader never sees half of it. Written for the Python of the nodes (3.8 and newer), without
any dependency.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Sample = tuple[dict[str, str], float]
    Answers = dict[str, list[str]]

_SECONDS = 20  # for an answer of the client, which waits while it connects
_NAMED = 20  # targets that are named; what is beyond them is one series
_ASKED = ("osc.*.import", "mdc.*.import", "osc.*.state", "mdc.*.state", "llite.*.stats")
_CONNECTED = {"FULL", "IDLE"}
"""IDLE: nobody has used the target for a while, and the client has left it of its own accord (since Lustre 2.12)."""
_OPERATIONS = {
    "close", "create", "fsync", "getattr", "mkdir", "mknod", "mmap", "open", "read", "readdir", "rename", "rmdir",
    "setattr", "truncate", "unlink", "write",
}  # fmt: skip
_TARGET = re.compile(r"(?P<filesystem>.+)-(?P<kind>OST|MDT)[0-9a-f]{4}$")


def ask(program: str) -> str:
    """Return what the client says; what one parameter lacks does not keep the others from being told."""
    done = subprocess.run(  # noqa: S603
        [program, "get_param", *_ASKED], capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    return done.stdout


def answers(told: str) -> Answers:
    """Return the lines of every parameter, by its name."""
    found: Answers = {}
    name = ""
    for line in told.splitlines():
        begun = re.match(r"((?:osc|mdc|llite)\.\S+\.(?:import|state|stats))=(.*)", line)
        name, rest = begun.groups() if begun else (name, line)
        if name:
            found.setdefault(name, []).append(rest)
    return found


def imports(asked: Answers) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """Yield file system, kind and name of every target, and what its import says: a word for each key."""
    for name, lines in asked.items():
        if not name.endswith(".import"):
            continue
        said = dict(re.findall(r"^[ \t]*([\w-]+):[ \t]*(\S+)", "\n".join(lines), re.MULTILINE))
        target = said.get("target", "").replace("_UUID", "")
        if known := _TARGET.match(target):
            yield known["filesystem"], known["kind"].lower(), target, said


def targets(asked: Answers) -> list[Sample]:
    """Count targets by file system, kind, and whether they are connected."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for filesystem, kind, _, said in imports(asked):
        for state in ("connected", "disconnected"):
            counts[filesystem, kind, state] += (said.get("state") in _CONNECTED) == (state == "connected")
    return [
        ({"filesystem": filesystem, "kind": kind, "state": state}, count)
        for (filesystem, kind, state), count in sorted(counts.items())
    ]


def disconnected(asked: Answers) -> list[Sample]:
    """Name targets that are not connected; of many the first, and the rest as ``other``."""
    found = sorted(
        (filesystem, target) for filesystem, _, target, said in imports(asked) if said.get("state") not in _CONNECTED
    )
    counts = Counter(
        (filesystem, target if number < _NAMED else "other") for number, (filesystem, target) in enumerate(found)
    )
    return [({"filesystem": filesystem, "target": target}, count) for (filesystem, target), count in counts.items()]


def evictions(asked: Answers) -> list[Sample]:
    """Find when a server has last evicted this client, by file system: 0 when none has, as far as it remembers."""
    last: dict[str, int] = {filesystem: 0 for filesystem, *_ in imports(asked)}
    for name, lines in asked.items():
        device = name.split(".")[1]
        filesystem = next((known for known in last if device.startswith(f"{known}-")), None)
        if not name.endswith(".state") or filesystem is None:
            continue
        for when in re.findall(r"\[\s*(\d+),\s*EVICTED\s*\]", "\n".join(lines)):
            last[filesystem] = max(last[filesystem], int(when))
    return [({"filesystem": filesystem}, when) for filesystem, when in sorted(last.items())]


def timeouts(asked: Answers) -> list[Sample]:
    """Add up requests that no server has answered in time, by file system."""
    counts: Counter[str] = Counter()
    for filesystem, _, _, said in imports(asked):
        counts[filesystem] += int(said.get("timeouts", "0"))
    return [({"filesystem": filesystem}, count) for filesystem, count in sorted(counts.items())]


def statistics(asked: Answers) -> Iterator[tuple[str, str, list[str]]]:
    """Yield file system, name and words of every line of the mounts' statistics."""
    for name, lines in asked.items():
        if name.endswith(".stats"):
            for words in map(str.split, lines):
                if words[2:3] == ["samples"]:
                    yield name.split(".")[1].rpartition("-")[0], words[0], words


def moved(what: str) -> Callable[[Answers], list[Sample]]:
    """Return what adds up bytes that programs have read or written, by file system."""

    def add(asked: Answers) -> list[Sample]:
        sums: Counter[str] = Counter()
        for filesystem, name, words in statistics(asked):
            sums[filesystem] += int(words[6]) if name == what and len(words) > 6 else 0  # noqa: PLR2004  min, max, sum
        return [({"filesystem": filesystem}, total) for filesystem, total in sorted(sums.items())]

    return add


def operations(asked: Answers) -> list[Sample]:
    """Count what programs have asked of a file system, by operation; of those that are seldom as ``other``."""
    counts: Counter[tuple[str, str]] = Counter()
    for filesystem, name, words in statistics(asked):
        if not name.endswith("_bytes"):
            counts[filesystem, name if name in _OPERATIONS else "other"] += int(words[1])
    return [({"filesystem": where, "operation": name}, count) for (where, name), count in sorted(counts.items())]


_FAMILIES = (
    ("lustre_targets", "gauge", "Targets of file systems, and whether this client is connected.", targets),
    ("lustre_target_disconnected", "gauge", "Targets that this client is not connected to.", disconnected),
    ("lustre_last_eviction_timestamp_seconds", "gauge", "When a server has last evicted this client.", evictions),
    ("lustre_rpc_timeouts_total", "counter", "Requests that were not answered in time.", timeouts),
    ("lustre_read_bytes_total", "counter", "Bytes that programs have read.", moved("read_bytes")),
    ("lustre_write_bytes_total", "counter", "Bytes that programs have written.", moved("write_bytes")),
    ("lustre_operations_total", "counter", "What programs have asked of a file system.", operations),
)


def render(name: str, kind: str, text: str, samples: list[Sample]) -> str:
    """Return a family in Prometheus' text format."""
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        listed = ",".join(f'{key}="{word}"' for key, word in labels.items())
        lines.append(f"{name}{{{listed}}} {value}" if listed else f"{name} {value}")
    return "\n".join(lines) + "\n"


def collect(told: str | None) -> str:
    """Return every metric; of a client that does not answer only that it does not.

    Args:
        told: What the client says. None: it does not answer.
    """
    answered = render("lustre_up", "gauge", "Whether the Lustre client answered.", [({}, int(told is not None))])
    asked = answers(told or "")
    return answered + "".join(render(*about, parse(asked)) for *about, parse in _FAMILIES if asked)


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o644)
    fresh.replace(path)


def main(arguments: list[str]) -> int:
    """Write the file once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="a file whose name ends in .prom")
    parser.add_argument("--lctl", default="lctl", help="the program that asks the client")
    chosen = parser.parse_args(arguments)
    try:
        told: str | None = ask(chosen.lctl)
    except (OSError, subprocess.SubprocessError):
        told = None
    replace(chosen.output, collect(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
