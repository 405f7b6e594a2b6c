"""What the cdk CLI needs once in an account and Region: the bootstrap stack's version, bucket and role."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, Answers, Check
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered

NAME: Final = "bootstrap"
QUALIFIER: Final = "hnb659fds"
"""Of the resources of ``cdk bootstrap``; an app may choose another. Source: CDK developer guide v2, "Customize CDK
bootstrapping"."""
LEAST: Final = 6
"""The oldest version that CDK's default synthesizer takes. Source: aws-cdk-lib, ``MIN_BOOTSTRAP_STACK_VERSION`` of
``stack-synthesizers/default-synthesizer``."""
VERSION: Final = Call("ssm", "GetParameter", {"Name": f"/cdk-bootstrap/{QUALIFIER}/version"})


def role_name(deployment: DeploymentSpec, answers: Answers) -> str:
    """Return the name of the role with which CloudFormation makes the stacks' resources.

    Args:
        deployment: The deployment.
        answers: What was said.
    """
    return f"cdk-{QUALIFIER}-cfn-exec-role-{answers.account}-{deployment.region}"


def _bucket(deployment: DeploymentSpec, answers: Answers) -> Call:
    return Call("s3", "HeadBucket", {"Bucket": f"cdk-{QUALIFIER}-assets-{answers.account}-{deployment.region}"})


def _role(deployment: DeploymentSpec, answers: Answers) -> Call:
    return Call("iam", "GetRole", {"RoleName": role_name(deployment, answers)})


def calls(_deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the version, and who asks."""
    yield VERSION
    yield IDENTITY


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield bucket and role, whose names have the account's number."""
    if answers.account and not answers[VERSION].refusal:
        yield _bucket(deployment, answers)
        yield _role(deployment, answers)


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether the account is bootstrapped."""
    words = f"cdk bootstrap, version {LEAST} or newer"
    if refused := answers.refused([VERSION]):
        yield unanswered(NAME, words, refused)
        return
    where = f"aws://{answers.account or deployment.account or 'ACCOUNT'}/{deployment.region}"
    found = answers[VERSION].value.get("Parameter", {}).get("Value", "0")
    right = not answers[VERSION].absent and int(found) >= LEAST
    has = "it is not bootstrapped" if answers[VERSION].absent else f"version {found}"
    verdict = Verdict.OK if right else Verdict.SHORT
    remedy = "" if right else f"cdk bootstrap {where}"
    yield Finding(check=NAME, needed=words, has=has, verdict=verdict, call=VERSION, remedy=remedy)
    if right and answers.account:
        for words, call in (("its bucket", _bucket(deployment, answers)), ("its role", _role(deployment, answers))):
            yield _there(answers, words, call, f"cdk bootstrap --force {where}")


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
