"""Asking the cluster's Slurm, with its own commands, on its controller."""

import re
import secrets
from collections.abc import Mapping, Sequence

from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile

MUNGE_KEY = "/etc/munge/munge.key"
"""Where every node has the cluster's key."""

_KEY_BYTES = 1024
_OVER = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"}


class Slurm:
    """The Slurm of a cluster.

    Attributes:
        controller: The machine that is asked.
    """

    def __init__(self, controller: Machine) -> None:
        self.controller = controller

    def states(self) -> dict[str, str]:
        """Return the state of every node in a word, by host name; nothing while Slurm does not answer."""
        shown = self.controller.run("sinfo", "--noheader", "--Node", "--format=%N %t", check=False)
        return dict(line.split() for line in shown.out.splitlines()) if shown.code == 0 else {}

    def wait_until(self, state: str, hosts: Sequence[str], *, seconds: float) -> None:
        """Wait until all these nodes are in a state.

        Raises:
            RehearsalError: They were not in time; says which state each is in.
        """
        wanted = dict.fromkeys(hosts, state)
        try:
            wait_for(f"{state} nodes", lambda: wanted.items() <= self.states().items(), seconds=seconds, every=0.3)
        except RehearsalError as error:
            shown = self.controller.run("sinfo", "--Node", "--long", check=False)
            raise RehearsalError(f"{error}; Slurm says: {self.states() or shown.err.strip()}") from error

    def submit(self, folder: str, *words: str, environment: Mapping[str, str]) -> str:
        """Submit a job from a folder, as the user ubuntu; return its number.

        Args:
            folder: The directory it is submitted from.
            words: The script, with options before it and arguments after it.
            environment: Variables that the job has.
        """
        command = [
            "runuser", "--user", "ubuntu", "--", "env", f"--chdir={folder}",
            *(f"{name}={value}" for name, value in environment.items()),
            "sbatch", "--parsable", *words,
        ]  # fmt: skip
        return self.controller.run(*command).out.strip().split(";")[0]

    def names(self, expression: str) -> list[str]:
        """Return the names that an expression such as ``node-[1-2]`` stands for."""
        return self.controller.run("scontrol", "show", "hostnames", expression).out.split()

    def job(self, number: str) -> dict[str, str]:
        """Return what Slurm knows of a job."""
        shown = self.controller.run("scontrol", "--oneliner", "show", "job", number, check=False).out
        return dict(re.findall(r"(\S+?)=(\S*)", shown))

    def is_over(self, number: str) -> str | None:
        """Return the state of a job that has ended for good, else None."""
        state = self.job(number).get("JobState", "")
        return state if state in _OVER else None

    def resume(self, host: str) -> None:
        """Take a node back that is down; it may have come back by itself, which is fine."""
        self.controller.run("scontrol", "update", f"nodename={host}", "state=resume", check=False)

    def mark(self, host: str, state: str, reason: str = "") -> None:
        """Set a node's state, as an administrator does."""
        words = [f"nodename={host}", f"state={state}", *([f"reason={reason}"] if reason else [])]
        self.controller.run("scontrol", "update", *words)


def munge_key() -> NodeFile:
    """Return a new cluster's key, as every node has it."""
    return NodeFile(text=secrets.token_bytes(_KEY_BYTES), mode=0o400, owner="munge")
