"""A list names each value once, wherever it stands: one rule for every list of every section."""

from collections.abc import Iterator

import pytest
from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecr as ecr

from cdk_trainyard.deployment.orchestrators import OWN, spec_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.options.fields import Items, Object, Part, Scalar, Shape, fields_of
from cdk_trainyard.options.kinds import NOWHERE, Email, Environment
from cdk_trainyard.options.repeated import repeated_problems
from cdk_trainyard.options.stand_ins import Alarm, ImageRepository
from cdk_trainyard.problems import Problem
from cdk_trainyard.tokens import Unknown

TWICE = Problem(("all", 1), "must be another than those before it, got 'a' again")


def lists(spec: type, seen: set[type]) -> Iterator[tuple[str, Items]]:
    """Every list of values below a specification, by its name."""
    if spec in seen:
        return
    seen.add(spec)
    for name, option in fields_of(spec).items():
        yield from of_shape(name, option.shape, seen)


def of_shape(name: str, shape: Shape, seen: set[type]) -> Iterator[tuple[str, Items]]:
    match shape:
        case Part():
            for spec in filter(None, (shape.spec, shape.existing)):
                yield from lists(spec, seen)
        case Items(item=Scalar() | Object()):
            yield name, shape
        case Items():
            yield from of_shape(name, shape.item, seen)


def test_only_arguments_repeat() -> None:
    seen: set[type] = set()
    specs = [DeploymentSpec, *filter(None, map(spec_of, OWN))]
    found = {name: shape for spec in specs for name, shape in lists(spec, seen)}
    assert len(found) > 15
    assert {name for name, shape in found.items() if not list(repeated_problems(shape, "aa", ("all",)))} == {"args"}


@pytest.mark.parametrize("values", [["a", "b"], ["a", Unknown(), Unknown()], []])
def test_what_differs_or_is_not_known_passes(values: list[object]) -> None:
    assert list(repeated_problems(Items(item=Scalar(type=str)), values, ())) == []


def test_the_second_of_two_is_named() -> None:
    assert list(repeated_problems(Items(item=Scalar(type=str)), ["a", "a"], ("all",))) == [TWICE]


def test_objects_are_the_same_by_what_they_are_known_by() -> None:
    shape, arn = Items(item=Object(type=Alarm)), "arn:aws:cloudwatch:us-west-2:111111111111:alarm:a"
    stack = Stack()
    alarms = [cloudwatch.Alarm.from_alarm_arn(stack, name, arn) for name in ("One", "Other")]
    for values in (alarms, [Alarm(arn), Alarm(arn)]):
        assert [problem.at for problem in repeated_problems(shape, values, ())] == [(1,)]


def test_an_address_of_mail_is_one_whatever_the_case_of_its_domain() -> None:
    shape = Items(item=Scalar(type=str, kinds=(Email(),)))
    assert list(repeated_problems(shape, ["Ops@example.com", "ops@example.com"], ())) == []
    text = "must be another than those before it, got 'ops@Example.com' again"
    assert list(repeated_problems(shape, ["ops@example.com", "ops@Example.com"], ())) == [Problem((1,), text)]


def test_a_repository_is_left_out_beside_all_of_its_registry() -> None:
    shape, here = Items(item=Object(type=ImageRepository)), Environment(region="us-west-2", account="1" * 12)
    other = "arn:aws:ecr:us-west-2:222222222222:repository"
    said = ["team/train", "*", f"{other}/tools", "arn:aws:ecr:us-west-2:111111111111:repository/tools"]
    found = list(repeated_problems(shape, said, (), here))
    assert [problem.at for problem in found] == [(0,), (3,)]
    told = {"must be left out beside '*', which is all; for some alone, leave that out"}
    assert {problem.text for problem in found} == told
    assert [problem.at for problem in repeated_problems(shape, [*said, f"{other}/*"], (), here)] == [(0,), (2,), (3,)]
    stack = Stack()
    made = [ecr.Repository.from_repository_name(stack, name, name) for name in ("team/train", "*")]
    (problem,) = repeated_problems(shape, made, ())
    assert {problem.text} == told


@pytest.mark.parametrize("name", ["team/train", "*"])
def test_a_repository_is_one_by_its_name_and_by_its_arn(name: str) -> None:
    shape, here = Items(item=Object(type=ImageRepository)), Environment(region="us-west-2", account="1" * 12)
    said = [name, f"arn:aws:ecr:us-west-2:111111111111:repository/{name}"]
    for values in (said, [ImageRepository(each) for each in said], said[::-1]):
        assert [problem.at for problem in repeated_problems(shape, values, (), here)] == [(1,)]
        assert not list(repeated_problems(shape, values, (), NOWHERE))  # another account's, for all that is known
    (problem,) = repeated_problems(shape, said[::-1], ("all",), here)
    assert problem.text == f"must be another than those before it, got {name!r} again"
