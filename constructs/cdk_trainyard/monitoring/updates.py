"""Scheduled updates of nodes, as PromQL that says when they run. No CDK."""

import re
from collections.abc import Sequence
from typing import Final

_SCHEDULE: Final = re.compile(
    r"cron\((?P<minute>[0-5]?[0-9]) (?P<hour>[01]?[0-9]|2[0-3]) (?P<day>0?[1-9]|[12][0-9]|3[01]|\?) "
    r"(?P<month>0?[1-9]|1[0-2]|\*|\*/(?:[1-9]|1[0-2])) "
    r"(?P<weekday>MON|TUE|WED|THU|FRI|SAT|SUN|[1-7]|\?|L|[1-7]#[1-5]|[1-7]L) (?P<year>20[2-9][0-9]|\*)\)"
)
"""What CloudFormation takes (AWS::SageMaker::Cluster ScheduledUpdateConfig, ``pattern``, read 2026-11): one minute, one
hour, one day; no list and no range. A field that is empty it takes, too, and nothing says what that means."""
UPDATE_SCHEDULE: Final = (
    "must be a cron expression of one minute, one hour of 0 to 23 and one day, as cron(0 4 ? * SUN *), "
    "cron(0 4 ? * 7#1 *) or cron(0 4 1 */3 ? *): CloudFormation takes no list, no range and no other form of it"
)
"""What is said of another."""
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_DAY_SECONDS: Final = 86400


def is_update_schedule(text: str) -> bool:
    """Return whether HyperPod takes a schedule: ``cron(0 4 ? * SUN *)``.

    Args:
        text: The schedule.
    """
    return _SCHEDULE.fullmatch(text) is not None


def outside(expr: str, schedules: Sequence[str], minutes: int) -> str:
    """Return a query that has no answer while updates run.

    Args:
        expr: The query.
        schedules: When updates begin, in UTC.
        minutes: How long each takes, one day at most.
    """
    if not schedules or not minutes:
        return expr
    return f"({expr}) unless on () ({' or '.join(during(each, minutes) for each in sorted(set(schedules)))})"


def during(schedule: str, minutes: int) -> str:
    """Return a query that has an answer while an update runs.

    The clock is put back by the schedule's hour and minute: an update begins at midnight then, and whatever day it ends
    on, days, months and years are those on which it began.

    Args:
        schedule: When it begins, in UTC.
        minutes: How long it takes, one day at most.
    """
    found = _SCHEDULE.fullmatch(schedule)
    if found is None:
        raise ValueError(f"{schedule!r} is no schedule of updates")
    clock = f"vector(time() - {3600 * int(found['hour']) + 60 * int(found['minute'])})"
    asked = [f"{clock} % {_DAY_SECONDS} < {60 * minutes}"]
    if found["day"] != "?":
        asked.append(f"day_of_month({clock}) == {int(found['day'])}")
    asked += _weekday(found["weekday"], clock)
    first, _, step = found["month"].partition("/")
    if step:
        asked.append(f"(month({clock}) - 1) % {step} == 0")
    elif first != "*":
        asked.append(f"month({clock}) == {int(first)}")
    if found["year"] != "*":
        asked.append(f"year({clock}) == {found['year']}")
    return " and ".join(asked)


def _weekday(said: str, clock: str) -> Sequence[str]:
    """Return what chooses a day of the week: SUN or 1, the second of a month (1#2), the last (1L), L for SAT."""
    if said == "?":
        return ()
    day, _, nth = said.partition("#")
    last = day.endswith("L") and day != "L"
    day = "SAT" if day == "L" else day.removesuffix("L")
    number = _WEEKDAYS.index(day) if day in _WEEKDAYS else int(day) - 1
    asked = [f"day_of_week({clock}) == {number}"]
    if nth:
        asked.append(f"floor((day_of_month({clock}) - 1) / 7) == {int(nth) - 1}")
    if last:
        asked.append(f"days_in_month({clock}) - day_of_month({clock}) < 7")
    return asked
