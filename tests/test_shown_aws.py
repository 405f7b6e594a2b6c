"""Commands of the AWS CLI on pages: service, operation and parameters are botocore's, and the local AWS takes them."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.model import ListShape, OperationModel, ServiceModel, Shape, StructureShape

from cdk_trainyard.local import LocalAws
from tests.shown import steps
from tools.pages import shown

SPAN = re.compile(r"`(aws [^`]+)`")
GLOBAL = frozenset({"query", "output", "region", "profile"})
OWN = {("logs", "tail"): {"follow"}, ("s3", "cp"): {"no-sign-request"}, ("s3", "ls"): set[str]()}
"""What is the CLI's own and no operation, and its options that pages use."""
LACKING = {"purchase-capacity-block"}
"""What the local AWS does not have."""


@cache
def in_blocks() -> set[str]:
    """Return the commands of console blocks, which are there to be run."""
    return {step.command for page in shown(".md") for step in steps(page) if step.command.startswith("aws ")}


@cache
def commands() -> list[str]:
    """Return the commands of all pages, those among them that a sentence names."""
    return sorted(in_blocks().union(*(SPAN.findall(page.read_text()) for page in shown(".md"))))


def parsed(command: str) -> tuple[str, str, dict[str, list[str]]]:
    """Return service, operation and the words of each option."""
    _, service, operation, *words = shlex.split(command, comments=True)
    options: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            options[word[2:]] = []
        elif options:
            options[[*options][-1]].append(word)
    return service, operation, {name: words for name, words in options.items() if name not in GLOBAL}


@cache
def models_of(service: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(service)


def model(service: str, operation: str) -> OperationModel:
    """Return botocore's model of an operation."""
    models = models_of(service)
    (name,) = (name for name in models.operation_names if xform_name(name, "-") == operation)
    return models.operation_model(name)


def value(shape: Shape, words: list[str]) -> Any:
    """Return what the CLI makes of an option's words: its shorthand of structures, and plain values."""
    if isinstance(shape, ListShape):
        return [value(shape.member, [word]) for word in words]
    if isinstance(shape, StructureShape):
        pairs = re.findall(r"(\w+)=((?:[^,=]|,(?!\w+=))*)", words[0])
        return {name: value(shape.members[name], said.split(",")) for name, said in pairs}
    (word,) = words or ["true"]
    if shape.type_name in ("integer", "long", "float", "double"):
        return float(word) if "." in word else int(word)
    return word == "true" if shape.type_name == "boolean" else word


def arguments(command: str) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a command, as botocore takes them."""
    service, operation, options = parsed(command)
    members = model(service, operation).input_shape.members
    for name, words in options.items():
        member = next(each for each in members if xform_name(each, "-") == name)
        yield member, value(members[member], words)


@pytest.mark.parametrize("command", commands())
def test_a_command_is_one_of_the_cli(command: str) -> None:
    service, operation, options = parsed(command)
    if (service, operation) in OWN:
        assert options.keys() <= OWN[service, operation]
        return
    shape = model(service, operation).input_shape
    assert options.keys() - {xform_name(member, "-") for member in shape.members} == set()
    named = not options or "…" in command
    assert named or {xform_name(member, "-") for member in shape.required_members} - options.keys() == set()


def whole() -> list[str]:
    """Return the commands that say what is asked for."""
    asked = (each for each in commands() if each in in_blocks() or ("…" not in each and parsed(each)[2]))
    return [each for each in asked if parsed(each)[:2] not in OWN]


@pytest.fixture
def account(aws: LocalAws) -> Iterator[LocalAws]:
    aws.reset()
    yield aws
    aws.reset()


@pytest.mark.parametrize("command", whole())
def test_an_account_takes_it(command: str, account: LocalAws) -> None:
    """It answers, or says that it does not have what the page's reader has."""
    service, operation, _ = parsed(command)
    client = account.client(service, "us-east-1")
    code = ""
    try:
        client._make_api_call(model(service, operation).name, dict(arguments(command)))
    except ClientError as error:
        code = error.response["Error"]["Code"]
    assert code in (["NotImplemented"] if operation in LACKING else ["", "ResourceNotFound"])


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("aws fsx describe-file-system", ValueError),
        ("aws ec2 describe-subnets --filter Name=vpc-id,Values=vpc-0", AssertionError),
        ("aws acm request-certificate --validation-method DNS", AssertionError),
        ("aws s3 cp --recursiv", AssertionError),
    ],
)
def test_what_is_none_is_found(command: str, wrong: type[Exception]) -> None:
    with pytest.raises(wrong):
        test_a_command_is_one_of_the_cli(command)
