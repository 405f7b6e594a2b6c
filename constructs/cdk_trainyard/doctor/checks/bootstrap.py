"""What the cdk CLI needs once in an account and Region: the bootstrap stack's version, bucket and role."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, QUALIFIER, Answers, Check
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered

NAME: Final = "bootstrap"
LEAST: Final = 6
"""The oldest version that CDK's default synthesizer takes. Source: aws-cdk-lib, ``MIN_BOOTSTRAP_STACK_VERSION`` of
``stack-synthesizers/default-synthesizer``."""


def version(answers: Answers) -> Call:
    """Return the call that tells whether the account is bootstrapped.

    Args:
        answers: What was said.
    """
    return Call("ssm", "GetParameter", {"Name": f"/cdk-bootstrap/{answers.qualifier}/version"})


def role_name(deployment: DeploymentSpec, answers: Answers, kind: str = "cfn-exec") -> str:
    """Return the name of a role of the bootstrap.

    Args:
        deployment: The deployment.
        answers: What was said.
        kind: Which. Default: with which CloudFormation makes the stacks' resources.
    """
    return f"cdk-{answers.qualifier}-{kind}-role-{answers.account}-{deployment.region}"


def _bucket(deployment: DeploymentSpec, answers: Answers) -> Call:
    name = f"cdk-{answers.qualifier}-assets-{answers.account}-{deployment.region}"
    return Call("s3", "HeadBucket", {"Bucket": name})


def _role(deployment: DeploymentSpec, answers: Answers) -> Call:
    return Call("iam", "GetRole", {"RoleName": role_name(deployment, answers)})


def calls(_deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield who asks."""
    yield IDENTITY


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield the version; bucket and role, whose names have the account's number."""
    yield version(answers)
    if answers.account and not answers[version(answers)].refusal:
        yield _bucket(deployment, answers)
        yield _role(deployment, answers)


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether the account is bootstrapped."""
    call = version(answers)
    own = "" if answers.qualifier == QUALIFIER else f" --qualifier {answers.qualifier}"
    # a stack of its own, or it would take the place of the bootstrap that others use
    command = f"cdk bootstrap{own}" + (own and f" --toolkit-stack-name CDKToolkit-{answers.qualifier}")
    words = f"cdk bootstrap{own}, version {LEAST} or newer"
    if refused := answers.refused([call]):
        yield unanswered(NAME, words, refused)
        return
    where = f"aws://{answers.account or deployment.account or 'ACCOUNT'}/{deployment.region}"
    found = answers[call].value.get("Parameter", {}).get("Value", "0")
    right = not answers[call].absent and int(found) >= LEAST
    has = "it is not bootstrapped" if answers[call].absent else f"version {found}"
    verdict = Verdict.OK if right else Verdict.SHORT
    remedy = "" if right else f"{command} {where}"
    yield Finding(check=NAME, needed=words, has=has, verdict=verdict, call=call, remedy=remedy)
    if right and answers.account:
        for words, call in (("its bucket", _bucket(deployment, answers)), ("its role", _role(deployment, answers))):
            yield _there(answers, words, call, f"{command} --force {where}")


def _there(answers: Answers, words: str, call: Call, remedy: str) -> Finding:
    named = f"{words} {next(iter(call.parameters.values()))}"
    if refused := answers.refused([call]):
        return unanswered(NAME, named, refused)
    gone = answers[call].absent
    return Finding(
        check=NAME,
        needed=named,
        has="it is gone" if gone else "it is there",
        verdict=Verdict.SHORT if gone else Verdict.OK,
        call=call,
        remedy=remedy if gone else "",
    )


CHECK: Final = Check(
    name=NAME,
    asks=("sts GetCallerIdentity", "ssm GetParameter", "s3 HeadBucket", "iam GetRole"),
    calls=calls,
    then=then,
    findings=findings,
)
"""CDK's bootstrap."""
