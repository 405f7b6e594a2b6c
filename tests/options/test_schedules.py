"""Schedules, as services read them."""

import re

import botocore.loaders
import pytest

from cdk_trainyard.fleet.spec_image import TrainingImageSpec
from cdk_trainyard.hyperpod.kinds import UpdateSchedule
from cdk_trainyard.options.fields import Scalar, fields_of
from cdk_trainyard.options.kinds import NOWHERE, Kind
from cdk_trainyard.options.schedules import Schedule, last_month, meet, numbered_days, times_an_hour

_SIX = (
    "of 6 fields (minute, hour, day of the month, month, day of the week, year) where 5 are, as "
    "cron(0 20 ? * MON-FRI *)"
)
_WEEKDAY = "whose day of the week is 1 to 7 or SUN to SAT, or alone ?, L or one as MON#2 or FRIL"


@pytest.mark.parametrize(
    "value",
    [
        "cron(0 20 ? * MON-FRI *)",
        "cron(0 6 * * ? *)",
        "cron(0/15 8-18 L * ? 2026,2027)",
        "cron(0 8 ? JAN-MAR MON,WED *)",
        "cron(0 8 ? * 2#1 *)",
        "cron(0 8 ? * SAT-SUN *)",
        "cron(0 8 29 2 ? *)",
        "cron(0 8 30 1-3 ? *)",
        "cron(0 8 29 2 ? 2027/1)",
        "cron(0 8 29W 2 ? 2028)",
        "cron(0 8 L-3 * ? *)",
        "cron(0 8 L-28 2 ? 2028)",
        "cron(0/59 8 */31 * ? *)",
        "cron(0 8 ? * satL *)",
        "cron(0 8 ? 2 TUE#5 2028)",
        "cron(0 8 ? NOV-FEB 2-6/2 2026-2199)",
        "at(2026-12-24T18:00:00)",
        "rate(1 day)",
        "rate(12 hours)",
        "rate(63145 days)",
    ],
)
def test_takes_what_comes(value: str) -> None:
    assert Schedule().problem(value, NOWHERE) is None


