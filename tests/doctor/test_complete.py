"""Every check of every shipped deployment can go wrong: where its calls are refused, and where there is nothing."""

from collections.abc import Mapping

import pytest

from cdk_trainyard.account import Account, Answer, Call, Refusal, Why
from cdk_trainyard.doctor import CHECKS, Check, Verdict, diagnose
from cdk_trainyard.local import LocalAws
from tests.doctor.parts import put_right, shipped
from tests.support import DEPLOYMENTS

RIGHT_WITHOUT_ANYTHING = {"account", "name", "addresses"}
"""STS always answers, nothing has the name, and nothing overlaps: `test_wrong` makes each wrong."""


class Kept(Account):
    """An account that keeps what it said."""

    def __init__(self, region: str) -> None:
        super().__init__(region)
        self.said: dict[Call, Answer] = {}

    def ask(self, call: Call) -> Answer:
        answer = super().ask(call)
        self.said[call] = answer
        return answer


class Again(Account):
    """An account that says what another said, but to some calls."""

    def __init__(self, said: Mapping[Call, Answer], region: str, changed: set[str], why: Why | None) -> None:
        super().__init__(region)
        self._said, self._changed, self._why = said, changed, why

    def ask(self, call: Call) -> Answer:
        if str(call) not in self._changed and call in self._said:
            return self._said[call]
        if self._why is None:
            return Answer(call=call)
        return Answer(call=call, refusal=Refusal(why=self._why, code=self._why.name, text="no"))


@pytest.fixture(scope="module", params=[path.stem for path in DEPLOYMENTS])
def right(request: pytest.FixtureRequest, here: LocalAws) -> tuple[str, Kept]:
    """What an account said that has everything."""
    deployment = shipped(request.param)
    put_right(here, deployment)
    account = Kept(deployment.region)
    assert {finding.verdict for finding in diagnose(deployment, account)} == {Verdict.OK}
    return request.param, account


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_goes_wrong(right: tuple[str, Kept], check: Check) -> None:
    name, account = right
    deployment = shipped(name)
    usual = [each for each in diagnose(deployment, account_like(account, set(), None)) if each.check == check.name]
    if not usual:
        assert check.name in {
            "capacity",
            "image",
            "exists",
            "service role",
            "addresses",
            "alerts",
        }  # the file names none
        return
    asks = set(check.asks)
    for why in (Why.DENIED, Why.ABSENT, None):
        found = [each for each in diagnose(deployment, account_like(account, asks, why)) if each.check == check.name]
        wrong = [each for each in found if each.verdict is not Verdict.OK]
        assert wrong or (why is not Why.DENIED and check.name in RIGHT_WITHOUT_ANYTHING), (check.name, why, found)
        assert all(each.remedy or each.has for each in wrong if why is Why.DENIED)


def account_like(account: Kept, changed: set[str], why: Why | None) -> Again:
    return Again(account.said, account.region, changed, why)
