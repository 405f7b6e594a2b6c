"""The one exception shows every problem, and suggestions are near or absent."""

import pytest

from cdk_trainyard.errors import ConfigurationError, did_you_mean, raise_problems


def test_every_problem_is_shown_under_its_path() -> None:
    with pytest.raises(ConfigurationError) as caught:
        raise_problems("Stack/Cluster", ["'count' must be 1, got 2", "'name' must not be empty"])
    assert str(caught.value) == (
        "Stack/Cluster: 2 problems\n  - 'count' must be 1, got 2\n  - 'name' must not be empty"
    )
    assert caught.value.path == "Stack/Cluster"
    assert caught.value.problems == ("'count' must be 1, got 2", "'name' must not be empty")


def test_one_problem_is_one_problem() -> None:
    assert str(ConfigurationError("Stack", ["no"])) == "Stack: 1 problem\n  - no"


def test_no_problem_raises_nothing() -> None:
    raise_problems("Stack", [])


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("instance_tpye", "; did you mean 'instance_type'?"),
        ("c\u043eunt", "; did you mean 'count' with o in place of U+043E (CYRILLIC SMALL LETTER O)?"),
        ("c\u00f3unt", "; did you mean 'count' with o in place of U+00F3 (LATIN SMALL LETTER O WITH ACUTE)?"),
        ("co\u0301unt", "; did you mean 'count' without U+0301 (COMBINING ACUTE ACCENT)?"),
        ("count\uff1a4", "; did you mean 'count'?"),
        ("count\xa0", "; did you mean 'count' without U+00A0 (NO-BREAK SPACE)?"),
        ("type", "; did you mean 'instance_type'?"),
        ("zzz", ""),
        ("\u043e", ""),
        ("", ""),
    ],
)
def test_suggestions(word: str, said: str) -> None:
    assert did_you_mean(word, ["instance_type", "count"]) == said


@pytest.mark.parametrize("word", ["ONDEMAND", "ON_DEMAND", "onDemand", "on demand"])
def test_a_choice_in_another_spelling_is_meant(word: str) -> None:
    assert did_you_mean(word, ["on-demand", "demand-on", "spot"]) == "; did you mean 'on-demand'?"


def test_signs_alone_mean_nothing() -> None:
    assert did_you_mean("--", ["*", "spot"]) == ""
