"""Service-linked roles, which some services make themselves and use before they are there."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered

NAME: Final = "service role"
_PATH: Final = "/aws-service-role/"
"""Of every service-linked role, then its service. Source: IAM user guide, "Create a service-linked role"."""
ROLES: Final = Call("iam", "ListRoles", {"PathPrefix": _PATH})
_OPTION: Final = "create-service-linked-role --aws-service-name "


def calls(_deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the service-linked roles of the account."""
    yield ROLES


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether those roles are there that the deployment's services need."""
    paths = {str(row["Path"]) for row in answers.items(ROLES, "Roles")}
    for each in deployment_needs(deployment).prerequisites:
        _, found, service = each.command.partition(_OPTION)
        if not found:
            continue
        words = f"the service-linked role of {service}"
        if refused := answers.refused([ROLES]):
            yield unanswered(NAME, words, refused)
            continue
        there = f"{_PATH}{service}/" in paths
        yield Finding(
            check=NAME,
            needed=words,
            has="it is there" if there else "it is not made yet",
            verdict=Verdict.OK if there else Verdict.SHORT,
            call=ROLES,
            remedy="" if there else each.command,
        )


CHECK: Final = Check(name=NAME, asks=("iam ListRoles",), calls=calls, findings=findings)
"""Service-linked roles."""
