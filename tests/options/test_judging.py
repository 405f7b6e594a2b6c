"""A constructor's values are held against the same declarations as a file's."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from aws_cdk import App, Duration, Stack, Token
from aws_cdk import aws_kms as kms

from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.options.kinds import Environment, Text
from cdk_trainyard.options.paths import in_file
from cdk_trainyard.problems import Problem, option, sentence
from cdk_trainyard.tokens import Unknown
from tests.options.example_spec import Capacity, Cluster, Day, ExistingStore, Group, Job, Volume

_TOKEN: Any = Token.as_any({"Ref": "Parameter"})


def group(**more: Any) -> Group:
    return Group(**{"name": "workers", "job": Job.COMPUTE, "count": 4} | more)


def said(cluster: Cluster) -> list[str]:
    judge = Judge(environment=Environment(region="us-east-1"))
    judge.judged(cluster)
    return [sentence(problem) for problem in judge.problems]


def test_right_values_of_every_shape_pass() -> None:
    key = kms.Key(Stack(App(), "Stack"), "Key")
    whole = group(
        volumes=[Volume(key=key)],
        cooldown=Duration.minutes(2),
        source=Capacity(capacity="Spot", price=2),
    )
    assert said(Cluster(groups=[whole], store=ExistingStore(store_id="a"), tags={"a": "b"})) == []


def test_python_may_have_an_object_for_a_name() -> None:
    @dataclass(frozen=True, kw_only=True, slots=True)
    class Host:
        type: Annotated[str | Day, Text(pattern="[a-z]+", words="lowercase letters", example="small")]

    judge = Judge(environment=Environment())
    for value in ("small", Day.SUNDAY, "SMALL", 5):
        judge.judged(Host(type=value))
    assert [sentence(problem) for problem in judge.problems] == [
        "'type' must be lowercase letters, as small, got 'SMALL'",
        "'type' must be text, got 5 (int)",
    ]


def test_tokens_are_not_judged() -> None:
    number, text, texts = Token.as_number({"Ref": "N"}), Token.as_string({"Ref": "T"}), Token.as_list({"Ref": "L"})
    assert said(Cluster(groups=[group(count=number, name=text, alarms=texts)])) == []


@pytest.mark.parametrize(
    ("more", "at"),
    [({"volumes": [_TOKEN]}, "volumes[0]"), ({"volumes": _TOKEN}, "volumes"), ({"source": _TOKEN}, "source")],
)
def test_a_token_is_nothing_that_has_options_of_its_own(more: dict[str, Any], at: str) -> None:
    wanted = "must be known when the app is synthesized, got a Token; write it out"
    assert said(Cluster(groups=[group(**more)])) == [f"'groups.workers.{at}' {wanted}"]
    assert said(Cluster(groups=[group()], tags=_TOKEN)) == [f"'tags' {wanted}"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"count": "4"}, "'groups.workers.count' must be a whole number, got '4' (str)"),
        ({"count": 101}, "'groups.workers.count' must be 0 to 100, got 101"),
        ({"count": True}, "'groups.workers.count' must be a whole number, got true (bool)"),
        ({"job": "compute"}, "'groups.workers.job' must be Job.CONTROLLER or Job.COMPUTE, got 'compute' (str)"),
        ({"volumes": Volume()}, "'groups.workers.volumes' must be a list, got a Volume"),
        ({"volumes": [5]}, "'groups.workers.volumes[0]' must be Volume(…), got 5 (int)"),
        ({"volumes": [Volume(key="arn")]}, "'groups.workers.volumes[0].key' must be a kms.IKey, got 'arn' (str)"),
        ({"cooldown": 5}, "'groups.workers.cooldown' must be a Duration, got 5 (int)"),
        ({"job": None}, "'groups.workers.job' must be Job.CONTROLLER or Job.COMPUTE, got nothing (NoneType)"),
        ({"name": "W"}, "'groups.W.name' must be lowercase letters, as workers, got 'W'"),
    ],
)
def test_wrong_values_are_answered_with_what_is_wanted_and_what_came(more: dict[str, Any], says: str) -> None:
    assert said(Cluster(groups=[group(**more)])) == [says]


def test_a_constructor_gives_what_its_specification_has() -> None:
    assert given(Volume, {"self": 1, "size_gb": 5, "root": True, "__class__": 2}) == Volume(size_gb=5, root=True)


@pytest.mark.parametrize(
    ("at", "file"),
    [
        (("groups", "workers", "volumes", 1, "key"), ("groups", "workers", "volumes", 1, "key_arn")),
        (("groups", "workers", "source", "price"), ("groups", "workers", "price")),
        (("groups", "workers", "cooldown"), ("groups", "workers", "cooldown_minutes")),
        (("groups", "key", "alarms", 0), ("groups", "key", "alarm_arns", 0)),
        (("tags", "key"), ("tags", "key")),
        (("raw_overrides", "A.B", "key"), ("raw_overrides", "A.B", "key")),
    ],
)
def test_a_path_has_the_keys_of_the_file_and_the_users_own_names(at: Any, file: Any) -> None:
    assert in_file(Cluster, at) == file


def test_a_sentence_names_other_options_as_its_reader_does() -> None:
    problem = Problem(("groups", "key", "count"), f"must be less than {option('cooldown')}, got 'cooldown'")
    assert sentence(problem) == "'groups.key.count' must be less than 'cooldown', got 'cooldown'"
    in_words_of_the_file = sentence(problem, called=lambda path: in_file(Cluster, path))
    assert in_words_of_the_file == "'groups.key.count' must be less than 'cooldown_minutes', got 'cooldown'"


def test_what_is_wrong_is_unknown_and_the_rest_is_as_it_was() -> None:
    right = group(name="others")
    cluster = Cluster(groups=[group(count="4"), right], tags={"a": "b"})
    found = Judge(environment=Environment()).judged(cluster)
    assert isinstance(found.groups[0].count, Unknown)
    assert (found.groups[0].job, found.groups[1], found.tags) == (Job.COMPUTE, right, {"a": "b"})


def test_what_is_right_stays_the_very_object() -> None:
    cluster = Cluster(groups=[group()])
    assert Judge(environment=Environment()).judged(cluster) is cluster
