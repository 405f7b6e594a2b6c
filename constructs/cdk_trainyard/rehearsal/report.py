"""What a rehearsal says while it runs, and the table at its end."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, TextIO

from cdk_trainyard.rehearsal.asked import Asked

NEVER_PROVEN = (
    "Lustre: the mount helper is a stand-in that binds a directory; mount options, fstab, units and retries are real",
    "EFA, Neuron and GPU devices: as many as the instance type has, and nothing behind them",
    "IAM: what AWS itself calls with a role (network interfaces of HyperPod, agents of Systems Manager and ECS)",
    "python3: Debian's 3.11 in the place of 3.10 (Ubuntu 22.04) and 3.12 (24.04), of which Debian has no package",
    "performance of any kind, and the clock: all nodes share this machine",
)
"""What no rehearsal shows, in the words of its report."""


@dataclass(kw_only=True, slots=True)
class Step:
    """A line of the table.

    Attributes:
        title: What was done.
        seconds: How long it took.
        outcome: ``passed``, ``failed`` or ``skipped``.
        notes: What there is to say of it.
    """

    title: str
    seconds: float = 0
    outcome: str = "passed"
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add to what there is to say."""
        self.notes.append(text)


class Report:
    """The steps of a rehearsal, told as they go.

    Attributes:
        steps: Those that have begun.
        not_proven: What the rehearsal does not show; its scenario says so.
        asked: What nodes asked for beyond their subnet.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.steps: list[Step] = []
        self.not_proven: Sequence[str] = NEVER_PROVEN
        self.asked: Sequence[Asked] = ()
        self._stream = stream or sys.stderr
        self._started = time.monotonic()

    @property
    def passed(self) -> bool:
        """Whether no step failed."""
        return all(step.outcome != "failed" for step in self.steps)

    def say(self, text: str) -> None:
        """Write a line with the time since the rehearsal began."""
        for line in text.splitlines() or [""]:
            self._stream.write(f"{time.monotonic() - self._started:6.1f} s  {line}\n")
        self._stream.flush()

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Do a step: time it, and note how it ended. An exception passes through."""
        step = Step(title=title)
        self.steps.append(step)
        self.say(f"{title} ...")
        started = time.monotonic()
        try:
            yield step
        except BaseException as error:
            step.outcome = "failed"
            step.note(str(error).splitlines()[0] if str(error) else type(error).__name__)
            raise
        finally:
            step.seconds = time.monotonic() - started

    def skip(self, title: str, why: str) -> None:
        """Note a step that was not done."""
        self.steps.append(Step(title=title, outcome="skipped", notes=[why]))
        self.say(f"{title}: skipped, {why}")

    def table(self) -> str:
        """Return the table: every step, what came of it, and what all of it does not prove."""
        width = max([len(step.title) for step in self.steps], default=0)
        lines = [f"{'step':<{width}}  {'':7}  seconds"]
        lines += [self._row(step, width) for step in self.steps]
        whole = time.monotonic() - self._started
        lines += [f"{'in all':<{width}}  {'passed' if self.passed else 'failed':<7}  {whole:7.1f}", "", "not proven:"]
        return "\n".join([*lines, *(f"  - {sentence}" for sentence in self.not_proven)])

    def data(self) -> dict[str, Any]:
        """Return the same for a program: ``passed``, ``seconds``, ``steps`` and ``not_proven``."""
        return {
            "passed": self.passed,
            "seconds": time.monotonic() - self._started,
            "steps": [asdict(step) for step in self.steps],
            "not_proven": [*self.not_proven],
        }

    @staticmethod
    def _row(step: Step, width: int) -> str:
        return f"{step.title:<{width}}  {step.outcome:<7}  {step.seconds:7.1f}  {'; '.join(step.notes)}".rstrip()
