"""Schedules, as Application Auto Scaling and EventBridge write them, and their time zones."""

import re
from calendar import day_abbr, month_abbr, monthrange
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final
from zoneinfo import available_timezones

from cdk_trainyard.errors import asked, did_you_mean
from cdk_trainyard.options.kinds import NOWHERE, Environment, Kind
from cdk_trainyard.problems import Flaw, either, shown

_OF_NO_PLACE: Final = frozenset({"Factory", "localtime"})
_ABBREVIATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("PST", "PDT"), ("America/Los_Angeles",)),
    "MDT": ("America/Denver",),
    "CST": ("America/Chicago", "Asia/Shanghai"),
    "CDT": ("America/Chicago",),
    "EDT": ("America/New_York",),
    **dict.fromkeys(("AKST", "AKDT"), ("America/Anchorage",)),
    "BRT": ("America/Sao_Paulo",),
    "BST": ("Europe/London",),
    "CEST": ("Europe/Berlin",),
    "EEST": ("Europe/Athens",),
    "WEST": ("Europe/Lisbon",),
    "MSK": ("Europe/Moscow",),
    "SAST": ("Africa/Johannesburg",),
    "IST": ("Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"),
    "PKT": ("Asia/Karachi",),
    "WIB": ("Asia/Jakarta",),
    "SGT": ("Asia/Singapore",),
    "HKT": ("Asia/Hong_Kong",),
    "KST": ("Asia/Seoul",),
    "JST": ("Asia/Tokyo",),
    "AWST": ("Australia/Perth",),
    **dict.fromkeys(("ACST", "ACDT"), ("Australia/Adelaide",)),
    **dict.fromkeys(("AEST", "AEDT"), ("Australia/Sydney",)),
    **dict.fromkeys(("NZST", "NZDT"), ("Pacific/Auckland",)),
}
"""Places for abbreviations that are no zones: the links of PST8PDT, MST7MDT, CST6CDT and EST5EDT (IANA, ``backward``,
2024b), and those that the zones of places have, or had (IANA, ``asia``, ``australasia``, ``europe``, ``southamerica``).
"""
_FORM_OF_ZONE: Final = r"[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*)*"
_MONTHS: Final = {name.upper(): number for number, name in enumerate(month_abbr) if name}
_DAYS: Final = {name.upper(): 1 + number % 7 for number, name in enumerate(day_abbr, 1)}
_NUMBERED: Final = re.compile(r"(?<![/#])[1-7]")
"""Days of the week that are numbers, which neither steps are nor which of a month's."""
_FIRST_YEAR: Final = 2026
"""Of this library: what was due before never comes."""
_LAST_YEAR: Final = 2199
_FAR_YEAR: Final = 2070
"""A schedule that comes so long has no end that matters here."""
_EXAMPLE: Final = "cron(0 20 ? * MON-FRI *)"
_WHEN: Final = "%Y-%m-%dT%H:%M:%S"
_OF_DIGITS: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
"""``yyyy-mm-ddThh:mm:ss`` (Application Auto Scaling, ``PutScheduledAction``); Python reads fewer digits, too."""
_A_TIME: Final = "at(2026-12-24T18:00:00)"


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a cron expression: its numbers, their names, and what may stand in it alone."""

    name: str
    low: int
    high: int
    also: str = ""
    names: Mapping[str, int] = field(default_factory=dict)
    alone: str = "(?!)"


_DAY_ALONE: Final = r"\?|LW?|L-([1-9]|[12][0-9]|30)|([1-9]|[12][0-9]|3[01])W"
_WEEKDAY_ALONE: Final = rf"\?|L|([1-7]|(?i:{'|'.join(_DAYS)}))(L|#[1-5])"
_FIELDS: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31, ", or alone ?, L, LW or one as L-3 or 15W", alone=_DAY_ALONE),
    _Field("month", 1, 12, " or JAN to DEC", _MONTHS),
    _Field("day of the week", 1, 7, " or SUN to SAT, or alone ?, L or one as MON#2 or FRIL", _DAYS, _WEEKDAY_ALONE),
    _Field("year", _FIRST_YEAR, _LAST_YEAR),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """When something happens: ``cron(0 20 ? * MON-FRI *)``, ``rate(1 day)`` or ``at(2026-12-24T18:00:00)``.

    Source: Application Auto Scaling user guide, "Schedule recurring scaling actions using cron expressions"; bounds of
    the fields: EventBridge Scheduler user guide, "Schedule types". Steps, and years that do not run backwards: Quartz,
    ``CronExpression.checkIncrementRange`` and ``addToSet``, whose syntax this is; it has L-3, which no page of AWS's
    refuses.

    Attributes:
        longest: Characters at most. Default: those of Application Auto Scaling (``PutScheduledAction``, botocore).
        forms: Which of the three may stand there.
        examples: Two that may, in messages.
    """

    longest: int = 1600
    forms: tuple[str, ...] = ("cron", "at", "rate")
    examples: tuple[str, str] = (_EXAMPLE, _A_TIME)

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Read it field by field."""
        found = re.fullmatch(rf"({'|'.join(self.forms)})\((.*)\)", value)
        wrong = f"as {either(self.examples)}" if found is None else _READERS[found[1]](found[2])
        if wrong:
            return Flaw(f"must be a schedule, {wrong}", got=shown(value), remedy=one_day(value, self))
        if len(value) > self.longest:
            return Flaw(f"must have 1 to {self.longest} characters", got=str(len(value)))
        return None

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {
            "pattern": rf"^({'|'.join(self.forms)})\(.*\)$",
            "maxLength": self.longest,
            "examples": [self.examples[0]],
        }


