"""The task that was deployed takes its metrics to a workspace: its script, flags and configuration as they stand there.

Read out of the local AWS and run in a network of their own: with Debian's vmagent, whose release is an older one than
the image that is pinned, a busybox for the image's shell, and Debian's node_exporter and Prometheus.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, BootstraplessSynthesizer, Environment, Stack

from cdk_trainyard.monitoring import ClusterMonitoring, MetricsWorkspace
from cdk_trainyard.network import TrainingNetwork
from tests.monitoring import promtool
from tests.monitoring.test_emitted import EMITTED
from tests.serving.parts import service

if TYPE_CHECKING:
    from cdk_trainyard.local import LocalAws

pytestmark = [pytest.mark.slow, pytest.mark.programs, pytest.mark.usefixtures("empty_aws")]
REGION, NAME = "us-west-2", "serving-metrics-deployed"
NEWER = ("-remoteWrite.forcePromProto=",)
"""Flags that the release of Debian does not know yet."""
HOST = "i-0123456789abcdef0"
APPLETS = ("sh", "cat", "grep", "head", "wget")


def template(aws: "LocalAws") -> str:
    app = App(analytics_reporting=False)
    environment = Environment(account=aws.account, region=REGION)
    stack = Stack(app, "Stack", env=environment, synthesizer=BootstraplessSynthesizer())
    network = TrainingNetwork(
        stack,
        "Network",
        zone="usw2-az1",
        service_zones=["usw2-az1", "usw2-az2"],
        restrict_default_security_group=False,  # its function would want an uploaded asset
    )
    metrics = ClusterMonitoring(workspace=MetricsWorkspace(stack, "Metrics"), scrape_seconds=5)
    service(stack, network=network, metrics=metrics)
    return json.dumps(app.synth().get_stack_by_name("Stack").template)


@pytest.fixture(scope="module")
def deployed(aws: "LocalAws") -> dict[str, Any]:
    """The containers of the task definition, by name."""
    stacks = aws.client("cloudformation", region=REGION)
    stacks.create_stack(StackName=NAME, TemplateBody=template(aws), Capabilities=["CAPABILITY_NAMED_IAM"])
    stacks.get_waiter("stack_create_complete").wait(StackName=NAME, WaiterConfig={"Delay": 1, "MaxAttempts": 300})
    resources = stacks.describe_stack_resources(StackName=NAME)["StackResources"]
    (arn,) = [each["PhysicalResourceId"] for each in resources if each["ResourceType"] == "AWS::ECS::TaskDefinition"]
    ecs = aws.client("ecs", region=REGION)
    found = ecs.describe_task_definition(taskDefinition=arn)["taskDefinition"]["containerDefinitions"]
    return {container["name"]: container for container in found}


@pytest.fixture(scope="module")
def told(deployed: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What arrived in the workspace."""
    root = tmp_path_factory.mktemp("task")
    agent, exporter = deployed["metrics"], deployed["exporter"]
    for folder in ("config", "queue", "programs", "store", "sys/devices/virtual/dmi/id"):
        (root / folder).mkdir(parents=True)
    (root / "sys/devices/virtual/dmi/id/board_asset_tag").write_text(f"{HOST}\n")
    (root / "vmagent-prod").symlink_to(promtool.tool("vmagent"))
    for applet in APPLETS:
        (root / "programs" / applet).symlink_to(promtool.tool("busybox"))
    (root / "prometheus.yml").write_text("{}")
    shell, *starting = agent["entryPoint"]
    said = {
        "root": str(root),
        "path": str(root / "programs"),
        "metrics": (EMITTED / "engine.prom").read_text(),
        "environment": {each["name"]: each["value"] for each in agent["environment"]},
        "agent": [str(root / "programs" / Path(shell).name), *starting, *flags(agent["command"], root)],
        "exporter": [
            promtool.tool("prometheus-node-exporter"),
            *(word.replace("=/host/", "=/") for word in exporter["command"]),
        ],
        "store": [
            promtool.tool("prometheus"),
            "--web.enable-remote-write-receiver",
            f"--config.file={root}/prometheus.yml",
        ],
    }
    apart = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    program = [*apart, sys.executable, str(Path(__file__).with_name("task_space.py"))]
    ran = subprocess.run(program, input=json.dumps(said), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


def flags(command: list[str], root: Path) -> list[str]:
    """The flags as they were deployed, with folders in ours, and the workspace that is beside the task here."""
    written = []
    for word in command:
        name, _, value = word.partition("=")
        if name == "-remoteWrite.url":
            value = f"http://127.0.0.1:9999/{value.partition('//')[2].partition('/')[2]}"
        elif value.startswith("/"):
            value = f"{root}{value}"
        if not word.startswith(NEWER):
            written.append(f"{name}={value}")
    return written


def test_series_of_engine_host_and_agent_arrive_with_their_labels(told: dict[str, Any]) -> None:
    names: dict[str, set[str]] = {}
    for series in told["series"]:
        names.setdefault(series["job"], set()).add(series["__name__"])
        assert series["task"] == "158d1c8083dd49d6b527399fd6414f5c"
        assert series["node"] == series["instance"] == HOST
        assert series["cluster"].startswith("Stack")
    assert {"vllm:num_requests_waiting", "vllm:time_to_first_token_seconds_bucket", "tgi_queue_size"} <= names["engine"]
    assert {"node_filesystem_avail_bytes", "node_vmstat_oom_kill", "node_memory_MemAvailable_bytes"} <= names["node"]
    assert "vmagent_remotewrite_packets_dropped_total" in names["agent"]
    assert not [name for name in names["agent"] if name.startswith("go_")]


def test_of_file_systems_there_is_the_one_that_containers_are_on(told: dict[str, Any]) -> None:
    assert {each["mountpoint"] for each in told["series"] if each["__name__"] == "node_filesystem_avail_bytes"} == {"/"}


def test_it_signs_with_the_tasks_role_for_the_service_of_the_workspace(told: dict[str, Any]) -> None:
    assert (told["region"], told["service"], told["unsigned"]) == (REGION, "aps", 0)
    assert told["path"].endswith("/api/v1/remote_write")


def test_what_the_workspace_missed_while_it_was_shut_arrives_later(told: dict[str, Any]) -> None:
    assert told["shut"] == 2
    assert told["first"] < told["opened"]
