"""ParallelClusters and services by the same commands; what they lack is said."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.local import LocalAws
from tests.deployed import deploy
from tests.operations.stages import PARALLELCLUSTER, SERVING, cluster_name, hosts, log_group, queue_node

PC, SERVICE = f"deployments/{PARALLELCLUSTER}.yaml", f"deployments/{SERVING}.yaml"
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def cluster(here: LocalAws) -> tuple[LocalAws, str]:
    here.reset()
    deploy(here, PARALLELCLUSTER)
    return here, queue_node(here, "trn1-st-trn1-32xlarge-1")


@pytest.fixture(scope="module")
def served(here: LocalAws) -> Iterator[tuple[LocalAws, list[str]]]:
    deploy(here, SERVING)
    yield here, hosts(here)
    here.reset()


def nodes(capsys: Capsys, file: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["nodes", file, "--json"]) == 0
    return list(json.loads(capsys.readouterr().out)["nodes"])


def test_a_parallelclusters_nodes(cluster: tuple[LocalAws, str], capsys: Capsys) -> None:
    head, node = nodes(capsys, PC)
    assert (head["group"], head["is_head"], head["slurm_name"]) == ("HeadNode", True, "")
    assert (node["id"], node["group"], node["type"]) == (cluster[1], "trn1", "trn1.32xlarge")
    assert (node["slurm_name"], node["is_head"], node["state"]) == ("trn1-st-trn1-32xlarge-1", False, "running")
    assert main(["nodes", PC, "trn1-st-trn1-32xlarge-1"]) == 0
    assert cluster[1] in capsys.readouterr().out
    assert main(["status", PC]) == 0
    shown = capsys.readouterr().out
    assert f"ParallelCluster {cluster_name(cluster[0])}: CREATE_COMPLETE" in shown
    assert "HeadNode  1 of 1  c5.4xlarge\ntrn1      1       trn1.32xlarge" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reboot", PC, "trn1"], "'scontrol reboot ASAP nextstate=RESUME NAME' reboots one without that"),
        (["replace", PC, "HeadNode"], "ParallelCluster has no replacement of a head node: 'trainyard reboot'"),
        (["update-image", PC], "ParallelCluster has no newer image of its own"),
        (["update-image", SERVICE, "tasks"], "a task's image is the version in the file"),
        (["reboot", SERVICE, "hosst"], "did you mean 'hosts'?"),
    ],
)
def test_what_they_lack_is_said(
    cluster: tuple[LocalAws, str], served: tuple[LocalAws, list[str]], capsys: Capsys, words: list[str], said: str
) -> None:
    del cluster, served
    assert main([*words, "--yes"]) == 1
    assert said in capsys.readouterr().err


def test_a_parallelclusters_log(cluster: tuple[LocalAws, str], capsys: Capsys) -> None:
    aws, group = cluster[0], log_group(cluster[0])
    head, node = nodes(capsys, PC)
    client = aws.client("logs", "us-west-2")
    for each, text in ((head, "slurmctld started"), (node, "Error: on_configured failed")):
        stream = f"ip-{each['address'].replace('.', '-')}.{each['id']}.cfn-init"
        client.create_log_stream(logGroupName=group, logStreamName=stream)
        now = int(time.time() * 1000)
        client.put_log_events(logGroupName=group, logStreamName=stream, logEvents=[{"timestamp": now, "message": text}])
    assert main(["logs", PC, "HeadNode"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("slurmctld started")
    assert main(["events", PC]) == 0
    assert f"{node['id']}.cfn-init\n  Error: on_configured failed" in capsys.readouterr().out


def test_a_parallelclusters_node_is_replaced(cluster: tuple[LocalAws, str], capsys: Capsys) -> None:
    aws, _ = cluster
    node = queue_node(aws, "trn1-dy-trn1-32xlarge-2")
    assert main(["replace", PC, "trn1-dy-trn1-32xlarge-2", "--yes"]) == 0
    assert capsys.readouterr().out == f"{node}: taken\n"
    assert node not in {each["id"] for each in nodes(capsys, PC)}


def test_a_services_hosts(served: tuple[LocalAws, list[str]], capsys: Capsys) -> None:
    first, second = served[1]
    found = {node["id"]: node for node in nodes(capsys, SERVICE)}
    assert {name: (node["group"], node["health"]) for name, node in found.items()} == {
        first: ("hosts", ""),
        second: ("hosts", "not registered in ECS"),
    }
    assert main(["status", SERVICE]) == 0
    shown = capsys.readouterr().out
    assert "tasks  0 of 0" in shown
    assert "hosts  2 of 2  inf2." in shown
    assert "OK" in shown


def test_a_services_host_is_replaced(served: tuple[LocalAws, list[str]], capsys: Capsys) -> None:
    gone = nodes(capsys, SERVICE)[0]["id"]
    assert main(["replace", SERVICE, gone, "--yes"]) == 0
    assert "the requests that its tasks answer" in capsys.readouterr().err
    after = [node["id"] for node in nodes(capsys, SERVICE)]
    assert len(after) == len(served[1])
    assert gone not in after
