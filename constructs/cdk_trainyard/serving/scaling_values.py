"""How many tasks there are, and when: values, and no CDK construct."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class ScalingMetric(StrEnum):
    """What decides how many tasks there are."""

    QUEUE = "queue"
    """Requests that wait in the engine, averaged over the tasks. The collector beside the engine reports it."""
    ALB_REQUESTS = "alb_requests"
    """Requests per task and minute that the door counts: a fallback, since generations differ in length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalingSchedule:
    """From a point in time on, other bounds.

    Attributes:
        name: What it is for, as ``"night"``: its id.
        schedule: When, as Application Auto Scaling writes it: ``"cron(0 20 ? * MON-FRI *)"`` or ``"at(…)"``.
        min_tasks: The least number of tasks from then on. 0 with ``max_tasks`` 0: nothing runs.
        max_tasks: The largest number of tasks from then on.
        time_zone: The time zone of ``schedule``, as ``"Europe/Berlin"``. Default: Etc/UTC.
    """

    name: str
    schedule: str
    min_tasks: int
    max_tasks: int
    time_zone: str = "Etc/UTC"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceScaling:
    """Bounds of the number of tasks, and what moves it between them.

    Attributes:
        min_tasks: The least number of tasks; 1 or more, since without a task there is no metric to start one by.
        max_tasks: The largest number of tasks.
        metric: What moves it. Default: QUEUE.
        target: The value of the metric that is aimed at, per task.
            Default - QUEUE: the model's batch, so that one more batch waits; ALB_REQUESTS: 30 requests a minute.
        schedules: Other bounds at other times, to zero and back. Default: none.
        cooldown_seconds: Pause after tasks were taken away, before more are. Default: 900; a task loads
            for minutes.
    """

    min_tasks: int
    max_tasks: int
    metric: ScalingMetric = ScalingMetric.QUEUE
    target: float | None = None
    schedules: Sequence[ScalingSchedule] = ()
    cooldown_seconds: int = 900

    @property
    def to_zero(self) -> bool:
        """Whether a schedule ends every task."""
        return any(schedule.max_tasks == 0 for schedule in self.schedules)
