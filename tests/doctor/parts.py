"""Accounts as a deployment needs them, and what doctor says of them."""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path

from botocore.exceptions import ClientError

from cdk_trainyard.account import Account
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.doctor import CHECKS, QUALIFIER, Finding, Verdict, diagnose
from cdk_trainyard.local import LocalAws
from tests.support import ROOT

BLOCK = (
    "arn:aws:ec2:us-west-2:123456789012:capacity-reservation/cr-0123456789abcdef0,InstanceType=p5.48xlarge,"
    "InstanceCount=16,AvailabilityZone=us-west-2a,ReservationType=capacity-block,"
    "StartDate=2027-06-01T11:30:00+00:00,EndDate=2027-06-15T11:30:00+00:00"
)
SERVICES = (
    *("autoscaling", "ecs", "elasticloadbalancing", "fsx", "hyperpod.sagemaker", "imagebuilder", "rds", "spot"),
    "ecs.application-autoscaling",
)
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})


def shipped(name: str) -> Deployment:
    return Deployment.load(ROOT / "deployments" / f"{name}.yaml")


def written(folder: Path, text: str) -> Deployment:
    path = folder / "x.yaml"
    path.write_text(text)
    return Deployment.load(path)


def changed(folder: Path, name: str, *changes: tuple[str, str]) -> Deployment:
    """A shipped deployment with other words."""
    text = (ROOT / "deployments" / f"{name}.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return written(folder, text)


def raise_quotas(aws: LocalAws, deployment: Deployment) -> None:
    """Set the quotas of an account to what a deployment needs, and a little more."""
    for need in deployment_needs(deployment).quotas:
        aws.set_quota(need.quota.service, need.quota.name, need.amount + 5, deployment.region)


def put_right(aws: LocalAws, deployment: Deployment, *, qualifier: str = QUALIFIER) -> None:
    """Give the account what a deployment needs; again does no harm."""
    raise_quotas(aws, deployment)
    _bootstrap(aws, deployment.region, qualifier)
    for service in SERVICES:
        with suppress(ClientError):
            aws.client("iam").create_service_linked_role(AWSServiceName=f"{service}.amazonaws.com")
    document = deployment.document
    assert document
    arns = [text for text in document.sources.values() if text.startswith("arn:")]
    for arn in [*arns, *([BLOCK] if "cr-0123456789abcdef0" in document.sources.values() else [])]:
        with suppress(ValueError, ClientError):
            aws.add_existing(arn)


def _bootstrap(aws: LocalAws, region: str, qualifier: str) -> None:
    """What ``cdk bootstrap`` leaves behind, as far as doctor looks."""
    aws.client("ssm", region).put_parameter(
        Name=f"/cdk-bootstrap/{qualifier}/version", Value="30", Type="String", Overwrite=True
    )
    with suppress(ClientError):
        aws.client("s3", "us-east-1").create_bucket(Bucket=f"cdk-{qualifier}-assets-{aws.account}-{region}")
    name, iam = f"cdk-{qualifier}-cfn-exec-role-{aws.account}-{region}", aws.client("iam")
    with suppress(ClientError):
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)
        iam.attach_role_policy(RoleName=name, PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")


@cache
def _account(region: str, _endpoint: str) -> Account:
    """Clients are made once: of eight services that takes a second."""
    return Account(region)


def asked(aws: LocalAws, deployment: Deployment, *names: str, qualifier: str = QUALIFIER) -> list[Finding]:
    """What checks of some names find, or all."""
    checks = [check for check in CHECKS if not names or check.name in names]
    return diagnose(deployment, _account(deployment.region, aws.endpoint), qualifier=qualifier, checks=checks)


def wrong(found: list[Finding]) -> list[tuple[str, str, str]]:
    """What is not ok: its check, verdict and what the account has."""
    bad = [each for each in found if each.verdict is not Verdict.OK]
    return [(each.check, each.verdict, f"{each.needed}: {each.has}") for each in bad]


def of(found: list[Finding], check: str, words: str = "") -> Finding:
    """The only finding of a check that says some words."""
    (one,) = (each for each in found if each.check == check and words in each.needed)
    return one


def one(aws: LocalAws, deployment: Deployment, check: str, words: str = "", *, qualifier: str = QUALIFIER) -> Finding:
    """The only finding of a check that says some words, where that check alone is asked for."""
    return of(asked(aws, deployment, check, qualifier=qualifier), check, words)
