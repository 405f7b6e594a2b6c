"""Calls are made side by side, paged, retried; refusals are answers. AWS is a function here."""

import json
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.retries.standard import ThrottledRetryableChecker

from cdk_trainyard.account import Account, Answer, Call, Why
from cdk_trainyard.account.answer import _CODES, refusal_of

Said = tuple[int, Mapping[str, Any]]


class _Body:
    """What was sent, as urllib3 would hold it."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()

    def stream(self, *_words: object, **_more: object) -> list[bytes]:
        return [self._text]


def account(answer: Callable[[Mapping[str, Any]], Said]) -> Account:
    """An account whose services say what a function says of a call's members."""
    session = boto3.Session()

    def send(request: Any, **_more: object) -> AWSResponse:
        status, said = answer(json.loads(request.body))
        return AWSResponse(
            request.url, status, {"x-amzn-ErrorType": str(said.get("__type", ""))}, _Body(json.dumps(said))
        )

    session.events.register("before-send", send)
    return Account("us-west-2", session=session)


QUOTAS = Call("service-quotas", "ListServiceQuotas", {"ServiceCode": "sagemaker"})


def test_every_page_is_read_and_an_empty_one_is_not_the_last() -> None:
    pages = {"": (["a"], "2"), "2": ([], "3"), "3": (["b"], None)}

    def page(asked: Mapping[str, Any]) -> Said:
        found, token = pages[asked.get("NextToken", "")]
        return 200, {"Quotas": [{"QuotaName": each} for each in found], **({"NextToken": token} if token else {})}

    answer = account(page).ask(QUOTAS)
    assert [each["QuotaName"] for each in answer.items("Quotas")] == ["a", "b"]
    assert answer.refusal is None


def test_a_throttled_call_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    tries = count()

    def twice(_asked: Mapping[str, Any]) -> Said:
        return (400, {"__type": "ThrottlingException"}) if next(tries) < 2 else (200, {"Quotas": [{}]})

    assert account(twice).ask(QUOTAS).items("Quotas") == [{}]
    refusal = account(lambda _asked: (400, {"__type": "ThrottlingException", "message": "slow"})).ask(QUOTAS).refusal
    assert refusal is not None
    assert str(refusal) == "throttled: slow"


def test_one_call_that_is_not_allowed_leaves_the_others() -> None:
    other = Call("service-quotas", "ListServiceQuotas", {"ServiceCode": "ec2"})

    def one(asked: Mapping[str, Any]) -> Said:
        if asked["ServiceCode"] == "ec2":
            return 400, {"__type": "AccessDeniedException", "message": "no"}
        return 200, {"Quotas": []}

    heard: list[Answer] = []
    answers = account(one).ask_all([QUOTAS, other, QUOTAS], heard.append)
    assert [*answers] == [QUOTAS, other]
    assert sorted(map(str, (each.call for each in heard))) == sorted(map(str, answers))
    assert answers[QUOTAS].refusal is None
    refusal = answers[other].refusal
    assert refusal is not None
    assert refusal.why is Why.DENIED
    assert answers[other].items("Quotas") == []


def test_without_credentials_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    answers = Account("us-west-2").ask_all([QUOTAS, Call("sts", "GetCallerIdentity")]).values()
    assert [answer.refusal and answer.refusal.why for answer in answers] == [Why.CREDENTIALS] * 2
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    refusal = Account("us-west-2").identity().refusal
    assert refusal is not None
    assert (refusal.why, refusal.code) == (Why.CREDENTIALS, "ProfileNotFound")


@pytest.mark.parametrize(
    ("code", "text", "why"),
    [
        ("ExpiredTokenException", "expired", Why.CREDENTIALS),
        ("UnauthorizedOperation", "no", Why.DENIED),
        ("NoSuchResourceException", "none", Why.ABSENT),
        ("ResourceNotFound", "none", Why.ABSENT),
        ("InvalidSubnetID.NotFound", "none", Why.ABSENT),
        ("ValidationError", "Stack with id x does not exist", Why.ABSENT),
        ("ValidationError", "1 validation error detected", Why.REFUSED),
        ("ValidationError", "Stack:x is in UPDATE_IN_PROGRESS state and can not be updated.", Why.BUSY),
        ("ValidationException", "Cluster is currently updating", Why.BUSY),
        ("InstanceRefreshInProgress", "wait", Why.BUSY),
        ("ConflictException", "wait", Why.BUSY),
        ("InternalFailure", "oh", Why.REFUSED),
    ],
)
def test_errors_are_told_apart(code: str, text: str, why: Why) -> None:
    refusal = account(lambda _asked: (400, {"__type": code, "message": text})).ask(QUOTAS).refusal
    assert refusal is not None
    assert (refusal.why, refusal.code, refusal.text) == (why, code, text)


def test_a_parameter_that_aws_does_not_know_is_an_answer_too() -> None:
    refusal = account(lambda _asked: (200, {})).ask(Call("sts", "GetCallerIdentity", {"Who": "me"})).refusal
    assert refusal is not None
    assert (refusal.why, refusal.code) == (Why.REFUSED, "ParamValidationError")


def test_an_exception_of_ours_is_none_of_awss() -> None:
    assert refusal_of(ValueError("x")).why is Why.REFUSED


def test_botocore_knows_the_same_codes_of_throttling() -> None:
    assert frozenset(ThrottledRetryableChecker._THROTTLED_ERROR_CODES) == _CODES[Why.THROTTLED]
