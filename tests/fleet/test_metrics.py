"""Where a fleet's metrics go: what its nodes are told, what their role may write, and when silence is trouble."""

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet import EfaFleet, NodeImage
from cdk_trainyard.lifecycle import Exporters
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource, MetricsWorkspace
from tests.fleet.parts import existing_lustre, new_fleet, new_stack, warnings
from tests.fleet.test_fleet import told

WORKSPACE = "arn:aws:aps:us-west-2:111111111111:workspace/ws-0123"
GPU_IMAGE = f"111111111111.dkr.ecr.us-west-2.amazonaws.com/dcgm-exporter@sha256:{'0' * 64}"
NEURON = "neuron-base-ubuntu-24.04"
OTHER = "arn:aws:aps:us-west-2:111111111111:workspace/ws-9"


def monitored(
    stack: Stack, *, scrape_seconds: int = 15, exporters: Exporters | None = None, **changes: Any
) -> EfaFleet:
    workspace = MetricsWorkspace.from_workspace_arn(stack, "Workspace", WORKSPACE)
    metrics = ClusterMonitoring(workspace=workspace, scrape_seconds=scrape_seconds, exporters=exporters)
    return new_fleet(stack, metrics=metrics, **changes)


def written(stack: Stack) -> list[Any]:
    """What the nodes' role may write metrics to."""
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy").values()
    statements = [each for policy in policies for each in policy["Properties"]["PolicyDocument"]["Statement"]]
    return [each["Resource"] for each in statements if each["Action"] == "aps:RemoteWrite"]


def test_every_node_runs_an_agent_of_its_own_under_the_fleets_name() -> None:
    stack = new_stack()
    made = monitored(stack, fleet_name="bert")
    metrics = told(stack)["metrics"]
    agent = {
        name.removeprefix("metrics_agent_"): said for name, said in metrics.items() if name.startswith("metrics_agent_")
    }
    assert agent.pop("url").startswith("https://aps-workspaces.us-west-2.")
    assert agent == {"region": "us-west-2", "cluster": "bert", "scrape_seconds": 15, "port": 8429, "alone": "yes"}
    assert "exporters_slurm" not in metrics
    assert metrics["exporters_port"] == 9100
    assert "/VictoriaMetrics/releases/download/v1." in metrics["tools_vmagent_x86_64_url"]
    assert made.cluster_name == "bert"


def test_nodes_write_to_this_workspace_alone_and_to_the_one_that_jobs_were_given() -> None:
    stack = new_stack()
    monitored(stack)
    assert written(stack) == [WORKSPACE]
    stack = new_stack()
    monitored(stack, prometheus_workspace_arn=OTHER)
    assert written(stack) == [[WORKSPACE, OTHER]]
    stack = new_stack()
    monitored(stack, prometheus_workspace_arn=WORKSPACE)
    assert written(stack) == [WORKSPACE]


def test_without_metrics_nothing_is_told_and_nothing_written() -> None:
    stack = new_stack()
    made = new_fleet(stack)
    assert "metrics" not in told(stack)
    assert written(stack) == []
    assert list(made.metrics_sources) == []


@pytest.mark.parametrize(
    ("changes", "sources"),
    [
        (
            {"instance_type": "trn1.32xlarge", "count": 2, "image": NodeImage(dlami=NEURON)},
            ["controller", "node", "efa", "neuron"],
        ),
        ({"instance_type": "p4d.24xlarge", "count": 2}, ["controller", "node", "efa"]),
        ({"instance_type": "p4d.24xlarge", "min_count": 0, "max_count": 2}, ["node", "efa"]),
    ],
)
def test_a_fleet_that_may_be_empty_may_be_silent(changes: dict[str, Any], sources: list[str]) -> None:
    made = monitored(new_stack(), **changes)
    assert list(made.metrics_sources) == [MetricsSource(source) for source in sources]


def test_gpus_are_asked_by_an_image_of_dcgm_exporter_and_ports_are_those_that_are_said() -> None:
    stack = new_stack()
    made = monitored(stack, exporters=Exporters(port=9101, gpu=True, gpu_image=GPU_IMAGE), instance_type="p4d.24xlarge")
    metrics = told(stack)["metrics"]
    assert (metrics["exporters_port"], metrics["exporters_gpu"]) == (9101, "yes")
    assert metrics["exporters_gpu_image"] == GPU_IMAGE
    assert "exporters_slurm" not in metrics
    assert MetricsSource.GPU in made.metrics_sources
    assert [text for text in warnings(stack) if "@cdk-trainyard/fleet:private-gpu-image" in text]


@pytest.mark.parametrize(
    ("exporters", "answer"),
    [
        (Exporters(port=8429), "'metrics.exporters.port' must be another port than 8429, which the agent of the"),
        (Exporters(gpu=True, gpu_port=9100), "'metrics.exporters.gpu_port' must be another port than 'port', got 9100"),
        (
            Exporters(neuron=True),
            "'metrics.exporters.neuron' must be left out when no instance type has Neuron devices",
        ),
        (Exporters(gpu_image=GPU_IMAGE), "'metrics.exporters.gpu_image' must be left out when 'gpu' is false"),
        (Exporters(port=80), "'metrics.exporters.port' must be 1024 to 65535, got 80"),
    ],
)
def test_exporters_that_cannot_run_are_refused(exporters: Exporters, answer: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        monitored(new_stack(), exporters=exporters, instance_type="p4d.24xlarge")
    assert answer in str(refused.value)


def test_a_file_system_that_is_mounted_later_gives_metrics() -> None:
    stack = new_stack()
    made = monitored(stack)
    assert MetricsSource.LUSTRE not in made.metrics_sources
    made.mount(existing_lustre(stack))
    assert MetricsSource.LUSTRE in made.metrics_sources


def test_samples_lie_close_enough() -> None:
    with pytest.raises(ConfigurationError, match=r"'metrics\.scrape_seconds' must be 5 to 120 seconds, got 600"):
        monitored(new_stack(), scrape_seconds=600)
