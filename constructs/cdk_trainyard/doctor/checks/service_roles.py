"""Service-linked roles, which most services make when they are first used, and some use before they are there."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, Answers, Check
from cdk_trainyard.doctor.checks.bootstrap import version
from cdk_trainyard.doctor.checks.deployer import ALLOWED, depends_on, simulated, worker_of
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.quotas.prerequisite import Prerequisite

NAME: Final = "service role"
_PATH: Final = "/aws-service-role/"
"""Of every service-linked role, then its service. Source: IAM user guide, "Create a service-linked role"."""
ROLES: Final = Call("iam", "ListRoles", {"PathPrefix": _PATH})
_OPTION: Final = "create-service-linked-role --aws-service-name "
_MAKES: Final = "iam:CreateServiceLinkedRole"
_SERVICE: Final = "iam:AWSServiceName"
"""The condition key by which policies allow roles of some services. Source: Service Authorization Reference, IAM."""


def _wanted(deployment: DeploymentSpec) -> Iterator[tuple[str, Prerequisite]]:
    """Yield the services whose roles the deployment needs."""
    for each in deployment_needs(deployment).prerequisites:
        _, found, service = each.command.partition(_OPTION)
        if found:
            yield service, each


def _is_there(answers: Answers, service: str) -> bool:
    return f"{_PATH}{service}/" in {str(row["Path"]) for row in answers.items(ROLES, "Roles")}


def _may_make(deployment: DeploymentSpec, answers: Answers, service: str, role: str) -> Call:
    arn = f"arn:{answers.partition}:iam::{answers.account}:role{_PATH}{service}/{role}"
    return simulated(worker_of(deployment, answers), [_MAKES], [arn], {_SERVICE: service})


def calls(_deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the service-linked roles of the account, and who asks."""
    yield ROLES
    yield IDENTITY


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield whether who deploys may have those made that are not there and that their services make."""
    yield version(answers)
    if version(answers) in answers.said and worker_of(deployment, answers) and not answers.refused([ROLES]):
        for service, each in _wanted(deployment):
            if each.made_by and not _is_there(answers, service):
                yield _may_make(deployment, answers, service, each.role)


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether those roles are there that the deployment's services need, or will be."""
    for service, each in _wanted(deployment):
        words = f"the service-linked role of {service}"
        if refused := answers.refused([ROLES]):
            yield unanswered(NAME, words, refused)
        elif _is_there(answers, service):
            yield Finding(check=NAME, needed=words, has="it is there", verdict=Verdict.OK, call=ROLES)
        else:
            yield _missing(deployment, answers, words, service, each)


def _missing(deployment: DeploymentSpec, answers: Answers, words: str, service: str, each: Prerequisite) -> Finding:
    call, verdict, has = ROLES, Verdict.SHORT, "it is not made yet"
    if each.made_by:
        call = _may_make(deployment, answers, service, each.role)
        verdict, allowed = _allowed(answers, call)
        has = f"{has}: {each.made_by} makes it, {allowed} {_MAKES}"
    remedy = "" if verdict is Verdict.OK else each.command
    return Finding(check=NAME, needed=words, has=has, verdict=verdict, call=call, remedy=remedy)


def _allowed(answers: Answers, call: Call) -> tuple[Verdict, str]:
    """Return whether a service may make its role for who deploys."""
    row = next(iter(answers.items(call, "EvaluationResults")), None)
    principal = call.parameters["PolicySourceArn"]
    if row is None or depends_on(row):
        return Verdict.UNKNOWN, "and IAM did not say whether the deployer may"
    if row["EvalDecision"] == ALLOWED:
        return Verdict.OK, f"and {principal} may"
    return Verdict.SHORT, f"but {principal} may not"


CHECK: Final = Check(
    name=NAME,
    asks=("iam ListRoles", "sts GetCallerIdentity", "ssm GetParameter", "iam SimulatePrincipalPolicy"),
    calls=calls,
    then=then,
    findings=findings,
)
"""Service-linked roles."""