@pytest.mark.parametrize(
    ("schedule", "count"),
    [
        ("cron(* * * * ? *)", 60),
        ("cron(0/20 4 * * ? *)", 3),
        ("cron(5 * * * ? *)", 1),
        ("rate(1 minute)", 60),
        ("rate(90 minutes)", 1),
        ("rate(1 hour)", 1),
        ("at(2026-12-24T18:00:00)", 1),
    ],
)
def test_how_often_a_schedule_comes_in_an_hour(schedule: str, count: int) -> None:
    assert times_an_hour(schedule) == count


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("0 6 * * *", "as cron(0 20 ? * MON-FRI *) or at(2026-12-24T18:00:00)"),
        ("cron(0 6 * * *)", _SIX),
        ("cron(0  6 * * ? *)", "with one space between two fields, as cron(0 20 ? * MON-FRI *)"),
        ("cron(60 6 * * ? *)", "whose minute is 0 to 59"),
        ("cron(0 25 * * ? *)", "whose hour is 0 to 23"),
        ("cron(0 6 32 * ? *)", "whose day of the month is 1 to 31, or alone ?, L, LW or one as L-3 or 15W"),
        ("cron(0 6 L,15 * ? *)", "whose day of the month is 1 to 31, or alone ?, L, LW or one as L-3 or 15W"),
        ("cron(0 6 1 13 ? *)", "whose month is 1 to 12 or JAN to DEC"),
        *((f"cron(0 6 ? * {each} *)", _WEEKDAY) for each in ("MOM", "MONDAY", "MON#6", "XXXL", "8", "1-2-3", "")),
        ("cron(0/0 6 ? * * *)", "whose step of the minute is 1 to 59"),
        ("cron(0/99 6 ? * * *)", "whose step of the minute is 1 to 59"),
        ("cron(0 */24 ? * * *)", "whose step of the hour is 1 to 23"),
        ("cron(0 6 1 1 ? 2030-2027)", "whose years do not run backwards"),
        ("cron(0 6 ? * MON 26)", "whose year is 2026 to 2199"),
        ("cron(0 6 30 2 ? *)", "of a day that comes"),
        ("cron(0 6 29 2 ? 2027)", "of a day that comes"),
        ("cron(0 6 29 2 ? 2027/4)", "of a day that comes"),
        ("cron(0 6 L-28 2 ? 2027)", "of a day that comes"),
        ("cron(0 6 31W 2 ? *)", "of a day that comes"),
        ("cron(0 6 ? 2 MON#5 2027)", "of a day that comes"),
        ("at(2027-6-1T10:00:00)", "as at(2026-12-24T18:00:00)"),
        ("at(2026-02-30T00:00:00)", "as at(2026-12-24T18:00:00)"),
        ("rate(2 day)", "as rate(1 day) or rate(12 hours)"),
        ("rate(99999999999 days)", "one that comes before 2200"),
        ("rate(0 days)", "as rate(1 day) or rate(12 hours)"),
    ],
)
def test_fails_what_never_comes(value: str, says: str) -> None:
    assert str(Schedule().problem(value, NOWHERE)) == f"must be a schedule, {says}, got {value!r}"


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("cron(0 6 * * MON *)", "'cron(0 6 ? * MON *)'"),
        ("cron(0 6 * * * *)", "'cron(0 6 * * ? *)'"),
        ("cron(0 6 ? * ? *)", "'cron(0 6 * * ? *)'"),
        ("cron(0 6 15 1,7 * 2027)", "'cron(0 6 15 1,7 ? 2027)'"),
        ("cron(0 6 1 * MON *)", "'cron(0 6 1 * ? *)' or 'cron(0 6 ? * MON *)'"),
        ("cron(0 6 30 2 MON *)", "'cron(0 6 ? 2 MON *)'"),
    ],
)
def test_days_that_are_said_twice_are_answered_with_what_they_may_mean(value: str, remedy: str) -> None:
    says = "must be a schedule, with ? for either the day of the month or the day of the week"
    assert str(Schedule().problem(value, NOWHERE)) == f"{says}, got {value!r}; use {remedy}"


def test_an_update_on_a_day_that_is_said_twice_is_answered_with_what_it_may_mean() -> None:
    says = str(UpdateSchedule().problem("cron(0 6 * * SUN *)", NOWHERE))
    assert says.endswith("got 'cron(0 6 * * SUN *)'; use 'cron(0 6 ? * SUN *)'")


@pytest.mark.parametrize(
    ("service", "shape", "longest"),
    [
        ("application-autoscaling", "ResourceIdMaxLen1600", 1600),
        ("sagemaker", "CronScheduleExpression", 256),
        ("imagebuilder", "NonEmptyString", 1024),
    ],
)
def test_a_schedule_is_as_long_as_its_service_takes(service: str, shape: str, longest: int) -> None:
    model = botocore.loaders.Loader().load_service_model(service, "service-2")
    assert model["shapes"][shape]["max"] == longest
    minutes = ",".join(["0"] * longest)
    says = f"must have 1 to {longest} characters, got {len(minutes) + len('cron( 6 ? * MON *)')}"
    assert str(Schedule(longest=longest).problem(f"cron({minutes} 6 ? * MON *)", NOWHERE)) == says


def test_a_long_list_of_days_that_never_come_is_answered() -> None:
    days = ",".join(["31"] * 20_000)
    says = Schedule().problem(f"cron(0 6 {days} 2 ? *)", NOWHERE)
    assert str(says).startswith("must be a schedule, of a day that comes, got 'cron(0 6 31,")


@pytest.mark.parametrize(
    ("schedule", "month"),
    [
        ("rate(1 day)", None),
        ("cron(0 20 ? * MON-FRI *)", None),
        ("cron(0 20 ? * MON-FRI 2027-2199)", None),
        ("cron(0 6 ? * * 2026-2099)", None),
        ("at(2026-12-24T18:00:00)", (2026, 12)),
        ("at(2027-01-02T03:04:05)", (2027, 1)),
        ("cron(0 6 1 1 ? 2027)", (2027, 1)),
        ("cron(0 6 31 * ? 2027,2028)", (2028, 12)),
        ("cron(0 6 29 2 ? 2027-2030)", (2028, 2)),
    ],
)
def test_says_when_a_schedule_comes_for_the_last_time(schedule: str, month: tuple[int, int] | None) -> None:
    assert last_month(schedule) == month


