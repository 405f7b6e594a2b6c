"""The guard sees every form in which CDK hides a Token, and nothing else."""

import pytest
from aws_cdk import Fn, Token

from cdk_trainyard.tokens import UNKNOWN, Unknown, unresolved

TEXT = Token.as_string({"Ref": "Text"})


@pytest.mark.parametrize(
    "value",
    [
        TEXT,
        f"before-{TEXT}-after",
        Token.as_number({"Ref": "Number"}),
        Token.as_list({"Ref": "List"}),
        Fn.get_azs(),
        Fn.join("-", ["a", TEXT]),
        Token.as_any({"Ref": "Any"}),
    ],
    ids=["text", "inside text", "number", "list", "intrinsic list", "join", "any"],
)
def test_tokens_are_seen(value: object) -> None:
    assert unresolved(value)
    assert unresolved("plain", value)


@pytest.mark.parametrize("value", ["", "text", "${Tok", 0, 1.5, -1, None, True, [], ["a"], ("a", 1), {"a": 1}])
def test_plain_values_are_judged(value: object) -> None:
    assert not unresolved(value)


def test_nothing_is_no_token() -> None:
    assert not unresolved()


def test_what_nobody_knows_has_no_words() -> None:
    assert f"{Unknown()}, {(Unknown(),)}" == f"{UNKNOWN}, ({UNKNOWN},)"
