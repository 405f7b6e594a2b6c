"""What schedules must be, each and together: whatever ends the last task, something brings it back. Pure.

Source: Application Auto Scaling user guide, "Quotas for Application Auto Scaling", read 2026-11: scheduled actions per
scalable target, which nobody raises; time zone: ``PutScheduledActionRequest``, ``Timezone`` (botocore).
"""

from collections.abc import Iterator, Sequence
from time import strptime
from typing import Final

from cdk_trainyard.options.schedules import last_month, meet
from cdk_trainyard.problems import At, Problem, option, shown, within
from cdk_trainyard.serving.spec_service import ScalingSchedule
from cdk_trainyard.tokens import unresolved

_MOST: Final = 200
_UTC: Final = frozenset({"Etc/GMT", "Etc/UTC", "GMT", "UTC"})


def schedules_problems(schedules: Sequence[ScalingSchedule]) -> Iterator[Problem]:
    """Check all of them.

    Args:
        schedules: The schedules.
    """
    if len(schedules) > _MOST:
        text = f"must be {_MOST} or fewer, got {len(schedules)}: Application Auto Scaling takes no more"
        yield Problem(("schedules",), f"{text}; a cron(…) may name several days and hours")
    names = [schedule.name for schedule in schedules]
    for index, schedule in enumerate(schedules):
        if schedule.name in names[:index]:
            text = f"must be another than those of the schedules before it, got {shown(schedule.name)} again"
            yield Problem(("schedules", index, "name"), text)
        yield from within(("schedules", index), _schedule(schedule))
        yield from within(("schedules", index), _at_once(schedule, schedules[:index]))
    numbers = [number for each in schedules for number in (each.min_tasks, each.max_tasks)]
    to_zero = [index for index, each in enumerate(schedules) if each.max_tasks == 0]
    if to_zero and not unresolved(*numbers) and not any(each.min_tasks > 0 for each in schedules):
        text = "must not end the last task without a schedule that brings tasks back, with 'min_tasks' 1 or more"
        yield Problem(("schedules", to_zero[0]), text)
    elif to_zero and not unresolved(*numbers, *(each.schedule for each in schedules)):
        yield from _not_brought_back([(("schedules", index), schedules[index]) for index in to_zero], schedules)


def _schedule(schedule: ScalingSchedule) -> Iterator[Problem]:
    when, zone = schedule.schedule, schedule.time_zone
    if not unresolved(when, zone) and when.startswith("rate(") and zone not in _UTC:
        text = f"must be left out beside {shown(when)}, which comes at intervals, got {shown(zone)}"
        yield Problem(("time_zone",), f"{text}; give a cron(…) or an at(…) for a time of a place")
    low, high = schedule.min_tasks, schedule.max_tasks
    if unresolved(low, high):
        return
    if low > high:
        yield Problem(("min_tasks",), f"must be at most {option('max_tasks')} {high}, got {low}")
    elif low == 0 < high:
        text = f"must be 1 or more, or {option('max_tasks')} 0 as well, got 0 and {high}: from zero tasks no metric"
        yield Problem(("min_tasks",), f"{text} starts one")


def _at_once(schedule: ScalingSchedule, before: Sequence[ScalingSchedule]) -> Iterator[Problem]:
    """Check that no other schedule says something else for the same time."""
    said = (schedule.time_zone, schedule.schedule, schedule.min_tasks, schedule.max_tasks)
    for other in before:
        theirs = (other.time_zone, other.schedule, other.min_tasks, other.max_tasks)
        if unresolved(*said, *theirs) or said[0] != theirs[0] or said[2:] == theirs[2:]:
            continue
        if said[1] == theirs[1] or meet(said[1], theirs[1]):
            again = " again" if said[1] == theirs[1] else f", which meets {shown(theirs[1])}"
            text = f"must be another time than that of {shown(other.name)}, got {shown(said[1])}{again}"
            yield Problem(("schedule",), f"{text}, with other bounds: nobody knows which of both hold from then on")
            return


def _not_brought_back(
    ends: Sequence[tuple[At, ScalingSchedule]], schedules: Sequence[ScalingSchedule]
) -> Iterator[Problem]:
    """Check that what ends the last task does not come after everything that brings tasks back, if that has an end."""
    back = [(last_month(each.schedule) or _NEVER, each) for each in schedules if each.min_tasks > 0]
    until, last = max(back, key=lambda pair: (pair[0], _when(pair[1].schedule)))
    if until == _NEVER:
        return
    zones = {each.time_zone for _, each in back}
    for at, end in ends:
        month = last_month(end.schedule)
        if month is None:
            text = "must not end the last task again and again where tasks are brought back for the last time by"
            that = "that" if unresolved(last.name) else shown(last.name)
            yield Problem(at, f"{text} {shown(last.schedule)}; give {that} a cron(…) of every year")
        elif zones == {end.time_zone} and _is_after((month, _when(end.schedule)), (until, _when(last.schedule))):
            text = f"must be before {shown(last.schedule)}, the last time that tasks are brought back, got"
            yield Problem((*at, "schedule"), f"{text} {shown(end.schedule)}; bring them back later")


_NEVER: Final = (10_000, 1)
_Time = tuple[tuple[int, int], tuple[int, ...]]


def _is_after(end: _Time, last: _Time) -> bool:
    """Compare the months, and within a month the times, where both are known."""
    if end[0] != last[0]:
        return end[0] > last[0]
    return () not in {end[1], last[1]} and end[1] >= last[1]


def _when(schedule: str) -> tuple[int, ...]:
    """Return year, month, day, hour, minute and second of a schedule that comes once; nothing for others."""
    return strptime(schedule, "at(%Y-%m-%dT%H:%M:%S)")[:6] if schedule.startswith("at(") else ()
