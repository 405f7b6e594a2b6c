"""A deployment held against an account: every check, all calls side by side, and the policy that asking needs."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from cdk_trainyard.account import Account, Answer
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check
from cdk_trainyard.doctor.checks import (
    addresses,
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
    taken.CHECK,
    addresses.CHECK,
)
"""Every check, in the order of the table."""


def diagnose(
    deployment: DeploymentSpec, account: Account, heard: Callable[[Answer], None] = lambda _answer: None
) -> list[Finding]:
    """Return what an account lacks for a deployment, and what it has.

    Reads only. One call that is refused leaves the others; without credentials nothing is sent, and every finding is
    ``not asked``.

    Args:
        deployment: The deployment.
        account: The account, in the deployment's Region.
        heard: Told each answer when it has come, in the thread that asked. Default - nobody is told.
    """
    first = [call for check in CHECKS for call in check.calls(deployment)]
    answers = Answers(account.ask_all(first, heard))
    second = [call for check in CHECKS for call in check.then(deployment, answers) if call not in answers.said]
    answers = Answers({**answers.said, **account.ask_all(second, heard)})
    return [finding for check in CHECKS for finding in check.findings(deployment, answers)]


def policy(checks: Iterable[Check] = CHECKS) -> dict[str, Any]:
    """Return the IAM policy that asking needs: readings of everything, as most of them know no narrower resource.

    Args:
        checks: The checks. Default: all.
    """
    actions = sorted({action for check in checks for action in check.permissions})
    statement = {"Sid": "TrainyardDoctor", "Effect": "Allow", "Action": actions, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}
