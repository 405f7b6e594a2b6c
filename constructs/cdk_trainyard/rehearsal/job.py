"""The training job of a rehearsal, followed by what it writes to shared storage."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.machines import JOB_ENVIRONMENT, Machines
from cdk_trainyard.rehearsal.model import Lustre

NAME = "cpu-ddp"
"""Folder of the job in the project's scripts, and its name in Slurm."""

NODES = 2
"""How many nodes it takes."""

PROCESSES_PER_NODE = 2
"""How many processes it has on each: enough to talk within a node and between two."""

_SECONDS = 1200
_SHOWN_LINES = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A directory that all nodes have, and that the user ubuntu may write to.

    Attributes:
        here: Where this process finds it.
        there: Where the nodes find it.
    """

    here: Path
    there: str

    @classmethod
    def on(cls, machines: Machines[Any], system: Lustre, mount: str) -> Self:
        """Return the directory of ubuntu on a file system.

        Args:
            machines: The nodes.
            system: A file system that every node has mounted.
            mount: Where they have it.
        """
        return cls(here=machines.shared(system) / "ubuntu", there=f"{mount}/ubuntu")


def submit(
    machines: Machines[Any],
    place: Place,
    name: str,
    *,
    steps: int = 60,
    options: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
) -> "Job":
    """Put the job on shared storage and submit it, as the user ubuntu.

    Args:
        machines: The cluster.
        place: Where the job is put, and writes.
        name: Directory of the run, below ``place``.
        steps: How long it trains.
        options: Further words for ``sbatch``.
        settings: Variables that the job reads, beside those set here.
    """
    machines.share(scripts_folder() / "jobs" / NAME, place.here / NAME)
    home = place.there
    environment = {
        "PYTHON": f"{JOB_ENVIRONMENT}/bin/python",
        "PROCESSES_PER_NODE": str(PROCESSES_PER_NODE),
        "TRAIN_DIRECTORY": f"{home}/{name}",
        **(settings or {}),
    }
    words = [*options, "job.sbatch", "--steps", str(steps)]
    number = machines.slurm.submit(f"{home}/{NAME}", *words, environment=environment)
    return Job(machines, number, folder=place.here, name=name)


class Training:
    """A training, by what it writes to shared storage.

    Args:
        directory: Where it writes.
    """

    def __init__(self, directory: Path) -> None:
        self._log = directory / "log.jsonl"

    @property
    def events(self) -> list[dict[str, Any]]:
        """What the training said of itself, in order."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    @property
    def starts(self) -> list[int]:
        """The steps at which the training started."""
        return [int(event["step"]) for event in self.events if event["event"] == "start"]

    @property
    def weights(self) -> str:
        """Hash of the weights at its end."""
        return str(self.events[-1]["weights"])

    def has_reached(self, step: int) -> bool:
        """Tell whether a step is in the snapshot."""
        return any(event.get("step", 0) >= step for event in self.events)


class Job(Training):
    """A training job, followed by what it writes to shared storage.

    Attributes:
        number: Its number in Slurm.
    """

    def __init__(self, machines: Machines[Any], number: str, *, folder: Path, name: str) -> None:
        super().__init__(folder / name)
        self.number = number
        self._machines = machines
        self._output = folder / NAME / f"{NAME}-{number}.out"

    @property
    def attempts(self) -> str:
        """How it came to its last start, in words."""
        last = [event for event in self.events if event["event"] == "start"][-1]
        return f"requeued {last['requeues']} times, step tried again {last['retries']} times"

    def wait_for_step(self, step: int) -> None:
        """Wait until a step is in the snapshot.

        Raises:
            RehearsalError: The job ended before, or takes too long.
        """

        def reached() -> bool:
            if self.has_reached(step):
                return True
            if state := self._machines.slurm.is_over(self.number):
                raise RehearsalError(f"job {self.number} is {state} before step {step}; it said:\n{self.said()}")
            return False

        wait_for(f"step {step} of job {self.number}", reached, seconds=_SECONDS, every=0.5)

    def finish(self) -> None:
        """Wait until the job is completed.

        Raises:
            RehearsalError: It ended otherwise, or takes too long; with the end of its output.
        """
        state = wait_for(
            f"the end of job {self.number}",
            lambda: self._machines.slurm.is_over(self.number),
            seconds=_SECONDS,
            every=1,
        )
        if state != "COMPLETED":
            raise RehearsalError(f"job {self.number} is {state}; it said:\n{self.said()}")

    def said(self) -> str:
        """Return the end of what the job wrote."""
        text = self._output.read_text(errors="replace") if self._output.exists() else "nothing"
        return "\n".join(text.splitlines()[-_SHOWN_LINES:])
