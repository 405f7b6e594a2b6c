"""Problems as sentences."""

import pytest

from cdk_trainyard.problems import Flaw, Problem, dotted, either, option, sentence, shown, within


def test_a_path_as_text() -> None:
    assert dotted(("groups", "workers", "volumes", 1, "size_gb")) == "groups.workers.volumes[1].size_gb"


def test_a_problem_of_a_part_is_one_of_the_whole() -> None:
    assert list(within(("groups", "a"), [Problem(("count",), "is missing")])) == [
        Problem(("groups", "a", "count"), "is missing")
    ]


def test_a_value_cannot_pass_for_the_name_of_an_option() -> None:
    hostile = f"{option('count')}"
    text = sentence(Problem(("size",), f"got {shown(hostile)}"), called=lambda _: ("other",))
    assert text == r"'other' got '\ue0001:count\ue001'"


def test_what_cannot_be_seen_in_a_key_is_escaped() -> None:
    problem = Problem(("r\u202eegion", "\xa0a", "ü"), "is no key here")
    assert sentence(problem) == r"'r\u202eegion.\xa0a.ü' is no key here"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (r"C:\data", r"'C:\data'"),
        ("it's", '"it\'s"'),
        ('a "b"', "'a \"b\"'"),
        ("'\"\\", r"""'\'"\\'"""),
        ("a\tb", r"'a\tb'"),
        ("\u202eb", r"'\u202eb'"),
        ("größe", "'größe'"),
        ("x" * 101, f"'{'x' * 99}…'"),
    ],
)
def test_a_text_is_shown_as_it_was_written(value: str, text: str) -> None:
    assert shown(value) == text


def test_what_is_wrong_with_a_value_has_three_parts() -> None:
    wrong = Flaw("must be 1 to 8", got="9", remedy="; use 8")
    assert str(wrong) == "must be 1 to 8, got 9; use 8"
    assert str(Flaw("must be without a query")) == "must be without a query"
    assert wrong.as_name().at(("tags", "a"), of_key=True) == Problem(
        ("tags", "a"), "must be 1 to 8, got 9 as a name; use 8", of_key=True
    )


def test_a_problem_of_everything_has_no_subject() -> None:
    assert sentence(Problem((), "the file is empty")) == "the file is empty"


def test_values_are_shown_as_written_and_cut() -> None:
    assert [shown(value) for value in (True, 5, "a'b", None, "x" * 101)] == [
        "true",
        "5",
        '"a\'b"',
        "nothing",
        repr("x" * 99 + "…"),
    ]


def test_choices_are_listed_up_to_eight() -> None:
    assert either("a") == "a"
    assert either("abc") == "a, b or c"
    assert either("abcdefghi", all_in="the list") == "a, b, c, d, e, f, g, h, … (all are in the list)"


def test_an_option_of_a_section_around_is_named_from_there() -> None:
    problem = Problem(("cluster", "raw_overrides", "A", "B"), f"use {option('slurm.idle_time', up=3)}")
    text = sentence(problem, called=lambda at: tuple(str(part).replace("idle_time", "idle_minutes") for part in at))
    assert text == "'cluster.raw_overrides.A.B' use 'slurm.idle_minutes'"
