"""Who asks: the right account, with credentials that work."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, Answers, Check, place
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered

NAME: Final = "account"
REGION: Final = Call("ec2", "DescribeAvailabilityZones")
_REFUSED_REGION: Final = ("AuthFailure", "OptInRequired", "UnrecognizedClientException")


def calls(_deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield who asks, and whether the Region is there for them."""
    yield IDENTITY
    yield REGION


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether it is the account of the file, and whether the Region is there for it."""
    yield _account(deployment, answers)
    words, at = f"the Region {deployment.region}", place(deployment, "region")
    refused = answers.refused([REGION])
    if refused is None:
        yield Finding(check=NAME, needed=words, has="it answers", verdict=Verdict.OK, call=REGION, at=at)
    elif answers.account and refused.refusal and refused.refusal.code in _REFUSED_REGION:
        remedy = Call("account", "EnableRegion", {"RegionName": deployment.region}).command(deployment.region)
        has = f"the account may not use it: {refused.refusal.text}"
        yield Finding(check=NAME, needed=words, has=has, verdict=Verdict.SHORT, call=REGION, remedy=remedy, at=at)
    else:
        yield unanswered(NAME, words, refused, at)


def _account(deployment: DeploymentSpec, answers: Answers) -> Finding:
    wanted = deployment.account
    at = place(deployment, "account") if wanted else ""
    words = f"the account {wanted}" if wanted else "an account"
    if refused := answers.refused([IDENTITY]):
        return unanswered(NAME, words, refused, at)
    right = wanted in {None, answers.account}
    return Finding(
        check=NAME,
        needed=words,
        has=f"{answers.account}, as {answers.caller}",
        verdict=Verdict.OK if right else Verdict.SHORT,
        call=IDENTITY,
        remedy="" if right else f"AWS_PROFILE of {wanted}, or account: {answers.account!r} in the file",
        at=at,
    )


CHECK: Final = Check(
    name=NAME,
    asks=("sts GetCallerIdentity", "ec2 DescribeAvailabilityZones"),
    calls=calls,
    findings=findings,
)
"""Who asks. It is first: nothing else is right in the wrong account."""