@pytest.mark.parametrize(
    ("one", "other", "they_do"),
    [
        ("cron(0 20 ? * MON-FRI *)", "cron(0 20 ? * 2-6 *)", True),
        ("cron(0 20 ? * MON-FRI *)", "cron(0 21 ? * MON-FRI *)", False),
        ("cron(0 20 ? * SAT *)", "cron(0 20 ? * MON-FRI *)", False),
        ("cron(0 20 * * ? *)", "cron(0 20 ? * FRI *)", True),
        ("cron(0/15 8-20 ? * * *)", "cron(30 9 1 JAN ? *)", True),
        ("cron(0 20 1 * ? *)", "cron(0 20 ? * FRI *)", False),  # on some Fridays, which is for nobody to say
        ("cron(0 20 L * ? *)", "cron(0 20 31 * ? *)", False),
        ("cron(0 20 31 1,2 ? *)", "cron(0 20 31 2,3 ? *)", False),
        ("cron(0 20 ? * * 2027)", "cron(0 20 ? * * 2028)", False),
        ("at(2026-12-24T20:00:00)", "cron(0 20 ? * THU *)", True),
        ("at(2026-12-04T20:00:00)", "cron(0 20 4 * ? *)", True),
        ("at(2026-12-24T20:00:00)", "cron(0 20 ? * FRI *)", False),
        ("at(2026-12-24T20:00:30)", "cron(0 20 * * ? *)", False),
        ("rate(1 day)", "cron(0 20 * * ? *)", False),
    ],
)
def test_says_whether_two_schedules_meet(one: str, other: str, they_do: bool) -> None:
    assert [meet(one, other), meet(other, one)] == [they_do, they_do]


@pytest.mark.parametrize(
    ("weekday", "comes", "meant"),
    [
        ("1-5", "SUN-THU", "MON-FRI"),
        ("2,7", "MON,SAT", "TUE,SUN"),
        ("1/2", "SUN/2", "MON/2"),
        ("2#1", "MON#1", "TUE#1"),
        ("6L", "FRIL", "SATL"),
    ],
)
def test_days_that_are_numbers_are_told_by_their_names(weekday: str, comes: str, meant: str) -> None:
    schedule = f"cron(0 20 ? * {weekday} *)"
    says = f"'{schedule}' comes on {comes}, since 1 is Sunday there; for {meant} write the names"
    assert numbered_days(schedule) == says


@pytest.mark.parametrize(
    "schedule",
    [
        *(f"cron(0 20 ? * {each} *)" for each in ("*", "*/2", "1-7", "MON-FRI", "MON#2", "L")),
        "cron(1 2 3 4 ? *)",
        "rate(5 days)",
        "at(2026-12-24T20:00:00)",
    ],
)
def test_no_other_schedule_has_days_that_are_numbers(schedule: str) -> None:
    assert numbered_days(schedule) is None


def _of_images() -> Kind:
    shape = fields_of(TrainingImageSpec)["schedule"].shape
    assert isinstance(shape, Scalar)
    return shape.kinds[0]


@pytest.mark.parametrize("value", ["0 4 * * SUN", "@weekly", "cron(0 4 ? * SUN *) ", "daily"])
@pytest.mark.parametrize("kind", [Schedule(), UpdateSchedule(), _of_images()])
def test_what_is_offered_instead_is_taken(kind: Kind, value: str) -> None:
    said = str(kind.problem(value, NOWHERE)).rpartition(", got ")[0]
    offered = re.findall(r"(?:cron|at|rate)\([^)]*\)", said)
    assert offered
    assert [each for each in [*offered, *kind.schema()["examples"]] if kind.problem(each, NOWHERE)] == []
