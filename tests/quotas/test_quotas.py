"""Quotas by name: of which market and family, how much, and what asks for it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS

from cdk_trainyard.data_files import load
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.quotas import Market, Needs, Quota, QuotaNeed, hyperpod_needs, instance_needs, most_of
from cdk_trainyard.quotas.instances import instance_quota
from cdk_trainyard.quotas.prerequisite import prerequisites

QUOTAS = load("quotas", "quotas")
TYPES = [InstanceType.of(name) for name in load("instances", "instance_types")["types"]]


# ---------------------------------------------------------------- the data
@pytest.mark.parametrize("key", QUOTAS["quotas"])
def test_a_row_has_a_name_a_unit_a_source_and_a_code_of_the_right_form(key: str) -> None:
    row = dict(zip(QUOTAS["columns"], QUOTAS["quotas"][key], strict=True))
    assert row["name"] == row["name"].strip() != ""
    assert row["unit"]
    assert QUOTAS["sources"][row["source"]]
    assert row["code"] is None or re.fullmatch(r"L-[0-9A-F]{8}", row["code"])


def test_no_two_rows_are_one_quota() -> None:
    codes = [row[2] for row in QUOTAS["quotas"].values() if row[2]]
    assert len(codes) == len(set(codes))
    names = [tuple(row[:2]) for row in QUOTAS["quotas"].values()]
    assert len(names) == len(set(names))


def test_quotas_of_vpc_are_those_of_awss_own_answer() -> None:
    """A second source: the answer of list-aws-default-service-quotas that moto holds."""
    answered = {quota["QuotaName"]: (quota["QuotaCode"], quota["Value"]) for quota in VPC_DEFAULT_QUOTAS}
    ours = {row[1]: (row[2], row[4]) for row in QUOTAS["quotas"].values() if row[0] == "vpc"}
    assert len(ours) >= 6
    assert ours == {name: answered[name] for name in ours}


def test_names_and_codes_have_a_second_source() -> None:
    """Each from somebody else's page or answer; of VPC moto holds AWS's own, above."""
    second = json.loads((Path(__file__).parent / "second_source.json").read_text())
    assert {row[3] for row in second["quotas"]} <= second["sources"].keys()
    theirs = {name: (code, value) for name, code, value, _source in second["quotas"]}
    ours = {row[1]: (row[2], row[4]) for row in QUOTAS["quotas"].values() if row[0] != "vpc"}
    assert ours.keys() == theirs.keys()
    differ = {
        name: (pair, theirs[name])
        for name, pair in ours.items()
        if any(mine != other for mine, other in zip(pair, theirs[name], strict=True) if None not in {mine, other})
    }
    assert differ == {}


def test_every_type_that_is_sold_on_demand_has_a_named_quota() -> None:
    sold = [kind for kind in TYPES if "on-demand" in kind.usage_classes and not kind.family.startswith("mac")]
    assert len(sold) > 1000
    unnamed = {kind.family for kind in sold if "not known" in str(instance_quota(kind, Market.ON_DEMAND))}
    assert unnamed == set()


def test_spot_quotas_that_are_not_known_are_these() -> None:
    sold = [kind for kind in TYPES if "spot" in kind.usage_classes]
    unnamed = {kind.family for kind in sold if "not known" in str(instance_quota(kind, Market.SPOT))}
    assert all(re.match(r"p6|hpc|u", family) for family in unnamed), unnamed


@pytest.mark.parametrize("key", [key for key in load("quotas", "prerequisites") if key not in {"captured", "note"}])
def test_a_prerequisite_says_what_by_which_command_and_who_says_so(key: str) -> None:
    row = load("quotas", "prerequisites")[key]
    assert set(row) - {"role", "made_by"} == {"what", "command", "source"}
    assert ("role" in row) == ("made_by" in row)
    assert row["command"].startswith(("aws ", "cdk "))


# ---------------------------------------------------------------- instances
@pytest.mark.parametrize(
    ("name", "market", "quota", "vcpus"),
    [
        ("trn1.32xlarge", Market.ON_DEMAND, "Running On-Demand Trn instances", 256),
        ("trn1.32xlarge", Market.SPOT, "All Trn Spot Instance Requests", 256),
        ("p4d.24xlarge", Market.SPOT, "All P4, P3 and P2 Spot Instance Requests", 192),
        ("p5en.48xlarge", Market.SPOT, "All P5 Spot Instance Requests", 384),
        ("inf2.24xlarge", Market.ON_DEMAND, "Running On-Demand Inf instances", 192),
        ("i4i.large", Market.ON_DEMAND, "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 4),
        ("im4gn.large", Market.ON_DEMAND, "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 4),
        ("c5.xlarge", Market.SPOT, "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", 8),
        ("dl2q.24xlarge", Market.ON_DEMAND, "Running On-Demand DL instances", 192),
        ("hpc7a.96xlarge", Market.ON_DEMAND, "Running On-Demand HPC instances", 384),
    ],
)
def test_two_instances_count_their_vcpus_against_the_quota_of_family_and_market(
    name: str, market: Market, quota: str, vcpus: int
) -> None:
    need = instance_needs(InstanceType.of(name), 2, market).quotas[0]
    assert (need.quota.name, need.amount, need.quota.unit) == (quota, vcpus, "vCPUs")


def test_instances_of_a_capacity_block_count_against_no_quota_of_running_instances() -> None:
    """EC2 user guide, Capacity Blocks for ML: they don't count against the On-Demand Instances limits."""
    needs = instance_needs(InstanceType.of("p5.48xlarge"), 16, Market.RESERVED)
    assert {need.quota.service for need in needs.quotas} == {"vpc"}
    assert needs.services == {"capacity-block"}


