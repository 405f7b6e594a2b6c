"""Accounts as a deployment needs them, and what doctor says of them."""

from functools import cache
from pathlib import Path

from cdk_trainyard.account import Account
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.doctor import Finding, Verdict, diagnose
from cdk_trainyard.local import LocalAws
from tests.support import ROOT


def shipped(name: str) -> Deployment:
    return Deployment.load(ROOT / "deployments" / f"{name}.yaml")


def put_right(aws: LocalAws, deployment: Deployment) -> None:
    """Give the account what a deployment needs."""
    for need in deployment_needs(deployment).quotas:
        aws.set_quota(need.quota.service, need.quota.name, need.amount + 5, deployment.region)


@cache
def _account(region: str, _endpoint: str) -> Account:
    """Clients are made once: of eight services that takes a second."""
    return Account(region)


def asked(aws: LocalAws, deployment: Deployment) -> list[Finding]:
    return diagnose(deployment, _account(deployment.region, aws.endpoint))


def wrong(found: list[Finding]) -> list[tuple[str, str, str]]:
    """What is not ok: its check, verdict and what the account has."""
    return [
        (each.check, each.verdict, f"{each.needed}: {each.has}") for each in found if each.verdict is not Verdict.OK
    ]


def of(found: list[Finding], check: str, words: str = "") -> Finding:
    """The only finding of a check that says some words."""
    (one,) = (each for each in found if each.check == check and words in each.needed)
    return one


def written(folder: Path, text: str) -> Deployment:
    path = folder / "x.yaml"
    path.write_text(text)
    return Deployment.load(path)
