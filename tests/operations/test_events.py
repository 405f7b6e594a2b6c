"""Why something failed, and what nodes log: joined from what each service says in the local AWS."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.local import Fault, LocalAws
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.shown import lacking, promised

HYPERPOD, FLEET = "deployments/hyperpod-cpu-ddp.yaml", "deployments/fleet-p3dn-bert.yaml"
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def there(here: LocalAws) -> Iterator[LocalAws]:
    here.reset()
    deploy(here, "hyperpod-cpu-ddp")
    deploy(here, "fleet-p3dn-bert")
    yield here
    here.reset()


def events(capsys: Capsys, file: str, *words: str) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    capsys.readouterr()
    assert main(["events", file, *words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    return next(iter(said["cause"]), None), said["events"]


@pytest.fixture
def cluster(there: LocalAws) -> tuple[Any, str]:
    client = there.client("sagemaker", "us-east-1")
    return client, client.list_clusters()["ClusterSummaries"][0]["ClusterName"]


def log(aws: LocalAws, region: str, group: str, stream: str, *lines: str, ago_s: int = 0) -> None:
    client = aws.client("logs", region)
    if not client.describe_log_streams(logGroupName=group, logStreamNamePrefix=stream)["logStreams"]:
        client.create_log_stream(logGroupName=group, logStreamName=stream)
    then = int(time.time() - ago_s) * 1000
    rows = [{"timestamp": then, "message": line} for line in lines]
    client.put_log_events(logGroupName=group, logStreamName=stream, logEvents=rows)


def test_what_goes_well_has_no_cause(there: LocalAws, capsys: Capsys) -> None:  # noqa: ARG001  deployed
    for file in (HYPERPOD, FLEET):
        cause, found = events(capsys, file)
        assert cause is None
        assert {row["subject"] for row in found if row["source"] == "CloudFormation"} == {
            f"{file.partition('/')[2].removesuffix('.yaml')}-{part}" for part in ("network", "storage", "training")
        }
        _, everything = events(capsys, file, "--all")
        assert len(everything) > 3 * len(found)


def test_a_node_that_fails_is_the_cause(there: LocalAws, cluster: tuple[Any, str], capsys: Capsys) -> None:
    client, name = cluster
    client.update_cluster(ClusterName=name, NodeProvisioningMode="Continuous", Orchestrator={"Slurm": {}})
    node = client.list_cluster_nodes(ClusterName=name, InstanceGroupNameContains="worker")["ClusterNodeSummaries"][0]
    there.fail_node(node["InstanceId"], "GPU has fallen off the bus")
    cause, _ = events(capsys, HYPERPOD)
    assert cause is not None
    assert (cause["source"], cause["subject"]) == ("HyperPod", node["InstanceId"])
    assert cause["text"].endswith("is unhealthy: GPU has fallen off the bus")
    assert main(["events", HYPERPOD]) == 0
    shown = capsys.readouterr()
    assert re.match(rf"first cause: \S+Z HyperPod, {node['InstanceId']}\n  .*GPU has fallen off the bus\n\n", shown.out)
    assert main(["status", HYPERPOD]) == 0
    assert re.search(r"failed +HyperPod .*GPU has fallen off the bus$", capsys.readouterr().out, re.MULTILINE)
    with there.faults(Fault(call="sagemaker DescribeClusterEvent", code="AccessDeniedException", message="not you")):
        assert main(["events", HYPERPOD]) == 0
    shown = capsys.readouterr()
    assert "not told: sagemaker:DescribeClusterEvent: not allowed: not you" in shown.err
    assert "hyperpod-cpu-ddp-training" in shown.out


def test_a_script_that_fails_stands_before_what_follows_from_it(there: LocalAws, capsys: Capsys) -> None:
    groups = there.client("logs", "us-east-1").describe_log_groups(logGroupNamePrefix="/aws/sagemaker/Clusters/")
    (group,) = [row["logGroupName"] for row in groups["logGroups"]]
    stream = "LifecycleConfig/worker-group-1/i-0123456789abcdef0"
    log(there, "us-east-1", group, stream, "mounting /fsx", "lustre: mount.lustre failed: No such device", ago_s=60)
    assert main(["events", HYPERPOD]) == 0
    shown = promised("constructs/cdk_trainyard/operations/README.md", "trainyard events mine.yaml")
    assert lacking(shown, capsys.readouterr().out) == []
    _, found = events(capsys, HYPERPOD)
    failed = [row for row in found if row["source"] == "provisioning log"]
    assert [(row["subject"], row["text"]) for row in failed] == [
        (stream, "lustre: mount.lustre failed: No such device")
    ]


def test_a_fleet_without_capacity(there: LocalAws, capsys: Capsys) -> None:
    client = there.client("autoscaling", "us-west-2")
    (group,) = client.describe_auto_scaling_groups()["AutoScalingGroups"]
    first = group["Instances"][0]["InstanceId"]
    with there.shortage("p3dn.24xlarge"):
        assert main(["replace", FLEET, first, "--yes"]) == 0
        assert main(["status", FLEET]) == 0
    shown = capsys.readouterr().out
    assert "worker  7 of 8" in shown
    assert "nodes are missing" in shown
    cause, _ = events(capsys, FLEET)
    assert cause is not None
    assert cause["source"] == "Auto Scaling"
    assert "do not have sufficient capacity" in cause["text"]


def test_a_cluster_that_was_rolled_back(here: LocalAws, capsys: Capsys) -> None:
    here.reset()
    with here.shortage("c5.4xlarge"), pytest.raises(Exception, match="ROLLBACK_COMPLETE"):
        deploy(here, "hyperpod-cpu-ddp")
    client = here.client("cloudformation", "us-east-1")
    rows = client.describe_stack_events(StackName="hyperpod-cpu-ddp-training")["StackEvents"]
    arn = next(row["PhysicalResourceId"] for row in rows if row["PhysicalResourceId"].startswith("arn:aws:sagemaker"))
    group = f"/aws/sagemaker/Clusters/gone/{arn.rpartition('/')[2]}"
    there = here.client("logs", "us-east-1").describe_log_groups(logGroupNamePattern=group)["logGroups"]
    if not there:
        here.client("logs", "us-east-1").create_log_group(logGroupName=group)
    cause, _ = events(capsys, HYPERPOD)
    assert cause is not None
    assert cause["subject"].startswith("hyperpod-cpu-ddp-training Cluster")
    assert "do not have sufficient capacity" in cause["text"]
    log(here, "us-east-1", group, "LifecycleConfig/worker-group-1/i-1", "FATAL: the bucket denied access")
    with asked() as kept:
        _, found = events(capsys, HYPERPOD)
    assert "logs:DescribeLogGroups" in kept.permissions
    assert "FATAL: the bucket denied access" in [row["text"] for row in found]
    assert main(["nodes", HYPERPOD]) == 1
    assert "hyperpod-cpu-ddp-training is ROLLBACK_COMPLETE" in capsys.readouterr().err
    assert main(["status", HYPERPOD]) == 0
    assert "ROLLBACK_COMPLETE" in capsys.readouterr().out
    here.reset()


@pytest.mark.parametrize(
    ("since", "code"), [("5m", 0), ("3650d", 0), ("0m", 2), ("yesterday", 2), ("1w", 2), ("999999d", 2)]
)
def test_how_far_back(there: LocalAws, capsys: Capsys, since: str, code: int) -> None:
    deploy(there, "hyperpod-cpu-ddp")
    assert main(["events", HYPERPOD, "--since", since]) == code
    if code:
        assert "is not a time like 30m, 6h or 2d" in capsys.readouterr().err


def test_a_nodes_log(there: LocalAws, capsys: Capsys) -> None:
    deploy(there, "fleet-p3dn-bert")
    assert main(["logs", FLEET, "worker"]) == 1
    assert "nothing was logged since then" in capsys.readouterr().err
    outputs = there.client("cloudformation", "us-west-2").describe_stacks(StackName="fleet-p3dn-bert-training")
    group = next(row["OutputValue"] for row in outputs["Stacks"][0]["Outputs"] if row["OutputKey"] == "LogGroupName")
    assert main(["nodes", FLEET, "worker", "--json"]) == 0
    first, second, *_ = [node["id"] for node in json.loads(capsys.readouterr().out)["nodes"]]
    log(there, "us-west-2", group, f"{first}/20261123T000000Z", "step lustre", "done")
    log(there, "us-west-2", group, f"{second}/20261123T000000Z", "of another")
    assert main(["logs", FLEET, first]) == 0
    assert [line.partition("  ")[2] for line in capsys.readouterr().out.splitlines()] == ["step lustre", "done"]


def test_a_log_is_followed_until_nobody_reads(there: LocalAws, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    deploy(there, "hyperpod-cpu-ddp")
    groups = there.client("logs", "us-east-1").describe_log_groups(logGroupNamePrefix="/aws/sagemaker/Clusters/")
    group = groups["logGroups"][-1]["logGroupName"]
    assert main(["nodes", HYPERPOD, "worker-group-1", "--json"]) == 0
    node = json.loads(capsys.readouterr().out)["nodes"][0]["id"]
    looks = iter(["first", "second", KeyboardInterrupt])

    def later(_seconds: float) -> None:
        what = next(looks)
        if isinstance(what, str):
            log(there, "us-east-1", group, f"SagemakerHealthMonitoringAgent/worker-group-1/{node}", what)
        else:
            raise what

    monkeypatch.setattr("cdk_trainyard.cli.logs.time.sleep", later)
    assert main(["logs", HYPERPOD, node, "--follow"]) == 130
    shown = [line.partition("  ")[2] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["[SageMaker] Downloading lifecycle scripts", "The lifecycle scripts succeeded.", "first", "second"]
