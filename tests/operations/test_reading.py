"""Status and nodes of shipped deployments in the local AWS: what the commands show is what the APIs say."""

import json
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.account import Call
from cdk_trainyard.cli import main
from cdk_trainyard.local import LocalAws
from cdk_trainyard.operations.hyperpod import HyperPod
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.shown import lacking, promised

pytestmark = pytest.mark.usefixtures("here")
HYPERPOD, FLEET = "hyperpod-cpu-ddp", "fleet-p3dn-bert"
README = "constructs/cdk_trainyard/operations/README.md"


@pytest.fixture(scope="module", params=[HYPERPOD, FLEET])
def name(request: pytest.FixtureRequest, here: LocalAws) -> str:
    deploy(here, request.param)
    return str(request.param)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def file_of(name: str) -> str:
    return f"deployments/{name}.yaml"


def test_nodes_are_those_of_the_api(name: str, here: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "nodes", file_of(name))
    assert found["refused"] == []
    nodes = found["nodes"]
    if name == HYPERPOD:
        client = here.client("sagemaker", "us-east-1")
        cluster = client.list_clusters()["ClusterSummaries"][0]
        rows = client.list_cluster_nodes(ClusterName=cluster["ClusterName"])["ClusterNodeSummaries"]
        identifier = cluster["ClusterArn"].rpartition("/")[2]
        assert {node["id"]: node["target"] for node in nodes} == {
            row["InstanceId"]: f"sagemaker-cluster:{identifier}_{row['InstanceGroupName']}-{row['InstanceId']}"
            for row in rows
        }
        for node in nodes:
            described = client.describe_cluster_node(ClusterName=cluster["ClusterName"], NodeId=node["id"])
            assert node["address"] == described["NodeDetails"]["PrivatePrimaryIp"]
            head = node["group"] == "controller-machine"
            assert (node["is_head"], node["slurm_name"] == "") == (head, head)
    else:
        rows = here.client("ec2", "us-west-2").describe_instances(InstanceIds=[node["id"] for node in nodes])
        there = {row["InstanceId"]: row for each in rows["Reservations"] for row in each["Instances"]}
        assert {node["id"]: node["address"] for node in nodes} == {
            each: row["PrivateIpAddress"] for each, row in there.items()
        }
        assert [node["group"] for node in nodes] == [*["worker"] * 8, "master"]
        assert [node["is_head"] for node in nodes] == [*[False] * 8, True]


def test_status_has_the_groups_of_the_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "status", file_of(name))
    assert {stack["status"] for stack in found["stacks"]} == {"CREATE_COMPLETE"}
    groups = {
        HYPERPOD: [("controller-machine", 1, 1, "m5.large"), ("worker-group-1", 2, 2, "c5.4xlarge")],
        FLEET: [("worker", 8, 8, "p3dn.24xlarge"), ("master", 1, 1, "c5n.18xlarge")],
    }[name]
    (condition,) = found["conditions"]
    assert [(row["name"], row["wanted"], row["present"], row["type"]) for row in condition["groups"]] == groups
    assert [row["state"] for row in found["file_systems"]] == ["AVAILABLE"]


def test_people_read_a_table(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nodes", file_of(name), "worker-group-1" if name == HYPERPOD else "worker"]) == 0
    out = capsys.readouterr().out
    head, *lines = out.splitlines()
    assert name != HYPERPOD or lacking(promised(README, "trainyard nodes mine.yaml worker-group-1"), out) == []
    assert head.split() == ["ID", "GROUP", "TYPE", "STATE", "ADDRESS", "SLURM" if name == HYPERPOD else "ZONE", "AGE"]
    assert len(lines) == {HYPERPOD: 2, FLEET: 8}[name]
    assert main(["status", file_of(name)]) == 0
    assert f"{name}-training  CREATE_COMPLETE" in capsys.readouterr().out


def test_a_name_that_there_is_not(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nodes", file_of(name), "wrokers"]) == 1
    assert "has no node or group 'wrokers'; " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("denied", "code", "left"),
    [
        ("sagemaker:DescribeCluster", 0, 3),
        ("sagemaker:ListClusterNodes", 1, 0),
        ("autoscaling:DescribeAutoScalingGroups", 0, 9),
        ("ec2:DescribeInstances", 0, 8),
        ("cloudformation:DescribeStacks", 1, 0),
    ],
)
def test_one_call_that_is_not_allowed_leaves_the_others(
    here: LocalAws, capsys: pytest.CaptureFixture[str], denied: str, code: int, left: int
) -> None:
    name = HYPERPOD if denied.startswith("sagemaker") else FLEET
    deploy(here, name)
    with asked(denied):
        assert main(["nodes", file_of(name)]) == code
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()[1:]) == left
    assert f"{denied}: not allowed: User: me is not authorized" in shown.err


def test_status_goes_on_without_what_is_not_allowed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with asked() as kept:
        main(["status", file_of(name)])
    for denied in sorted(kept.permissions - {"cloudformation:DescribeStacks", "cloudformation:ListStackResources"}):
        with asked(denied):
            assert main(["status", file_of(name)]) == 0
        shown = capsys.readouterr()
        assert f"not told: {denied}: not allowed" in shown.err
        assert f"{name}-training" in shown.out


def test_what_is_not_deployed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of("hyperpod-trn1-llama2")
    for command in ("nodes", "status"):
        assert main([command, file]) == 1
        nothing = "nothing of hyperpod-trn1-llama2 that has nodes exists in us-west-2"
        assert f"{nothing}: 'trainyard deploy {file}' makes it" in capsys.readouterr().err


def test_a_cluster_that_somebody_has_deleted(here: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    deploy(here, HYPERPOD)
    client = here.client("sagemaker", "us-east-1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HyperPod, "_described", Call("sagemaker", "DescribeCluster", {"ClusterName": "gone"}))
        patch.setattr(HyperPod, "_listed", Call("sagemaker", "ListClusterNodes", {"ClusterName": "gone"}))
        assert main(["nodes", file_of(HYPERPOD)]) == 1
        assert "deleted, and not by CloudFormation: it has no nodes" in capsys.readouterr().err
    assert client.list_clusters()["ClusterSummaries"]


def test_the_file_of_another_account(here: LocalAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.yaml"
    text = Path(file_of(HYPERPOD)).read_text()
    file.write_text(f'{text}\naccount: "999999999999"\n')
    assert main(["nodes", str(file)]) == 1
    wrong = f"the deployment is in account 999999999999, and the credentials in use are of {here.account}, arn:"
    assert wrong in capsys.readouterr().err


@pytest.mark.parametrize("command", ["nodes", "status", "show"])
def test_without_credentials(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert main([command, file_of(HYPERPOD)]) == 3
    assert "There are no credentials of an AWS account that work" in capsys.readouterr().err
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of nobody")
    assert main([command, file_of(HYPERPOD)]) == 3
    assert "There are no credentials of an AWS account that work" in capsys.readouterr().err
