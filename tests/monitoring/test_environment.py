"""CloudWatch alarms on NAT gateways, the file system and the accounting database."""

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from cdk_trainyard import (
    AccountingDatabase,
    ConfigurationError,
    EfaSecurityGroup,
    EnvironmentMonitoring,
    LustreFileSystem,
    Nat,
    TrainingNetwork,
)
from cdk_trainyard.storage import Lustre

ZONES = ["us-west-2b", "us-west-2c"]
MB_S = 1171
"""Of 4800 GiB at 250 MB/s per TiB, unless told otherwise."""


def new_stack() -> Stack:
    return Stack(App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))


def alarms(template: Template) -> dict[str, dict[str, Any]]:
    """Properties of alarms by the last part of their ids."""
    found = template.find_resources("AWS::CloudWatch::Alarm")
    return {name.removeprefix("Monitoring")[:-8]: resource["Properties"] for name, resource in found.items()}


@pytest.fixture(scope="module")
def everything() -> dict[str, dict[str, Any]]:
    stack = new_stack()
    network = TrainingNetwork(
        stack, "Network", zone=ZONES[0], service_zones=ZONES, public_zones=ZONES, nat=Nat.PER_ZONE
    )
    lustre = LustreFileSystem(
        stack,
        "Lustre",
        network=network,
        security_group=EfaSecurityGroup(stack, "Group", vpc=network.vpc),
        capacity_gib=4800,
    )
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111111111111:alarms")
    accounting = AccountingDatabase(stack, "Accounting", network=network, storage_gb=40)
    made = EnvironmentMonitoring(
        stack, "Monitoring", network=network, lustre=lustre, accounting=accounting, topic=topic, free_percent=20
    )
    found = alarms(Template.from_stack(stack))
    assert set(found) == set(made.alarms)
    return found


def test_everything_has_alarms_that_tell(everything: dict[str, dict[str, Any]]) -> None:
    of_gateways = {f"Nat{what}{number}" for what in ("Ports", "Drops") for number in (1, 2)}
    assert set(everything) == {*of_gateways, "FileSystemFull", "FileSystemBusy", "DatabaseBusy", "DatabaseFull"}
    for alarm in everything.values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == ["arn:aws:sns:us-west-2:111111111111:alarms"]
        assert alarm["TreatMissingData"] == "notBreaching"


def test_the_fullest_disk_is_in_percent_of_its_own_size(everything: dict[str, dict[str, Any]]) -> None:
    alarm = everything["FileSystemFull"]
    assert (alarm["Threshold"], alarm["ComparisonOperator"], alarm["EvaluationPeriods"]) == (
        20,
        "LessThanThreshold",
        15,
    )
    by_id = {each["Id"]: each for each in alarm["Metrics"]}
    (formula,) = (each["Expression"] for each in by_id.values() if "Expression" in each)
    disks, free = 4, 200 * 2**30  # of disks with 1200 GiB
    read = {"fullest": free, "disks": disks}
    assert eval(formula, {}, read) == pytest.approx(100 * 200 / 1200)  # noqa: S307  our own formula
    assert {name: by_id[name]["MetricStat"]["Stat"] for name in read} == {"fullest": "Minimum", "disks": "SampleCount"}
    assert {by_id[name]["MetricStat"]["Period"] for name in read} == {60}


def test_a_busy_file_system_is_in_percent_of_its_throughput(everything: dict[str, dict[str, Any]]) -> None:
    alarm = everything["FileSystemBusy"]
    assert (alarm["Threshold"], alarm["ComparisonOperator"], alarm["EvaluationPeriods"]) == (
        80,
        "GreaterThanThreshold",
        15,
    )
    by_id = {each["Id"]: each for each in alarm["Metrics"]}
    (formula,) = (each["Expression"] for each in by_id.values() if "Expression" in each)
    a_minute = MB_S * 60 * 10**6
    moved = {"read": a_minute / 2, "written": a_minute / 4, "FILL": lambda value, _none: value}
    assert eval(formula, {}, moved) == pytest.approx(75)  # noqa: S307  our own formula
    named = {name: by_id[name]["MetricStat"] for name in ("read", "written")}
    assert {each["Metric"]["MetricName"] for each in named.values()} == {"DataReadBytes", "DataWriteBytes"}
    assert {(each["Stat"], each["Period"]) for each in named.values()} == {("Sum", 60)}


def test_the_database_is_told_of_before_it_stops(everything: dict[str, dict[str, Any]]) -> None:
    full, busy = everything["DatabaseFull"], everything["DatabaseBusy"]
    assert (full["Statistic"], full["Threshold"], full["ComparisonOperator"]) == (
        "Minimum",
        2 * 2**30,
        "LessThanThreshold",
    )
    assert (busy["MetricName"], busy["Threshold"], busy["ComparisonOperator"]) == (
        "CPUUtilization",
        90,
        "GreaterThanThreshold",
    )


def test_each_gateway_has_its_own(everything: dict[str, dict[str, Any]]) -> None:
    gateways = [everything[f"NatPorts{number}"]["Dimensions"][0]["Value"]["Ref"] for number in (1, 2)]
    assert len(set(gateways)) == 2
    assert (everything["NatPorts1"]["Threshold"], everything["NatPorts1"]["ComparisonOperator"]) == (
        0,
        "GreaterThanThreshold",
    )
    assert everything["NatDrops1"]["Threshold"] == 0.01
    (lost,) = [row["Expression"] for row in everything["NatDrops1"]["Metrics"] if "Expression" in row]
    passed = "(FILL(source, 0) + FILL(destination, 0))"
    assert lost == f"100 * (FILL(dropped, 0)) / IF({passed} > 0, {passed}, 1)"


def test_what_nobody_knows_has_no_alarm() -> None:
    stack = new_stack()
    lustre = Lustre(stack, "Lustre")
    lustre.capacity_gib = None
    lustre.file_system_id = "fs-0123456789abcdef0"
    made = EnvironmentMonitoring(stack, "Monitoring", lustre=lustre)
    assert made.alarms == {}
    assert made.dashboard is not None
    assert EnvironmentMonitoring(stack, "Nothing").dashboard is None


def test_a_percentage_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError) as caught:
        EnvironmentMonitoring(new_stack(), "Monitoring", free_percent=0)
    assert caught.value.problems == ("'free_percent' must be 1 to 99 percent, got 0",)
