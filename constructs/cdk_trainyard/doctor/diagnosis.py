"""A deployment held against an account: every check, all calls side by side, and the policy that asking needs."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import QUALIFIER, Answers, Check
from cdk_trainyard.doctor.checks import (
    addresses,
    alerts,
    bootstrap,
    capacity,
    deployer,
    identity,
    images,
    quotas,
    service_roles,
    taken,
    things,
    zones,
)
from cdk_trainyard.doctor.finding import Finding

_AT_ONCE: Final = 16
CHECKS: Final[tuple[Check, ...]] = (
    identity.CHECK,
    bootstrap.CHECK,
    deployer.CHECK,
    service_roles.CHECK,
    quotas.CHECK,
    zones.CHECK,
    capacity.CHECK,
    images.CHECK,
    things.CHECK,
    alerts.CHECK,
    taken.CHECK,
    addresses.CHECK,
)
"""Every check, in the order of the table."""


def diagnose(
    deployment: DeploymentSpec,
    account: Account,
    heard: Callable[[Answer], None] = lambda _answer: None,
    *,
    qualifier: str = QUALIFIER,
    checks: Sequence[Check] = CHECKS,
) -> list[Finding]:
    """Return what an account lacks for a deployment, and what it has.

    Reads only. One call that is refused leaves the others; without credentials nothing is sent, and every finding is
    ``not asked``.

    Args:
        deployment: The deployment.
        account: The account, in the deployment's Region.
        heard: Told each answer when it has come, in the thread that asked. Default - nobody is told.
        qualifier: Of the bootstrap, ``@aws-cdk/core:bootstrapQualifier``. Default - the cdk CLI's own.
        checks: The checks, each of which says the same alone as among others. Default: all.
    """
    asking = _Asking(account, heard, qualifier)
    # a service's quotas are a dozen pages, one after the other
    longest_first = sorted(checks, key=lambda check: check is not quotas.CHECK)
    with asking.pool, ThreadPoolExecutor(_AT_ONCE) as each_by_itself:
        said = each_by_itself.map(lambda check: asking.answers(check, deployment), longest_first)
        answers = Answers({call: answer for each in said for call, answer in each.said.items()}, qualifier)
    return [finding for check in checks for finding in check.findings(deployment, answers)]


class _Asking:
    """Asks for several checks side by side; a call that two make is made once.

    Checks do not wait for one another: a long list of quotas takes as long as all the rest.
    """

    def __init__(self, account: Account, heard: Callable[[Answer], None], qualifier: str) -> None:
        self.pool = ThreadPoolExecutor(_AT_ONCE)
        self._account, self._heard, self._qualifier, self._lock = account, heard, qualifier, Lock()
        self._asked: dict[Call, Future[Answer]] = {}

    def answers(self, check: Check, deployment: DeploymentSpec) -> Answers:
        """Return what the account says to a check's calls, and to those that follow from the answers."""
        answers = Answers(self._all(check.calls(deployment)), self._qualifier)
        while more := self._all(call for call in check.then(deployment, answers) if call not in answers.said):
            answers = Answers({**answers.said, **more}, self._qualifier)
        return answers

    def _all(self, calls: Iterable[Call]) -> dict[Call, Answer]:
        waiting = {call: self._future(call) for call in calls}
        return {call: future.result() for call, future in waiting.items()}

    def _future(self, call: Call) -> Future[Answer]:
        with self._lock:
            if call not in self._asked:
                self._asked[call] = self.pool.submit(self._ask, call)
            return self._asked[call]

    def _ask(self, call: Call) -> Answer:
        answer = self._account.ask(call)
        self._heard(answer)
        return answer


def policy(checks: Iterable[Check] = CHECKS) -> dict[str, Any]:
    """Return the IAM policy that asking needs: readings of everything, as most of them know no narrower resource.

    Args:
        checks: The checks. Default: all.
    """
    actions = sorted({action for check in checks for action in check.permissions})
    statement = {"Sid": "TrainyardDoctor", "Effect": "Allow", "Action": actions, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}
