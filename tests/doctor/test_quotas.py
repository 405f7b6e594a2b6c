"""Quotas: by name, beside what is in use, and never ok where the account did not say."""

import pytest

from cdk_trainyard.account import Account
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.doctor import Verdict, diagnose
from cdk_trainyard.local import Fault, LocalAws
from tests.doctor.parts import asked, one, put_right, shipped
from tests.support import DEPLOYMENTS

TRAINIUM = "ml.trn1.32xlarge for cluster usage"
LLAMA = shipped("hyperpod-trn1-llama2")


@pytest.fixture(scope="module", autouse=True)
def _right(here: LocalAws) -> None:
    put_right(here, LLAMA)


@pytest.mark.parametrize("name", [path.stem for path in DEPLOYMENTS])
def test_every_quota_of_a_deployment_may_be_short(here: LocalAws, name: str) -> None:
    deployment = shipped(name)
    needs = deployment_needs(deployment).quotas
    for need in needs:
        here.set_quota(need.quota.service, need.quota.name, need.amount - 1, deployment.region)
    found = asked(here, deployment, "quota")
    assert [each.verdict for each in found] == [Verdict.SHORT] * len(needs)
    for finding, need in zip(found, needs, strict=True):
        assert finding.remedy.startswith("aws service-quotas request-service-quota-increase --service-code")
        used = 0 if " in use" not in finding.has else int(finding.has.split(", ")[-1].split()[0].replace(",", ""))
        assert f"--desired-value {need.amount + used} --region {deployment.region}" in finding.remedy
    put_right(here, deployment)


def test_a_request_that_is_open_is_waited_for(here: LocalAws) -> None:
    here.set_quota("sagemaker", TRAINIUM, 3)
    quotas = here.client("service-quotas")
    pages = quotas.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker").build_full_result()
    (code,) = (row["QuotaCode"] for row in pages["Quotas"] if row["QuotaName"] == TRAINIUM)
    quotas.request_service_quota_increase(ServiceCode="sagemaker", QuotaCode=code, DesiredValue=4)
    finding = one(here, LLAMA, "quota", TRAINIUM)
    assert (finding.verdict, finding.remedy) == (Verdict.SHORT, "wait: 4 have been asked for, PENDING")
    put_right(here, LLAMA)


def test_a_quota_that_aws_does_not_name_is_unknown(here: LocalAws) -> None:
    deployment = shipped("parallelcluster-trn1")
    here.reset()
    finding = one(here, deployment, "quota", "Running On-Demand Trn instances")
    assert (finding.verdict, finding.has) == (Verdict.UNKNOWN, "Service Quotas has none of this name in us-west-2")
    put_right(here, LLAMA)


def test_one_call_that_is_refused_leaves_the_others(here: LocalAws) -> None:
    denied = Fault(call="fsx DescribeFileSystems", code="AccessDeniedException", message="not you")
    with here.faults(denied):
        found = asked(here, LLAMA)
    unknown = [each for each in found if each.verdict is Verdict.UNKNOWN]
    assert [each.remedy for each in unknown] == ["allow fsx:DescribeFileSystems"] * 2
    assert all("what is in use: not allowed: not you" in each.has for each in unknown)
    assert {each.verdict for each in found if each.check == "quota"} == {Verdict.OK, Verdict.UNKNOWN}


def test_throttling_and_empty_pages_change_nothing(here: LocalAws) -> None:
    usual = asked(here, LLAMA)
    account = Account("us-west-2", session=here.session)
    bad_day = (
        Fault(call="service-quotas ListServiceQuotas", code="ThrottlingException", times=2),
        Fault(call="service-quotas List*", empty_first=True),
    )
    with here.faults(*bad_day):
        assert diagnose(LLAMA, account) == usual


def test_what_the_deployment_has_made_is_not_counted_twice(here: LocalAws) -> None:
    region = LLAMA.region
    usual = one(here, LLAMA, "quota", "VPCs per Region").has
    block = '{"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.77.0.0/16"}}'
    stacks = here.client("cloudformation", region)
    template = f'{{"Resources": {{"Vpc": {block}}}}}'
    stacks.create_stack(StackName=f"{LLAMA.name}-network", TemplateBody=template)
    assert one(here, LLAMA, "quota", "VPCs per Region").has == usual
    stacks.create_stack(StackName="others", TemplateBody=template)
    assert one(here, LLAMA, "quota", "VPCs per Region").has != usual
    for name in ("others", f"{LLAMA.name}-network"):
        stacks.delete_stack(StackName=name)