def test_spot_needs_its_service_linked_role() -> None:
    needs = instance_needs(InstanceType.of("c5.xlarge"), 1, Market.SPOT)
    assert "--aws-service-name spot.amazonaws.com" in needs.prerequisites_text


@pytest.mark.parametrize(("name", "each"), [("trn1.32xlarge", 8), ("c5.xlarge", 1)])
def test_an_interface_stands_on_each_card_of_a_type_with_efa(name: str, each: int) -> None:
    interfaces = instance_needs(InstanceType.of(name), 3).quotas[-1]
    assert (interfaces.quota.name, interfaces.amount) == ("Network interfaces per Region", 3 * each)


@pytest.mark.parametrize(
    ("market", "names"),
    [
        (Market.ON_DEMAND, ["ml.trn1.32xlarge for cluster usage"]),
        (
            Market.SPOT,
            [
                "ml.trn1.32xlarge for cluster spot instance usage",
                "Total number of Spot instances allowed across SageMaker HyperPod clusters",
            ],
        ),
        (
            Market.RESERVED,
            ["Number of ml.trn1.32xlarge instances in reserved capacity across training plans per Region"],
        ),
    ],
)
def test_hyperpod_counts_instances_by_type_and_all_of_them(market: Market, names: list[str]) -> None:
    needs = hyperpod_needs(InstanceType.of("ml.trn1.32xlarge"), 4, market)
    sagemaker = [need for need in needs.quotas if need.quota.service == "sagemaker"]
    assert [need.quota.name for need in sagemaker] == [
        *names,
        "Total number of instances allowed across SageMaker HyperPod clusters",
        "Maximum number instances allowed per SageMaker HyperPod cluster",
    ]
    assert {need.amount for need in sagemaker} == {4}
    assert "hyperpod" in needs.services


# ---------------------------------------------------------------- together
def test_needs_add_up_and_alternatives_do_not() -> None:
    small, large = (instance_needs(InstanceType.of(name), 1) for name in ("c5.xlarge", "c5.2xlarge"))
    assert (small + large).quotas[0].amount == 12
    assert most_of([small, large]).quotas[0].amount == 8
    assert sum([small, large], Needs()) == small + large


def test_what_a_new_account_lacks_is_said_first() -> None:
    lacks = QuotaNeed.of("builds-2xlarge")
    needs = Needs((QuotaNeed.of("vpcs"), lacks))
    assert lacks.exceeds_first
    assert needs.quotas_text.startswith("codebuild 'Concurrently running builds for Linux/2XLarge environment'")


def test_a_value_that_is_not_known_may_be_too_small() -> None:
    assert QuotaNeed(replace(Quota.of("vpcs"), first=None), 1).exceeds_first
    assert not QuotaNeed.of("vpcs", 5).exceeds_first
    assert QuotaNeed.of("vpcs", 6).exceeds_first


def test_the_request_names_the_code_or_looks_for_the_name() -> None:
    assert QuotaNeed.of("on-demand-p", 768).request_command("us-west-2") == (
        "aws service-quotas request-service-quota-increase --service-code ec2 "
        "--quota-code L-417A185B --desired-value 768 --region us-west-2"
    )
    assert QuotaNeed.of("hyperpod-nodes", 4, type="p5.48xlarge").request_command("us-west-2") == (
        "aws service-quotas list-service-quotas --service-code sagemaker --region us-west-2 "
        "--query \"Quotas[?QuotaName=='ml.p5.48xlarge for cluster usage'].[QuotaCode,Value]\""
    )


def test_every_deployment_needs_the_bootstrap_and_an_unknown_service_is_refused() -> None:
    assert [each.command for each in prerequisites([])] == ["cdk bootstrap"]
    with pytest.raises(KeyError, match="ecz"):
        prerequisites(["ecz"])