def one_day(value: str, kind: Kind) -> str:
    """Return what a cron expression may mean that has ? for no day or for both, as the end of a sentence; else nothing.

    Examples of AWS's have both days (``examples/imagebuilder/create-image-pipeline.rst`` of aws-cli, read 2026-11),
    and EventBridge wants ? for one of them ("Cron expressions reference"): with it both take what is written.

    Args:
        value: The expression.
        kind: What schedules there are; others are not offered.
    """
    found = re.fullmatch(r"cron\((\S+ \S+) (\S+) (\S+) (\S+) (\S+)\)", value)
    if found is None or (found[2] == "?") is not (found[4] == "?"):
        return ""
    time, day, month, weekday, year = found.groups()
    of_month, of_week = (
        f"cron({time} {day.replace('?', '*')} {month} ? {year})",
        f"cron({time} ? {month} {weekday} {year})",
    )
    every = {"?", "*"}
    meant = [of_month] if weekday in every else [of_week] if day in every else [of_month, of_week]
    taken = [shown(each) for each in meant if kind.problem(each, NOWHERE) is None]
    return f"; use {either(taken)}" if taken else ""


@cache
def _time_zones() -> set[str]:
    """Return the names of zones that the machine knows; it opens hundreds of files, two of which are of no place."""
    return available_timezones() - _OF_NO_PLACE


