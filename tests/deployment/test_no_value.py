"""A key without a value is answered once: nothing is said of what follows from it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER, GOOD_SERVING, edited, problems_of

GROUPS = "  groups:\n    head:\n    workers:\n"


def without_a_value(text: str) -> Iterator[tuple[str, str]]:
    """Yield each key with the text that has nothing for its value, be it a section or a word."""
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        key = re.match(r"( *(?:- )?)(\w+):", line)
        if key is None:
            continue
        end = index + 1
        while end < len(lines) and re.match(rf" {{{len(key[1]) + 1}}}|{' ' * len(key[1])}- ", lines[end]):
            end += 1
        yield key[2], "".join([*lines[:index], f"{key[0]}\n", *lines[end:]])


@pytest.mark.parametrize("good", [GOOD, GOOD_PARALLELCLUSTER, GOOD_FLEET, GOOD_SERVING])
def test_nothing_follows_from_any_key(good: str, write: Callable[[str], Path]) -> None:
    for key, text in without_a_value(good):
        [problem] = problems_of(write(text))
        assert re.search(rf"[ '.]{key}' has no value; write one, or remove the key$", problem)


def test_groups_are_counted_with_those_that_have_none(write: Callable[[str], Path]) -> None:
    says = "has no value; write one, or remove the key"
    text = GOOD[: GOOD.index("  groups:")] + GROUPS
    assert problems_of(write(text)) == [
        f"11:10: 'cluster.groups.head' {says}",
        f"12:13: 'cluster.groups.workers' {says}",
    ]


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("own_alarms:\n    Full:", "10:10: 'monitoring.own_alarms.Full' has no value; write one, or remove the key"),
        ("own_alarms:\n    Full: 5", "10:11: 'monitoring.own_alarms.Full' must be a mapping"),
    ],
)
def test_an_alarm_that_is_none(written: str, says: str, write: Callable[[str], Path]) -> None:
    found = problems_of(write(edited(("orchestrator:", f"monitoring:\n  {written}\norchestrator:"))))
    assert [problem for problem in found if says in problem], found
