"""Namespaces of a rehearsal's own: processes, mounts and network that vanish with the process that made them.

Nothing is added to the host's network, to its mounts or to its ``/run``. When the Python process ends, however it ends,
the kernel takes everything in them away. Only empty control-group directories can stay; ``close`` removes them, and so
does ``sweep_control_groups``.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from cdk_trainyard.rehearsal import _process
from cdk_trainyard.rehearsal._closing import Closing
from cdk_trainyard.rehearsal._process import Finished
from cdk_trainyard.rehearsal.errors import RehearsalError

STATE = Path("/run/rehearsal")
"""Where the rehearsal keeps its state, as seen from inside."""

CONTROL_GROUP = "trainyard"
"""First part of the names of control groups; the second is the id of the process that owns them."""

_JOIN = 'while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs"; shift; done; shift; exec "$@"'
_SCRIPT = Path(__file__).parent / "data" / "namespaces.sh"


class Namespaces(Closing):
    """A set of namespaces, and the way to run programs in it.

    Attributes:
        pid: Process 1 of the namespaces, by its id on the host.
    """

    def __init__(self) -> None:
        words = [
            "unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc", "--propagation=private",
            "bash", str(_SCRIPT),
        ]  # fmt: skip
        self._holder = _process.start(words, stdin=subprocess.PIPE, output=subprocess.PIPE)
        first = self._holder.stdout.readline() if self._holder.stdout else ""
        if first != "ready\n":
            rest = self._holder.stdout.read() if self._holder.stdout else ""
            raise RehearsalError(f"this machine gives no namespaces: {(first + rest).strip()}")
        (self.pid,) = _process.children(self._holder.pid)
        self._started: list[subprocess.Popen[str]] = []
        self._control_groups: set[str] = set()

    def close(self) -> None:
        """End every process of the namespaces; its mounts and interfaces go with them."""
        _process.end(self.pid, signal.SIGKILL)
        for process in (self._holder, *self._started):
            process.wait()
        for pipe in (self._holder.stdin, self._holder.stdout):
            if pipe:
                pipe.close()
        for name in self._control_groups:
            _remove_control_group(name)

    def path(self, inside: Path | str) -> Path:
        """Return a file of the namespaces as a path that this process can open."""
        return Path(f"/proc/{self.pid}/root") / str(inside).lstrip("/")

    def run(self, *words: str, check: bool = True, timeout: float | None = None) -> Finished:
        """Run a program in the namespaces to its end."""
        return _process.run([*self.enter(), *words], check=check, timeout=timeout)

    def start(
        self, words: Sequence[str], *, output: IO[str] | int, control_group: str | None = None
    ) -> subprocess.Popen[str]:
        """Start a program in the namespaces, in a control group of these namespaces' when one is named."""
        grouped: list[str] = []
        if control_group:
            full = f"{CONTROL_GROUP}-{os.getpid()}-{control_group}"
            self._control_groups.add(full)
            grouped = ["sh", "-c", _JOIN, "sh", *map(str, _make_control_group(full)), "--"]
        process = _process.start([*grouped, *self.enter(), *words], output=output)
        self._started.append(process)
        return process

    def enter(self) -> list[str]:
        """Return the words that stand before a program to run it in the namespaces."""
        return ["nsenter", f"--target={self.pid}", "--mount", "--pid", "--net", "--"]


def sweep_control_groups() -> list[str]:
    """Remove the control groups of rehearsals whose process is gone; return their names."""
    names = {path.name for mount in _control_group_mounts() for path in mount.glob(f"{CONTROL_GROUP}-*-*")}
    left = sorted(name for name in names if not _process.alive(int(name.split("-")[1])))
    for name in left:
        _remove_control_group(name)
    return left


def _control_group_mounts() -> list[Path]:
    """Return where this machine's control-group hierarchies are: several with version 1, one with version 2."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(fields[1]) for fields in mounts if fields[2] in {"cgroup", "cgroup2"}]


def _make_control_group(name: str) -> list[Path]:
    """Make a group in every hierarchy, so that a node's services are counted by themselves; return its directories."""
    made = []
    for mount in _control_group_mounts():
        group = mount / name
        group.mkdir(exist_ok=True)
        for setting in ("cpuset.cpus", "cpuset.mems"):
            if (group / setting).exists() and (mount / setting).exists():  # version 1 starts with none
                (group / setting).write_text((mount / setting).read_text())
        made.append(group)
    return made


def _remove_control_group(name: str) -> None:
    """Remove a group and the groups in it; one that still has processes stays."""
    for mount in _control_group_mounts():
        for directory, _, _ in os.walk(mount / name, topdown=False):
            try:
                Path(directory).rmdir()
            except OSError:
                continue
