"""What the metrics of a cluster cost, where its resource says how many series there are."""

from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.monitoring.series import SERIES
from cdk_trainyard.report import read_assembly, review
from cdk_trainyard.report.cost import NOT_PRICED
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import machines
from tests.support import ROOT, synthesize_here


def cluster(nodes: int, *, series: Any = 1000, seconds: int = 30, count: int = 1) -> dict[str, Any]:
    groups = [{"InstanceGroupName": "w", "InstanceType": "ml.m5.large", "InstanceCount": nodes}]
    said = {"ScrapeSeconds": seconds, "Cluster": count, "Nodes": {"w": series}, "Counted": "2026-11-23"}
    return {
        "Cluster": {
            "Type": "AWS::SageMaker::Cluster",
            "Properties": {"InstanceGroups": groups},
            "Metadata": {"trainyard:Series": said},
        }
    }


def lines(assembly: Any, resources: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = review(assembly(S=resources))["cost"]["items"]
    return [each for each in items if each["name"].startswith("Prometheus")]


def test_samples_are_series_by_interval_and_month(assembly: Any) -> None:
    samples, storage = lines(assembly, cluster(10))
    # 10,001 series, 87,600 samples a month of each, less the free ones
    assert (samples["quantity"], samples["price"], samples["unit"]) == (876 - 40, "0.09", "million, a month")
    assert samples["hourly"] == "0.1031"
    assert "10,001 series, counted 2026-11-23, every 30 seconds" in samples["assumption"]
    assert samples["source"].endswith("(2026-11-23)")
    assert (storage["quantity"], storage["price"]) == (0, "0.03")


@pytest.mark.parametrize(("seconds", "quantity"), [(15, 1752 - 40), (60, 438 - 40)])
def test_fewer_scrapes_are_fewer_samples(assembly: Any, seconds: int, quantity: int) -> None:
    assert lines(assembly, cluster(10, seconds=seconds))[0]["quantity"] == quantity


def test_what_is_free_costs_nothing(assembly: Any) -> None:
    samples, _ = lines(assembly, cluster(0, count=400))
    assert (samples["quantity"], samples["hourly"]) == (0, "0.00")


def test_the_next_tier_is_cheaper_and_what_lies_beyond_is_not_priced(assembly: Any) -> None:
    first, second, *rest = lines(assembly, cluster(3000))
    # 262,800 million
    assert (first["quantity"], second["quantity"], second["price"]) == (1960, 250_000, "0.035")
    assert [each["hourly"] for each in rest if each["name"] == "Prometheus samples"] == [NOT_PRICED]


def test_a_workspace_says_how_long_it_keeps_them_and_its_queries_are_not_priced(assembly: Any) -> None:
    workspace = {
        "Type": "AWS::APS::Workspace",
        "Properties": {"WorkspaceConfiguration": {"RetentionPeriodInDays": 1095}},
    }
    resources = cluster(100) | {"Metrics": workspace}
    items = review(assembly(S=resources))["cost"]["items"]
    (storage,) = (each for each in items if each["name"] == "Prometheus storage")
    assert storage["quantity"] == int(8760e6 * 1095 / (730 / 24) / 2**30) - 10
    (query,) = (each for each in items if each["type"] == workspace["Type"])
    assert query["hourly"] == NOT_PRICED


def test_dashboards_are_counted_with_what_each_costs_after_the_free_ones(assembly: Any) -> None:
    boards = {name: {"Type": "AWS::CloudWatch::Dashboard", "Properties": {}} for name in ("Cluster", "Jobs")}
    connector = {"Connector": {"Type": "AWS::Lambda::Function", "Properties": {}}}
    items = {each["type"]: each for each in review(assembly(S=cluster(1) | boards | connector))["cost"]["items"]}
    line = items["AWS::CloudWatch::Dashboard"]
    assert (line["quantity"], line["hourly"]) == (2, NOT_PRICED)
    assert "3 USD each after the first three" in line["assumption"]
    assert items["AWS::Lambda::Function"]["hourly"] == NOT_PRICED


@pytest.mark.parametrize(
    "metadata", ["no", {"trainyard:Series": 3}, {"trainyard:Series": {"Nodes": []}}, {"other": {}}]
)
def test_metadata_of_others_are_nothing(assembly: Any, metadata: Any) -> None:
    resources = cluster(1)
    resources["Cluster"]["Metadata"] = metadata
    assert lines(assembly, resources) == []


def test_numbers_that_are_none_are_nothing(assembly: Any) -> None:
    assert lines(assembly, cluster(1, series="many")) == []


def test_what_nobody_has_counted_is_not_priced_and_not_free(assembly: Any) -> None:
    said = {"ScrapeSeconds": 30, "NotCounted": ["engine", "node"]}
    service = {"Type": "AWS::ECS::Service", "Metadata": {"trainyard:Series": said}}
    (line,) = lines(assembly, {"Service": service})
    assert line["hourly"] == NOT_PRICED
    assert line["assumption"] == "series of engine metrics and node metrics have not been counted"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("hyperpod-monitored", {"AWS::SageMaker::Cluster"}),
        ("everything-parallelcluster", {"Custom::PclusterCluster"}),
        ("everything-fleet", {"AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance"}),
        ("serving-monitored", {"AWS::ECS::Service"}),
    ],
)
def test_every_monitored_cluster_says_its_series_by_the_names_of_its_machines(
    file: str, kinds: set[str], tmp_path: Path
) -> None:
    done = synthesize_here(ROOT / "tests" / "review" / "deployments" / f"{file}.yaml", tmp_path, checked=False)
    assert done.returncode == 0, done.stderr
    found = read_assembly(tmp_path)
    graph = Graph(found)
    with_series = {key: each for key, each in graph.resources.items() if SERIES in each.body.get("Metadata", {})}
    assert {each.type for each in with_series.values()} == kinds
    names = {(each.resource.key, each.name) for each in machines(graph)}
    for key, each in with_series.items():
        said = each.body["Metadata"][SERIES]
        assert ("NotCounted" in said) == (each.type == "AWS::ECS::Service")
        for name, series in said.get("Nodes", {}).items():
            assert (key, name) in names
            assert series > 200
    items = review(found)["cost"]["items"]
    priced = {each["type"]: each["is_priced"] for each in items if each["name"] == "Prometheus samples"}
    assert priced == {kind: kind != "AWS::ECS::Service" for kind in kinds}
