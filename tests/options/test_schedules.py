"""Schedules, as services read them."""

import pytest

from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.schedules import Schedule


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
        "at(2026-12-24T18:00:00)",
        "rate(1 day)",
        "rate(12 hours)",
    ],
)
def test_takes_what_comes(value: str) -> None:
    assert Schedule().problem(value, NOWHERE) is None


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("0 6 * * *", "as cron(0 20 ? * MON-FRI *) or at(2026-12-24T18:00:00)"),
        ("cron(0 6 * * *)", "as cron(0 20 ? * MON-FRI *) or at(2026-12-24T18:00:00)"),
        ("cron(60 6 * * ? *)", "whose minute is 0 to 59"),
        ("cron(0 25 * * ? *)", "whose hour is 0 to 23"),
        ("cron(0 6 32 * ? *)", "whose day of the month is 1 to 31"),
        ("cron(0 6 ? * MOM *)", "whose day of the week is 1 to 7"),
        ("cron(0 6 ? * MON 26)", "whose year is 2026 to 2199"),
        ("cron(0 6 * * MON *)", "with ? for either the day of the month or the day of the week"),
        ("cron(0 6 30 2 ? *)", "of a day that comes"),
        ("at(2026-02-30T00:00:00)", "as cron(0 20 ? * MON-FRI *) or at(2026-12-24T18:00:00)"),
        ("rate(2 day)", "as rate(1 day) or rate(12 hours)"),
        ("rate(0 days)", "as rate(1 day) or rate(12 hours)"),
    ],
)
def test_fails_what_never_comes(value: str, says: str) -> None:
    assert Schedule().problem(value, NOWHERE) == f"must be a schedule, {says}, got {value!r}"
