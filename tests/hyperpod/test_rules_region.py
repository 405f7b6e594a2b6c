"""Regions without HyperPod clusters, and types that a Region does not have; what sources disagree about is taken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from cdk_trainyard import ConfigurationError
from cdk_trainyard.data_files import load
from cdk_trainyard.hyperpod import HyperPodCluster
from cdk_trainyard.instances import hyperpod_type_names
from cdk_trainyard.review.engine import diagnostics, start_engine
from tests.deployment.good_file import edited, problems_of
from tests.hyperpod.parts import ACCOUNT, controller, worker
from tools import generate_hyperpod_regions

DATA = load("hyperpod", "regions")
WHERE = "must be a Region where CloudFormation makes HyperPod clusters (as of 2026-10-20)"
HAS = "must be a type that HyperPod has in us-west-2 (as of 2026-10-20)"
PLAN = "a plan may reserve it, give its 'training_plan_arn'"


def cluster(region: str, **changes: Any) -> HyperPodCluster:
    stack = Stack(App(), "Stack", env=Environment(account=ACCOUNT, region=region))
    return HyperPodCluster(stack, "Cluster", groups=[controller(), worker(**changes)])


@pytest.mark.parametrize(
    ("region", "zone", "remedy"),
    [
        ("me-central-1", "mec1-az1", "use ap-northeast-1, ap-northeast-2, "),
        ("eu-west-3", "euw3-az1", "use eu-central-1, eu-north-1, eu-south-2, "),
        ("cn-north-1", "cnn1-az1", "it does in none of the partition aws-cn; use ParallelCluster or a fleet"),
        ("us-gov-west-1", "usgw1-az1", "it does in none of the partition aws-us-gov; use ParallelCluster or a fleet"),
    ],
)
def test_a_region_without_clusters_is_refused(
    write: Callable[[str], Path], region: str, zone: str, remedy: str
) -> None:
    found = problems_of(write(edited(("us-east-1", region), ("use1-az4", zone), ("trn1.32xlarge", "p5.48xlarge"))))
    assert [each for each in found if each.startswith(f"2:9: 'region' {WHERE}, got '{region}'; {remedy}")], found


@pytest.mark.parametrize(("region", "zone"), [("sa-west-1", "saw1-az1"), ("me-west-1", "me-west-1a")])
def test_a_region_that_has_a_name_before_its_zones_are_known_is_taken(
    write: Callable[[str], Path], region: str, zone: str
) -> None:
    assert problems_of(write(edited(("us-east-1", region), ("use1-az4", zone), ("trn1.32xlarge", "p5.48xlarge")))) == []


def test_a_construct_says_it_too() -> None:
    with pytest.raises(ConfigurationError, match="'region' must be a Region where CloudFormation makes HyperPod"):
        cluster("af-south-1")


@pytest.mark.parametrize("region", ["us-iso-east-1", "eu-isoe-west-1", "me-south-1", "us-northwest-7"])
def test_a_region_of_which_nothing_is_known_passes(region: str) -> None:
    cluster(region, instance_type="ml.c5.4xlarge")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"instance_type": "trn2.48xlarge"},
            f"type' {HAS}, got 'trn2.48xlarge'; it is in ap-south-2 or us-east-2; {PLAN}",
        ),
        ({"instance_types": ["ml.trn2.48xlarge"]}, f"types' {HAS}, got 'ml.trn2.48xlarge'; it is in"),
        (
            {"instance_type": "ml.p6e-gb200.36xlarge", "interface_type": "efa-only"},
            f"type' {HAS}, got 'ml.p6e-gb200.36xlarge'; {PLAN}",
        ),
    ],
)
def test_a_type_that_the_region_does_not_have_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        cluster("us-west-2", **changes)
    assert f"'groups.worker-group.instance_{says}" in str(raised.value)


@pytest.mark.parametrize(
    ("region", "changes"),
    [
        ("us-west-2", {"instance_type": "ml.m6i.4xlarge"}),  # EC2 has it, the price list has not
        ("ap-northeast-1", {"instance_type": "ml.trn1.32xlarge"}),  # the price list has it, EC2 has not
        ("us-west-2", {"instance_types": ["ml.trn2.48xlarge", "ml.trn1.32xlarge"]}),  # one of them will come
        (
            "us-west-2",
            {
                "instance_type": "ml.trn2.48xlarge",
                "training_plan_arn": f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/p",
            },
        ),
    ],
    ids=str,
)
def test_what_one_source_has_is_taken(region: str, changes: dict[str, Any]) -> None:
    cluster(region, **changes)


@pytest.mark.parametrize(("name", "acknowledged"), [("ml.m6i.4xlarge", True), ("ml.m6i.2xlarge", False)])
def test_what_the_price_list_lacks_is_acknowledged(name: str, *, acknowledged: bool) -> None:
    template = Template.from_stack(Stack.of(cluster("us-west-2", instance_type=name))).to_json()
    assert ("E3644" in json.dumps(template)) is acknowledged


def test_the_regions_are_those_of_the_installed_schemas() -> None:
    assert generate_hyperpod_regions.OUTPUT.read_text() == generate_hyperpod_regions.text()


@pytest.mark.review
def test_the_template_validation_says_the_same(tmp_path: Path) -> None:
    rules, names = start_engine(), hyperpod_type_names()
    groups = [{"InstanceGroupName": name.replace(".", "-"), "InstanceType": name} for name in names]
    properties = {"ClusterName": "one", "InstanceGroups": groups}
    template = {"Resources": {"Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}}
    path = tmp_path / "template.json"
    path.write_text(json.dumps(template))
    for region in [*DATA["with"], *DATA["without"]]:
        found = [each for each in diagnostics(rules, str(path), region) if each.rule_id in {"F3006", "E3644"}]
        priced = {name for row in DATA["prices"] if region in row["regions"] for name in row["types"]}
        said = {str(each.message).split("'")[1] for each in found if each.rule_id == "E3644"}
        assert any(each.rule_id == "F3006" for each in found) == (region in DATA["without"])
        if region in DATA["with"]:
            assert said == (set(names) - priced if priced else set())
