"""Tags that services take, and those that they do not."""

import sys
from typing import get_args
from unicodedata import category

import pytest

from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.tags import TagKey, TagValue, tags_problems
from cdk_trainyard.problems import sentence, shown

[KEY], [VALUE] = get_args(TagKey)[1:], get_args(TagValue)[1:]
SEPARATORS = [sign for sign in map(chr, range(sys.maxunicode + 1)) if category(sign).startswith("Z")]


@pytest.mark.parametrize(
    "key", ["team", "Größe der Gruppe", "大規模\u3000学習", "cost:center/a=b+c-d_e.f@g", "x" * 128, "awsome"]
)
def test_good_keys(key: str) -> None:
    assert KEY.problem(key, NOWHERE) is None


@pytest.mark.parametrize(
    "key", ["", "aws:team", "AWS:team", "trainyard:fleet", "Trainyard:x", "a,b", "a\nb", "{{x}}", "${x}", "x" * 129]
)
def test_bad_keys(key: str) -> None:
    assert KEY.problem(key, NOWHERE)


def test_blanks_are_those_that_services_take() -> None:
    assert [VALUE.problem(f"a{blank}b", NOWHERE) for blank in SEPARATORS] == [None] * len(SEPARATORS)
    assert all(VALUE.problem(f"a{sign}b", NOWHERE) for sign in "\t\r\x85\u200b\ufeff")


def test_no_blanks_are_at_the_ends() -> None:
    texts = [text for blank in SEPARATORS for text in (blank, f"{blank}a", f"a{blank}")]
    assert [text for text in texts if not (KEY.problem(text, NOWHERE) and VALUE.problem(text, NOWHERE))] == []


def test_a_letter_that_this_python_does_not_know_yet_is_taken() -> None:
    unknown = next(sign for sign in map(chr, range(0x2FA20, 0x31350)) if category(sign) == "Cn")
    assert VALUE.problem(unknown, NOWHERE) is None
    assert str(VALUE.problem(f"{unknown}(", NOWHERE)).endswith(f"got {shown(f'{unknown}(')}")


def test_values() -> None:
    assert VALUE.problem("", NOWHERE) is None
    assert str(VALUE.problem("a (b)", NOWHERE)) == (
        "must be letters, digits, spaces between them and _ . : / = + - @, as research, got 'a (b)'"
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
