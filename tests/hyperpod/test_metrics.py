"""Where a cluster's metrics go: what its nodes are told, which role may write, and what cannot work."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import HyperPodCluster, Lifecycle
from cdk_trainyard.hyperpod.bundle import _with_metrics
from cdk_trainyard.lifecycle import Exporters, NodeSetup
from cdk_trainyard.lifecycle.render import render_setup
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource, MetricsWorkspace
from cdk_trainyard.storage import Mount
from tests.hyperpod.parts import controller, existing_lustre, shared_group, statements, worker
from tests.parts import existing_network

WORKSPACE = "arn:aws:aps:us-west-2:111111111111:workspace/ws-0123"
Build = Callable[..., HyperPodCluster]


def metrics(stack: Stack, **said: Any) -> ClusterMonitoring:
    return ClusterMonitoring(workspace=MetricsWorkspace.from_workspace_arn(stack, "Metrics", WORKSPACE), **said)


def own_scripts(stack: Stack) -> dict[str, Any]:
    bucket = s3.Bucket.from_bucket_name(stack, "Scripts", "scripts")
    return {"lifecycle": Lifecycle(on_create="on_create.sh"), "scripts_bucket": bucket}


def test_controllers_write_metrics_and_other_nodes_do_not(stack: Stack, build: Build) -> None:
    build(metrics=metrics(stack), **own_scripts(stack))
    (written,) = [each for each in statements(stack, "ControllerRole").values() if each["Action"] == "aps:RemoteWrite"]
    assert written["Resource"] == WORKSPACE
    assert "RemoteWrite" not in statements(stack)


@pytest.mark.parametrize(
    ("instance_type", "sources"),
    [
        ("ml.c5.4xlarge", ["controller", "slurm", "node"]),
        ("ml.trn1.32xlarge", ["controller", "slurm", "node", "efa", "neuron"]),
        ("ml.p5.48xlarge", ["controller", "slurm", "node", "efa"]),
    ],
)
def test_nodes_give_what_they_have(stack: Stack, build: Build, instance_type: str, sources: list[str]) -> None:
    groups = [controller(instance_type="ml.m5.large"), worker(instance_type=instance_type)]
    made = build(metrics=metrics(stack), groups=groups, **own_scripts(stack))
    assert list(made.metrics_sources) == [MetricsSource(source) for source in sources]


def test_nodes_that_mount_lustre_say_what_its_client_says(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    group = shared_group(stack, network)
    mounts = [Mount(file_system=existing_lustre(stack, group))]
    made = build(metrics=metrics(stack), network=network, security_group=group, mounts=mounts, **own_scripts(stack))
    assert MetricsSource.LUSTRE in made.metrics_sources


def test_exporters_that_are_said_are_those_that_run(stack: Stack, build: Build) -> None:
    said = NodeSetup(exporters=Exporters(slurm=False, efa=False))
    made = build(metrics=metrics(stack), node_setup=said, **own_scripts(stack))
    assert list(made.metrics_sources) == [MetricsSource.CONTROLLER, MetricsSource.NODE]


def test_without_metrics_nothing_is_given(stack: Stack, build: Build) -> None:
    assert list(build(node_setup=NodeSetup(exporters=Exporters()), **own_scripts(stack)).metrics_sources) == []


def test_the_agent_is_told_where_and_under_which_name(stack: Stack) -> None:
    setup = _with_metrics(NodeSetup(), "llama2", metrics(stack, scrape_seconds=15))
    told = render_setup(setup, architectures=["x86_64"])
    agent: Any = told["metrics_agent"]
    assert stack.resolve(agent) == {
        "url": {
            "Fn::Join": [
                "",
                [
                    "https://aps-workspaces.us-west-2.",
                    {"Ref": "AWS::URLSuffix"},
                    "/workspaces/ws-0123/api/v1/remote_write",
                ],
            ]
        },
        "region": "us-west-2",
        "cluster": "llama2",
        "scrape_seconds": 15,
        "port": 8429,
    }
    tools: Any = told["tools"]
    assert "/VictoriaMetrics/releases/download/v1." in tools["vmagent"]["x86_64"]["url"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"scrape_seconds": 1}, "'metrics.scrape_seconds' must be 5 to 120 seconds, got 1"),
        ({}, None),
    ],
)
def test_samples_lie_close_enough(stack: Stack, build: Build, said: dict[str, Any], answer: str | None) -> None:
    if answer is None:
        build(metrics=metrics(stack, **said), **own_scripts(stack))
        return
    with pytest.raises(ConfigurationError, match=answer):
        build(metrics=metrics(stack, **said), **own_scripts(stack))


def test_metrics_need_the_projects_own_scripts(stack: Stack, build: Build) -> None:
    with pytest.raises(ConfigurationError, match="'metrics' needs the project's own scripts on every group") as raised:
        build(metrics=metrics(stack))
    [says] = raised.value.problems
    assert says.endswith(
        "; none runs a script: give 'lifecycle' of the cluster, or of a group that has one, 'on_create' on_create.sh "
        "or 'on_init_complete' on_init_complete.sh of the project"
    )


def test_a_workspace_alone_is_not_what_a_cluster_takes(stack: Stack, build: Build) -> None:
    with pytest.raises(ConfigurationError, match="'metrics' must be ClusterMonitoring, got a MetricsWorkspace"):
        build(metrics=MetricsWorkspace(stack, "Metrics"), **own_scripts(stack))
