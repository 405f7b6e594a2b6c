"""Every check of every shipped deployment can go wrong: where its calls are refused, and where there is nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from cdk_trainyard.account import Account, Answer, Call, Refusal, Why
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.doctor import CHECKS, Check, Finding, Verdict, diagnose
from cdk_trainyard.local import LocalAws
from tests.doctor.parts import put_right, shipped, wrong
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


@dataclass(frozen=True)
class Right:
    """A deployment, what an account said that has everything, and what was found."""

    deployment: Deployment
    account: Kept
    found: list[Finding]


@pytest.fixture(scope="module", params=[path.stem for path in DEPLOYMENTS])
def right(request: pytest.FixtureRequest, here: LocalAws) -> Right:
    deployment = shipped(request.param)
    put_right(here, deployment)
    account = Kept(deployment.region)
    return Right(deployment, account, diagnose(deployment, account))


def test_an_account_that_has_everything_is_right(right: Right) -> None:
    assert wrong(right.found) == []


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_goes_wrong(right: Right, check: Check) -> None:
    """A check says the same alone as among all, and something is wrong where its calls are not answered."""

    def alone(changed: set[str], why: Why | None) -> list[Finding]:
        account = Again(right.account.said, right.account.region, changed, why)
        return diagnose(right.deployment, account, checks=[check])

    usual = alone(set(), None)
    assert usual == [each for each in right.found if each.check == check.name]
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
    for why in (Why.DENIED, Why.ABSENT, None):
        found = alone(set(check.asks), why)
        bad = [each for each in found if each.verdict is not Verdict.OK]
        assert bad or (why is not Why.DENIED and check.name in RIGHT_WITHOUT_ANYTHING), (check.name, why, found)
        assert all(each.remedy or each.has for each in bad if why is Why.DENIED)
