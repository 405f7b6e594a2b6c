"""Schedules, as Application Auto Scaling and EventBridge write them."""

import re
from calendar import day_abbr, month_abbr, monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import shown

_MONTHS: Final = {name.upper(): number for number, name in enumerate(month_abbr) if name}
_DAYS: Final = {name.upper(): 1 + number % 7 for number, name in enumerate(day_abbr, 1)}
_FIELDS: Final = ("minute", "hour", "day of the month", "month", "day of the week", "year")
_FIRST_YEAR: Final = 2026
"""Of this library: what was due before never comes."""
_BOUNDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (1, 7), (_FIRST_YEAR, 2199))
_NAMES: Final[tuple[Mapping[str, int], ...]] = ({}, {}, {}, _MONTHS, _DAYS, {})
_SPECIAL: Final = (None, None, r"\?|L|LW|([1-9]|[12][0-9]|3[01])W", None, r"\?|L|([1-7]|[A-Z]{3})(L|#[1-5])", None)
_ANY: Final = frozenset({"*", "?"})
_LEAP_YEAR: Final = 2028
_EXAMPLES: Final = "as cron(0 20 ? * MON-FRI *) or at(2026-12-24T18:00:00)"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something happens: ``cron(0 20 ? * MON-FRI *)``, ``rate(1 day)`` or ``at(2026-12-24T18:00:00)``.

    Source: Application Auto Scaling user guide, "Schedule recurring scaling actions using cron expressions"; bounds of
    the fields: EventBridge Scheduler user guide, "Schedule types".
    """

    def problem(self, value: Any, _environment: Environment) -> str | None:
        """Read it field by field."""
        found = re.fullmatch(r"(cron|at|rate)\((.*)\)", value)
        wrong = _EXAMPLES if found is None else _READERS[found[1]](found[2])
        return f"must be a schedule, {wrong}, got {shown(value)}" if wrong else None

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": r"^(cron|at|rate)\(.*\)$", "examples": ["cron(0 20 ? * MON-FRI *)"]}


def _cron(text: str) -> str | None:
    fields = text.split(" ")
    if len(fields) != len(_FIELDS):
        return _EXAMPLES
    for field, name, (low, high), names, special in zip(fields, _FIELDS, _BOUNDS, _NAMES, _SPECIAL, strict=True):
        if special is not None and re.fullmatch(special, field):
            continue
        if any(_numbers(part, low, high, names) is None for part in field.split(",")):
            return f"whose {name} is {low} to {high}"
    day, month, weekday = fields[2:5]
    if (day == "?") is (weekday == "?"):
        return "with ? for either the day of the month or the day of the week"
    return None if _comes(day, month) else "of a day that comes"


def _numbers(part: str, low: int, high: int, names: Mapping[str, int]) -> range | None:
    """Return what a part of a field stands for; None when it is wrong."""
    said, slash, step = part.partition("/")
    if (slash and not re.fullmatch(r"[1-9][0-9]*", step)) or not said:
        return None
    if said == "*":
        return range(low, high + 1)
    ends = [names.get(end.upper(), int(end) if re.fullmatch(r"[0-9]{1,4}", end) else -1) for end in said.split("-")]
    if len(ends) > 2 or not all(low <= end <= high for end in ends):  # noqa: PLR2004  a range
        return None
    return range(ends[0], ends[-1] + 1) if ends == sorted(ends) else range(low, high + 1)  # over the end, as SAT-SUN


def _comes(day: str, month: str) -> bool:
    """Say whether one of the days is one of one of the months."""
    days = [_numbers(part, *_BOUNDS[2], {}) for part in day.split(",")] if day not in _ANY else []
    months = [_numbers(part, *_BOUNDS[3], _MONTHS) for part in month.split(",")]
    if not days or None in days:
        return True
    first = min(part.start for part in days if part is not None)
    return any(first <= monthrange(_LEAP_YEAR, number)[1] for part in months if part is not None for number in part)


def _at(text: str) -> str | None:
    try:
        when = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007  its zone is said apart
    except ValueError:
        return _EXAMPLES
    return None if when.year >= _FIRST_YEAR else f"of {_FIRST_YEAR} or later"


def _rate(text: str) -> str | None:
    found = re.fullmatch(r"([1-9][0-9]*) (minute|hour|day)(s?)", text)
    return None if found and (found[1] == "1") is (not found[3]) else "as rate(1 day) or rate(12 hours)"


_READERS: Final = {"cron": _cron, "at": _at, "rate": _rate}
