"""What it costs at least, and what is not priced."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.report import review
from cdk_trainyard.report.cost import NOT_PRICED, Prices

SOURCE = {"title": "a contract", "date": "2026-01-02"}
OWN = {"date": "2026-01-02", "sources": {"own": SOURCE}, "regions": {"us-west-2": {"own": {"p5.48xlarge": "10.5"}}}}


def group(kind: str, **properties: Any) -> dict[str, Any]:
    data = {"InstanceType": kind, **properties.pop("data", {})}
    template = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}}}
    return {
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "Nodes": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {**template, **properties}},
    }


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(OWN))
    return file


def test_prices_of_ones_own_are_the_sum_at_least(assembly: Any, own: Path) -> None:
    resources = group("p5.48xlarge", MinSize="2", MaxSize=4) | {"Files": {"Type": "AWS::FSx::FileSystem"}}
    found = review(assembly(S=resources), prices=own)["cost"]
    nodes, files = found["items"]
    assert (nodes["price"], nodes["quantity"], nodes["hourly"], nodes["most"]) == ("10.50", 2, "21.00", "42.00")
    assert nodes["source"] == "a contract (2026-01-02)"
    assert found["headline"] == "at least 21.00 USD an hour"
    assert (files["price"], files["is_priced"]) == (NOT_PRICED, False)
    assert found["unpriced_said"] == "not priced: FSx FileSystem"


def test_a_price_of_another_region_is_an_indication(assembly: Any) -> None:
    found = review(assembly(S=group("p5.48xlarge", DesiredCapacity="1", MaxSize="1")))["cost"]
    assert found["headline"] == "about 55.04 USD an hour"
    assert found["items"][0]["of"] == "us-east-1"
    assert "the price of us-east-1" in found["items"][0]["assumption"]


@pytest.mark.parametrize("market", ["spot", "capacity-block"])
def test_what_is_not_on_demand_is_not_priced_as_if(assembly: Any, market: str) -> None:
    data = {"InstanceMarketOptions": {"MarketType": market}}
    found = review(assembly(S=group("p5.48xlarge", DesiredCapacity="1", MaxSize="1", data=data)))["cost"]
    assert found["headline"] == NOT_PRICED
    assert found["items"][0]["assumption"] == f"paid as {market.replace('-', ' ')}, which has a price of its own"


def test_a_sum_says_which_machines_are_not_in_it(assembly: Any) -> None:
    instance = {"Type": "AWS::EC2::Instance", "Properties": {"InstanceType": "z9.mega"}}
    found = review(assembly(S=group("p5.48xlarge", DesiredCapacity="1", MaxSize="1") | {"Odd": instance}))["cost"]
    assert found["headline"] == "about 55.04 USD an hour without z9.mega"


def test_an_unknown_type_is_not_free(assembly: Any) -> None:
    found = review(assembly(S=group("z9.mega", DesiredCapacity="1", MaxSize="1")))["cost"]
    assert (found["headline"], found["items"][0]["hourly"]) == (NOT_PRICED, NOT_PRICED)


def test_every_shipped_price_has_a_dated_source() -> None:
    shipped = json.loads((Path(review.__code__.co_filename).parent / "data" / "prices.json").read_text())
    for source in shipped["sources"].values():
        assert date.fromisoformat(source["date"]) >= date(2026, 9, 24)
        assert len(source["title"]) > 40
    prices = Prices()
    for sources in shipped["regions"].values():
        for items in sources.values():
            assert all(Decimal(usd) > 0 for usd in items.values())
    found = prices.of("p5.48xlarge", "us-east-1")
    assert found
    assert found.usd == Decimal("55.04")
    sagemaker = prices.of("ml.p5.48xlarge", "us-east-1")
    assert sagemaker
    assert sagemaker.usd / found.usd == Decimal("1.15")  # as for every type of both files


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("nothing", "is no JSON"),
        ("{}", "is no file of prices"),
        ('{"regions": {"r": {"x": {"a": "1"}}}, "sources": {}}', "is no file of prices"),
        (
            '{"regions": {"r": {"x": {"a": "cheap"}}}, "sources": {"x": {"title": "", "date": ""}}}',
            "is no file of prices",
        ),
    ],
)
def test_a_file_that_is_no_price_list_is_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(ConfigurationError, match=said):
        Prices(tmp_path / "p.json")


def hyperpod(**group: Any) -> dict[str, Any]:
    return {"C": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}}}


def parallelcluster(**compute: Any) -> dict[str, Any]:
    queue = {"Name": "q", "ComputeResources": [{"Name": "c", "InstanceType": "trn1.32xlarge", **compute}]}
    config = {"HeadNode": {"InstanceType": "c5.xlarge"}, "Scheduling": {"SlurmQueues": [queue]}}
    return {"C": {"Type": "Custom::PclusterCluster", "Properties": {"ClusterConfiguration": config}}}


@pytest.mark.parametrize(
    ("resources", "machines"),
    [
        (group("x", MinSize="1", MaxSize="3"), [("", "x", 1, 3, "on demand")]),
        (hyperpod(InstanceGroupName="g", InstanceType="ml.x", InstanceCount=4), [("g", "ml.x", 4, 4, "on demand")]),
        (
            hyperpod(InstanceGroupName="g", InstanceType="ml.x", TrainingPlanArn="a"),
            [("g", "ml.x", 0, 0, "a training plan")],
        ),
        (
            parallelcluster(MinCount=2),
            [("head node", "c5.xlarge", 1, 1, "on demand"), ("q/c", "trn1.32xlarge", 2, 10, "on demand")],
        ),
        (
            parallelcluster(CapacityType="SPOT", MaxCount=3),
            [("head node", "c5.xlarge", 1, 1, "on demand"), ("q/c", "trn1.32xlarge", 0, 3, "spot")],
        ),
        (
            {"I": {"Type": "AWS::EC2::Instance", "Properties": {"InstanceType": "t3.micro"}}},
            [("", "t3.micro", 1, 1, "on demand")],
        ),
    ],
)
def test_machines(assembly: Any, resources: Any, machines: list[Any]) -> None:
    found = review(assembly(S=resources))["machines"]
    assert [tuple(each[key] for key in ("name", "type", "count", "most", "paid")) for each in found] == machines
