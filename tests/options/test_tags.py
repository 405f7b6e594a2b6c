"""Tags that services take, and those that they do not."""

from typing import get_args

import pytest

from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.tags import TagKey, TagValue, tags_problems
from cdk_trainyard.problems import sentence

[KEY], [VALUE] = get_args(TagKey)[1:], get_args(TagValue)[1:]


@pytest.mark.parametrize("key", ["team", "Größe der Gruppe", "cost:center/a=b+c-d_e.f@g", "x" * 128, "awsome"])
def test_good_keys(key: str) -> None:
    assert KEY.problem(key, NOWHERE) is None


@pytest.mark.parametrize(
    "key", ["", "aws:team", "AWS:team", "trainyard:fleet", "Trainyard:x", "a,b", "a\nb", "{{x}}", "${x}", "x" * 129]
)
def test_bad_keys(key: str) -> None:
    assert KEY.problem(key, NOWHERE)


def test_values() -> None:
    assert VALUE.problem("", NOWHERE) is None
    assert str(VALUE.problem("a (b)", NOWHERE)) == (
        "must be letters, digits, spaces and _ . : / = + - @, as research, got 'a (b)'"
    )


def test_tags_together() -> None:
    many = {f"key{number}": "" for number in range(50)}
    assert [*tags_problems(("tags",), many)] == []
    assert [sentence(problem) for problem in tags_problems(("tags",), many, added=2)] == [
        "'tags' must be at most 48 tags beside 2 that are added, got 50"
    ]
    assert [sentence(problem) for problem in tags_problems(("tags",), {"team": "", "Team": ""})] == [
        "'tags.Team' must differ from 'team' in more than case, as IAM demands"
    ]
    assert [*tags_problems(("tags",), {"Key": "a"})] == []
    assert [sentence(problem) for problem in tags_problems(("tags",), {"Key": "team", "Value": "research"})] == [
        "'tags' must be a mapping of keys to values, got the keys 'Key' and 'Value' themselves; write team: research"
    ]
