"""Service quotas by their names: what is needed beside what is used already, and what is asked for."""

import re
from collections.abc import Iterator
from typing import Any, Final

from cdk_trainyard.account import Answer, Call
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check, own, own_calls, stack_names
from cdk_trainyard.doctor.checks.usage import CLUSTERS, Own, clusters, usage_of
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.quotas import QuotaNeed

NAME: Final = "quota"
_PAGE: Final = 100
_OPEN: Final = ("PENDING", "CASE_OPENED")


def _needs(deployment: DeploymentSpec) -> tuple[QuotaNeed, ...]:
    return deployment_needs(deployment).quotas


def _applied(service: str) -> Call:
    return Call("service-quotas", "ListServiceQuotas", {"ServiceCode": service, "MaxResults": _PAGE})


def _defaults(service: str) -> Call:
    return Call("service-quotas", "ListAWSDefaultServiceQuotas", {"ServiceCode": service, "MaxResults": _PAGE})


def _requests(service: str) -> Call:
    return Call("service-quotas", "ListRequestedServiceQuotaChangeHistory", {"ServiceCode": service})


def _services(deployment: DeploymentSpec) -> list[str]:
    return sorted({need.quota.service for need in _needs(deployment)})


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the quotas of every service that is needed, what was asked for, and what tells the used part."""
    for service in _services(deployment):
        yield _applied(service)
        yield _requests(service)
    for need in _needs(deployment):
        yield from usage_of(need.quota.name).calls
    yield from own_calls(deployment)


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield the defaults of services whose answer lacks a quota, and a description of each HyperPod cluster."""
    lacking = {need.quota.service for need in _needs(deployment) if _row(answers, _applied, need) is None}
    yield from (_defaults(service) for service in sorted(lacking) if not answers[_applied(service)].refusal)
    yield from clusters(answers)


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield what every quota of the deployment comes to."""
    mine = Own(own(deployment, answers), frozenset({*stack_names(deployment), f"{deployment.name}-cluster"}))
    for need in _needs(deployment):
        yield _finding(deployment, answers, need, mine)


def _finding(deployment: DeploymentSpec, answers: Answers, need: QuotaNeed, mine: Own) -> Finding:
    words = f"{need.amount:,} {need.quota.unit}: {need.quota.name}"
    call = _applied(need.quota.service)
    row = _row(answers, _applied, need)
    if row is None:
        call, row = _defaults(need.quota.service), _row(answers, _defaults, need)
    refused = answers.refused([_applied(need.quota.service)]) or (answers.refused([call]) if row is None else None)
    if refused:
        return unanswered(NAME, words, refused)
    if row is None:
        has = f"Service Quotas has none of this name in {deployment.region}"
        remedy = need.request_command(deployment.region)
        return Finding(check=NAME, needed=words, has=has, verdict=Verdict.UNKNOWN, call=call, remedy=remedy)
    return _judged(deployment, answers, need, mine, row, call, words)


def _judged(
    deployment: DeploymentSpec,
    answers: Answers,
    need: QuotaNeed,
    mine: Own,
    row: dict[str, Any],
    call: Call,
    words: str,
) -> Finding:
    value, usage = int(row["Value"]), usage_of(need.quota.name)
    silent = _silent(answers, usage.calls)
    used = 0 if silent else usage.count(answers, mine, need.quota.name)
    has = f"{value:,}, {used:,} in use" if usage.calls and not silent else f"{value:,}"
    if value - used < need.amount:
        request = _request(deployment, need, row, used + need.amount)
        remedy = _pending(answers, need, row, used + need.amount) or request
        return Finding(check=NAME, needed=words, has=has, verdict=Verdict.SHORT, call=call, remedy=remedy)
    if silent:
        known = unanswered(NAME, words, silent)
        return Finding(
            check=NAME,
            needed=words,
            has=f"{has}; what is in use: {known.has}",
            verdict=known.verdict,
            call=silent.call,
            remedy=known.remedy,
        )
    return Finding(check=NAME, needed=words, has=has, verdict=Verdict.OK, call=call)


def _silent(answers: Answers, asked: Any) -> Answer | None:
    """Return the first call that does not tell the used part, those that follow from it among them."""
    return answers.refused(asked) or (answers.refused(clusters(answers)) if CLUSTERS in asked else None)


def _row(answers: Answers, listed: Any, need: QuotaNeed) -> dict[str, Any] | None:
    """Find a quota by its name, in which older answers of Service Quotas write no commas."""
    wanted = _letters(need.quota.name)
    rows = answers.items(listed(need.quota.service), "Quotas")
    return next((row for row in rows if _letters(str(row.get("QuotaName"))) == wanted and "Value" in row), None)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def _request(deployment: DeploymentSpec, need: QuotaNeed, row: dict[str, Any], wanted: int) -> str:
    if row.get("Adjustable") is False:
        return f"AWS does not raise {need.quota.name!r}: ask for less, in another Region or with what is in use gone"
    parameters = {"ServiceCode": need.quota.service, "QuotaCode": row["QuotaCode"], "DesiredValue": wanted}
    return Call("service-quotas", "RequestServiceQuotaIncrease", parameters).command(deployment.region)


def _pending(answers: Answers, need: QuotaNeed, row: dict[str, Any], wanted: int) -> str:
    """Return what is to be said of a request that is open and asks for enough."""
    for request in answers.items(_requests(need.quota.service), "RequestedQuotas"):
        enough = int(request.get("DesiredValue", 0)) >= wanted
        if request.get("QuotaCode") == row["QuotaCode"] and request.get("Status") in _OPEN and enough:
            return f"wait: {int(request['DesiredValue']):,} have been asked for, {request['Status']}"
    return ""


CHECK: Final = Check(
    name=NAME,
    asks=(
        "service-quotas ListServiceQuotas",
        "service-quotas ListAWSDefaultServiceQuotas",
        "service-quotas ListRequestedServiceQuotaChangeHistory",
        "cloudformation ListStackResources",
        "ec2 DescribeInstances",
        "ec2 DescribeAddresses",
        "ec2 DescribeVpcs",
        "ec2 DescribeInternetGateways",
        "ec2 DescribeNatGateways",
        "ec2 DescribeSubnets",
        "ec2 DescribeVpcEndpoints",
        "ec2 DescribeNetworkInterfaces",
        "fsx DescribeFileSystems",
        "elbv2 DescribeLoadBalancers",
        "rds DescribeDBInstances",
        "ecs ListClusters",
        "imagebuilder ListImageRecipes",
        "imagebuilder ListInfrastructureConfigurations",
        "sagemaker ListClusters",
        "sagemaker DescribeCluster",
    ),
    calls=calls,
    then=then,
    findings=findings,
)
"""Quotas by name."""