@dataclass(frozen=True, slots=True)
class TimeZone:
    """A time zone of the IANA database that is one of a place: neither the machine's own nor one that is yet to be set.

    Source: Application Auto Scaling, ``PutScheduledAction`` (botocore): names that Joda-Time has, which has neither.
    A machine that has no such database, as images of containers may not, judges by the form alone.
    """

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Look it up."""
        known = _time_zones()
        if value in known or (not known and value not in _OF_NO_PLACE and re.fullmatch(_FORM_OF_ZONE, value)):
            return None
        places = [each for each in known if not each.isupper() or each.upper() == value.upper()]
        meant = _ABBREVIATIONS.get(value.upper())
        hint = asked(value, meant) if meant else did_you_mean(value, places)
        return Flaw("must be a time zone, as Europe/Berlin", got=shown(value), remedy=hint)

    def schema(self) -> dict[str, Any]:
        """Return examples."""
        return {"examples": ["Etc/UTC", "Europe/Berlin"]}


def last_month(schedule: str) -> tuple[int, int] | None:
    """Return the year and the month in which a right schedule comes for the last time; None when it comes for decades.

    Args:
        schedule: The schedule.
    """
    kind, _, text = schedule.removesuffix(")").partition("(")
    if kind == "at":
        year, month, _ = text.split("-")
        return int(year), int(month)
    if kind == "rate":
        return None
    _, _, day, month, weekday, year = text.split(" ")
    years, months = _all(_FIELDS[5], year), _all(_FIELDS[3], month)
    if max(years) >= _FAR_YEAR:
        return None
    return max((each, number) for each in years for number in months if _has(each, number, day, weekday))


def numbered_days(schedule: str) -> str | None:
    """Return which days of the week a right schedule comes on where it has them as numbers, as a sentence; else None.

    Sources, read 2026-11: EventBridge user guide, "Cron expressions reference": 1 to 7 or SUN to SAT. POSIX,
    ``crontab``: 0 to 6, 0 is Sunday.

    Args:
        schedule: The schedule.
    """
    kind, _, text = schedule.removesuffix(")").partition("(")
    weekday = text.split(" ")[4] if kind == "cron" else ""
    names = list(_DAYS)  # from Monday on
    said = _NUMBERED.sub(lambda day: names[int(day[0]) - 2], weekday)
    if said in {weekday, "SUN-SAT"}:
        return None
    meant = _NUMBERED.sub(lambda day: names[int(day[0]) - 1], weekday)
    return f"{shown(schedule)} comes on {said}, since 1 is Sunday there; for {meant} write the names"


def times_an_hour(schedule: str) -> int:
    """Return how often a right schedule comes in an hour in which it comes.

    Args:
        schedule: The schedule.
    """
    kind, _, text = schedule.removesuffix(")").partition("(")
    first, _, rest = text.partition(" ")
    if kind == "cron":
        return len(_all(_FIELDS[0], first))
    return max(60 // int(first), 1) if rest.startswith("minute") else 1


def meet(one: str, other: str) -> bool:
    """Say whether two right schedules come at one time, as far as their days are comparable.

    Args:
        one: A schedule.
        other: Another, of the same time zone.
    """
    pairs = zip(_numbers(one), _numbers(other), strict=False)
    both = [None if first is None or second is None else first & second for first, second in pairs]
    if not both or set() in both:
        return False
    _, _, days, months, weekdays, years = both
    if days is None:
        return weekdays is not None
    return any(min(days) <= monthrange(year, month)[1] for year in years or () for month in months or ())


def _numbers(schedule: str) -> list[set[int] | None]:
    """Return the numbers of each field, None for a day that has none; nothing for what comes at no full minute."""
    kind, _, text = schedule.removesuffix(")").partition("(")
    if kind == "rate":
        return []
    if kind == "at":
        when = datetime.strptime(text, _WHEN)  # noqa: DTZ007  its zone is said apart
        if when.second:
            return []
        text = f"{when.minute} {when.hour} {when.day} {when.month} {1 + when.isoweekday() % 7} {when.year}"
    said = zip(_FIELDS, text.split(" "), strict=True)
    numbers = [None if re.fullmatch(each.alone, part) else _all(each, part) for each, part in said]
    every_day, every_weekday = _all(_FIELDS[2], "*"), _all(_FIELDS[4], "*")
    if numbers[2] == every_day:
        numbers[4] = every_weekday
    elif numbers[4] == every_weekday:
        numbers[2] = every_day
    return numbers


def _cron(text: str) -> str | None:
    fields = text.split(" ")
    if len(fields) != len(_FIELDS):
        count = len(text.split())
        if count == len(_FIELDS):
            return f"with one space between two fields, as {_EXAMPLE}"
        names = ", ".join(each.name for each in _FIELDS)
        return f"of {len(_FIELDS)} fields ({names}) where {count} are, as {_EXAMPLE}"
    if wrong := next(filter(None, map(_wrong, _FIELDS, fields)), None):
        return wrong
    day, month, weekday, year = fields[2:]
    if (day == "?") is (weekday == "?"):
        return "with ? for either the day of the month or the day of the week"
    months, years = _all(_FIELDS[3], month), _all(_FIELDS[5], year)
    comes = any(_has(each, number, day, weekday) for each in years for number in months)
    return None if comes else "of a day that comes"


def _wrong(kind: _Field, text: str) -> str | None:
    """Return what is wrong with a field, or None."""
    if re.fullmatch(kind.alone, text):
        return None
    for part in text.split(","):
        said, slash, step = part.partition("/")
        ends = _ends(kind, said)
        if ends is None or not all(kind.low <= end <= kind.high for end in ends):
            return f"whose {kind.name} is {kind.low} to {kind.high}{kind.also}"
        if slash and not (re.fullmatch("[1-9][0-9]{0,3}", step) and int(step) <= kind.high):
            return f"whose step of the {kind.name} is 1 to {kind.high}"
        if ends[0] > ends[1] and kind.low == _FIRST_YEAR:
            return f"whose {kind.name}s do not run backwards"
    return None


def _ends(kind: _Field, said: str) -> tuple[int, int] | None:
    """Return the first and the last number of a part of a field; None when it is neither a number nor a range."""
    if said == "*":
        return kind.low, kind.high
    ends = [
        kind.names.get(end.upper(), int(end) if re.fullmatch(r"[0-9]{1,4}", end) else -1) for end in said.split("-")
    ]
    return (ends[0], ends[-1]) if len(ends) <= 2 else None  # noqa: PLR2004  a range


def _all(kind: _Field, text: str) -> set[int]:
    """Return the numbers that a right field stands for."""
    numbers: set[int] = set()
    for part in text.split(","):
        said, slash, step = part.partition("/")
        first, last = _ends(kind, said) or (kind.low, kind.high)
        if slash and first == last:
            last = kind.high
        over = range(first, kind.high + 1), range(kind.low, last + 1)  # over the end, as SAT-SUN
        runs = (range(first, last + 1, int(step or 1)),) if first <= last else over
        numbers |= {number for run in runs for number in run}
    return numbers


def _has(year: int, month: int, day: str, weekday: str) -> bool:
    """Say whether a month has one of the days."""
    first, length = monthrange(year, month)
    name, nth, number = weekday.partition("#")
    if nth:
        wanted = _DAYS.get(name.upper()) or int(name)
        return 1 + (wanted - 2 - first) % 7 + 7 * (int(number) - 1) <= length
    if day.startswith("L-"):
        return int(day[2:]) < length
    if day[0].isdigit():
        return _first_day(day) <= length
    return True


@cache
def _first_day(day: str) -> int:
    """Return the least day of the month that a right field stands for."""
    return min(_all(_FIELDS[2], day.removesuffix("W")))


def _at(text: str) -> str | None:
    try:
        when = datetime.strptime(text if re.fullmatch(_OF_DIGITS, text, re.ASCII) else "", _WHEN)  # noqa: DTZ007  its zone is said apart
    except ValueError:
        return f"as {_A_TIME}"
    return None if when.year >= _FIRST_YEAR else f"of {_FIRST_YEAR} or later"


def _rate(text: str) -> str | None:
    found = re.fullmatch(r"([1-9][0-9]*) (minute|hour|day)(s?)", text)
    if not found or (found[1] == "1") is not (not found[3]):
        return "as rate(1 day) or rate(12 hours)"
    most = (_LAST_YEAR - _FIRST_YEAR) * _A_YEAR[found[2]]
    return (
        None if len(found[1]) <= len(str(most)) and int(found[1]) <= most else f"one that comes before {_LAST_YEAR + 1}"
    )


_A_YEAR: Final = {"minute": 365 * 24 * 60, "hour": 365 * 24, "day": 365}
_READERS: Final = {"cron": _cron, "at": _at, "rate": _rate}
