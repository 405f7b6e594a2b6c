"""What it costs at least, and what is not priced."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.report import review
from cdk_trainyard.report.cost import NOT_PRICED
from cdk_trainyard.report.prices import Prices

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
    found = review(assembly(S=resources), prices=[own])["cost"]
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
        assert date.fromisoformat(source["date"]) >= date(2026, 7, 20)
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
        ("nothing", ["is no JSON"]),
        ("[]", ["regions: is missing", "sources: is missing"]),
        ('{"regions": [], "sources": {}}', ["regions: [] is no object"]),
        (
            '{"regions": {"r": {"x": {"a": "1"}}}, "sources": {"y": {"title": "t", "date": "2026-01-02"}}}',
            ["regions.r.x: there is no source 'x'; there are y"],
        ),
        (
            """{"regions": {"r": {"x": {"a": "cheap", "b": 0, "c": true, "d": "NaN"}, "y": 1}, "s": 2},
            "sources": {"x": {"title": "", "date": "soon"}, "y": 3}}""",
            [
                "sources.x.title: '' does not say where the prices are from",
                "sources.x.date: 'soon' is no date, as 2026-09-24 is one",
                "sources.y.title: None does not say",
                "sources.y.date: None is no date",
                "regions.r.x.a: 'cheap' is no price: a number of US dollars, more than 0",
                "regions.r.x.b: 0 is no price",
                "regions.r.x.c: True is no price",
                "regions.r.x.d: 'NaN' is no price",
                "regions.r.y: 1 is no object of prices",
                "regions.s: 2 is no object of sources",
            ],
        ),
    ],
)
def test_a_file_that_is_no_price_list_is_refused_with_everything_wrong_in_it(
    content: str, said: list[str], tmp_path: Path
) -> None:
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        Prices(tmp_path / "p.json")
    problems = [*caught.value.problems][: len(said)]
    assert [problem[: len(start)] for problem, start in zip(problems, said, strict=True)] == said


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        Prices(tmp_path / "none.json")


def test_what_a_file_does_not_price_is_priced_by_the_next(assembly: Any, own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    regions = {"us-west-2": {"list": {"p5.48xlarge": "11", "NatGateway": "0.05"}}}
    other.write_text(json.dumps({"sources": {"list": SOURCE}, "regions": regions}))
    nat = {"Nat": {"Type": "AWS::EC2::NatGateway"}}
    found = review(assembly(S=group("p5.48xlarge", MinSize="1") | nat), prices=[own, other])["cost"]
    assert [(each["name"], each["price"]) for each in found["items"]] == [
        ("p5.48xlarge", "10.50"),
        ("NAT gateway", "0.05"),
    ]
    assert found["headline"] == "at least 10.55 USD an hour"
    assert found["date"] == "2026-01-02"


def test_a_file_system_is_priced_by_its_size_where_its_price_is_known(assembly: Any, tmp_path: Path) -> None:
    config = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}
    given = {"FileSystemType": "LUSTRE", "StorageCapacity": 7300, "LustreConfiguration": config}
    files = {"Files": {"Type": "AWS::FSx::FileSystem", "Properties": given}}
    assert review(assembly("no-price", S=files))["cost"]["unpriced_said"] == "not priced: FSx FileSystem"
    own = tmp_path / "own.json"
    regions = {"us-west-2": {"list": {"Lustre:SSD:250": "0.2"}}}
    own.write_text(json.dumps({"sources": {"list": SOURCE}, "regions": regions}))
    (line,) = review(assembly(S=files), prices=[own])["cost"]["items"]
    assert (line["price"], line["quantity"], line["unit"], line["hourly"]) == ("0.20", 7300, "GiB, a month", "2.00")


@pytest.mark.parametrize(
    ("properties", "price"),
    [
        ({"Engine": "mysql"}, "0.065"),
        ({"Engine": "postgres", "MultiAZ": True}, "0.13"),
        ({"Engine": "aurora-mysql"}, NOT_PRICED),
    ],
)
def test_a_database_is_priced_by_its_engine_and_zones(assembly: Any, properties: Any, price: str) -> None:
    data = {"Type": "AWS::RDS::DBInstance", "Properties": {"DBInstanceClass": "db.t4g.medium", **properties}}
    (line,) = review(assembly(S={"Data": data}))["cost"]["items"]
    assert line["price"] == price


def test_hyperpod_has_prices_of_its_own_and_training_stands_in_for_them(assembly: Any) -> None:
    """AWS bills HyperPod by usage types of its own (Cluster:ml.…), which cost more than training for some types."""

    def line(kind: str) -> tuple[str, str]:
        (each,) = review(assembly(kind, S=hyperpod(InstanceType=kind, InstanceCount=1)))["cost"]["items"]
        return each["price"], each["of"]

    assert line("ml.p4d.24xlarge") == ("25.91001756", "")
    assert line("ml.trn1.32xlarge") == ("24.73", "training in us-east-1")


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
            {
                "C": {
                    "Type": "Custom::PclusterCluster",
                    "Properties": {
                        "ClusterConfiguration": {
                            "LoginNodes": {"Pools": [{"Name": "l", "InstanceType": "m5.large", "Count": 2}]}
                        }
                    },
                }
            },
            [("login nodes l", "m5.large", 2, 2, "on demand")],
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


@pytest.mark.parametrize(
    ("said", "kind", "assumption"),
    [
        (
            {"InstanceRequirements": {"InstanceTypes": ["ml.c5.large", "ml.m5.large"]}},
            "ml.c5.large or ml.m5.large",
            "on demand, Linux; 2 when it is deployed",
        ),
        ({"InstanceType": "ml.m5.large", "CapacityRequirements": {"Spot": {}}}, "ml.m5.large", "paid as spot, "),
        ({"InstanceType": "ml.m5.large", "TrainingPlanArn": "arn"}, "ml.m5.large", "paid as a training plan, "),
    ],
)
def test_groups_of_hyperpod_say_their_types_and_how_they_are_paid(
    said: Any, kind: str, assumption: str, assembly: Any
) -> None:
    group = {"InstanceGroupName": "g", "InstanceCount": 2, **said}
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}}
    (item,) = review(assembly(S={"C": cluster}))["cost"]["items"]
    assert (item["name"], item["hourly"]) == (kind, NOT_PRICED)
    assert item["assumption"].startswith(assumption)


def test_what_nobody_has_a_price_of_is_not_said_to_be_free(assembly: Any) -> None:
    found = review(assembly(S={"Other": {"Type": "AWS::Elsewhere::Thing"}}))["cost"]
    assert found["sentence"] == "Of nothing here a price is known."


@pytest.mark.parametrize(
    ("kind", "properties", "quantity"),
    [
        ("EIP", {}, 1),
        ("EIP", {"PublicIpv4Pool": "own"}, None),
        ("VPCEndpoint", {"VpcEndpointType": "Interface", "SubnetIds": ["subnet-1", "subnet-2"]}, 2),
        ("VPCEndpoint", {"VpcEndpointType": "Interface"}, 1),
        ("VPCEndpoint", {}, None),
    ],
)
def test_addresses_and_interface_endpoints_are_paid_by_the_hour(
    assembly: Any, kind: str, properties: dict[str, Any], quantity: int | None
) -> None:
    found = review(assembly(S={"One": {"Type": f"AWS::EC2::{kind}", "Properties": properties}}))["cost"]
    assert [each["quantity"] for each in found["items"]] == [quantity] * (quantity is not None)
    assert {each["is_priced"] for each in found["items"]} <= {True}
