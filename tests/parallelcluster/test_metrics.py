"""Where a cluster's metrics go: what its nodes run behind their own actions, who may write, and what cannot work."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.lifecycle.render import render_setup
from cdk_trainyard.lifecycle.rules_setup import NOT_SLURMS_PORT
from cdk_trainyard.lifecycle.spec import Exporters, MetricsAgent, NodeSetup
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource, MetricsWorkspace
from cdk_trainyard.monitoring.nodes import node_settings
from cdk_trainyard.parallelcluster import CustomAction, Dcv, ParallelCluster, Placement, SlurmSettings
from tests.lifecycle_scripts.programs import load
from tests.parallelcluster.parts import cpu, head, queue, trn1

WORKSPACE = "arn:aws:aps:us-east-1:111111111111:workspace/ws-0123"
Build = Callable[..., ParallelCluster]


@pytest.fixture
def monitored(stack: Stack, build: Build) -> Build:
    """Return a function that makes a cluster with metrics."""

    def make(**changes: Any) -> ParallelCluster:
        workspace = MetricsWorkspace.from_workspace_arn(stack, "Workspace", WORKSPACE)
        bucket = s3.Bucket.from_bucket_name(stack, "Scripts", "scripts")
        said = {name: changes.pop(name) for name in ("scrape_seconds", "exporters") if name in changes}
        metrics = ClusterMonitoring(workspace=workspace, **{"scrape_seconds": 15, **said})
        return build(**{"metrics": metrics, "scripts_bucket": bucket, "cluster_name": "llama2", **changes})

    return make


def plan(stack: Stack, cluster: ParallelCluster) -> list[list[str]]:
    """The lines of what the head node runs when it is configured, without where the folder is."""
    (fixed,) = [each for each in cluster.node.find_all() if each.node.id == "FixedScripts"]
    lines: Any = stack.resolve(fixed._plans["head/OnNodeConfigured"])  # type: ignore[attr-defined]
    return [[line[0], *line[2:]] for line in lines]


def queue_calls(stack: Stack, cluster: ParallelCluster) -> list[dict[str, Any]]:
    config = stack.resolve(dict(cluster.config))
    called = config["Scheduling"]["SlurmQueues"][0]["CustomActions"]["OnNodeConfigured"]
    return list(called.get("Sequence", [called]))


def test_the_head_node_alone_writes_and_to_this_workspace_alone(stack: Stack, monitored: Build) -> None:
    config = stack.resolve(dict(monitored().config))
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy")
    (name,) = [name for name, each in policies.items() if "aps:RemoteWrite" in str(each)]
    (statement,) = policies[name]["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Action"], statement["Resource"]) == ("aps:RemoteWrite", WORKSPACE)
    assert policies[name]["Properties"]["Path"] == "/parallelcluster/"
    assert {"Policy": {"Ref": name}} in config["HeadNode"]["Iam"]["AdditionalIamPolicies"]
    (compute,) = config["Scheduling"]["SlurmQueues"]
    assert {"Policy": {"Ref": name}} not in compute["Iam"]["AdditionalIamPolicies"]


def test_exporters_come_behind_the_nodes_own_actions(stack: Stack, monitored: Build) -> None:
    own = CustomAction(script="https://scripts.example/own.sh")
    cluster = monitored(queues=[queue(on_configured=[own])])
    first, second = queue_calls(stack, cluster)
    assert first["Script"] == own.script
    assert second["Args"][0] == "run"
    assert second["Args"][2:4] == ["metrics.sh", "exporters=yes"]
    assert not [word for word in second["Args"] if str(word).startswith("metrics_agent")]


def test_the_head_node_runs_the_agent_under_the_clusters_name(stack: Stack, monitored: Build) -> None:
    ((once, script, *words),) = plan(stack, monitored())
    assert (once, script) == ("once", "metrics.sh")
    settings = dict(word.split("=", 1) for word in words if isinstance(word, str))
    agent = {
        name.removeprefix("metrics_agent_"): told
        for name, told in settings.items()
        if name.startswith("metrics_agent_")
    }
    assert agent == {"region": "us-east-1", "cluster": "llama2", "scrape_seconds": "15", "port": "8429"}
    assert any("metrics_agent_url=https://aps-workspaces." in str(word) for word in words)
    assert "/VictoriaMetrics/releases/download/v1." in settings["tools_vmagent_x86_64_url"]


def test_neuron_nodes_are_known_by_their_names_as_slurm_does_not_know_their_devices(
    stack: Stack, monitored: Build
) -> None:
    cluster = monitored(
        queues=[queue(trn1(name="big"), name="train", placement=Placement.CLUSTER), queue(cpu(), name="small")]
    )
    (line,) = plan(stack, cluster)
    assert "exporters_neuron_nodes=train-??-big-*" in line
    assert list(cluster.metrics_sources) == [
        MetricsSource(source) for source in ("controller", "slurm", "node", "efa", "neuron")
    ]  # fmt: skip


def test_nodes_give_what_they_have(monitored: Build) -> None:
    assert list(monitored().metrics_sources) == [MetricsSource.CONTROLLER, MetricsSource.SLURM, MetricsSource.NODE]


def test_without_metrics_nothing_runs(stack: Stack, build: Build) -> None:
    cluster = build()
    assert list(cluster.metrics_sources) == []
    assert "CustomActions" not in stack.resolve(dict(cluster.config))["HeadNode"]


def test_settings_are_those_that_other_nodes_make_of_their_file() -> None:
    agent = MetricsAgent(url="https://example/write", region="us-east-1", cluster="demo")
    setup = NodeSetup(exporters=Exporters(neuron=True), metrics_agent=agent)
    flat = load("hyperpod/resource_config.py").flat
    settings = {
        name: told
        for field, value in render_setup(setup, architectures=["arm64"]).items()
        if field in {"exporters", "metrics_agent", "tools"}
        for name, told in flat(field, value).items()
    }
    assert node_settings(Exporters(neuron=True), agent, [InstanceType.of("c7g.xlarge")]) == settings


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"scripts_bucket": None}, "'scripts_bucket' is missing: 'metrics' needs a bucket for the scripts"),
        ({"scrape_seconds": 1}, "'metrics.scrape_seconds' must be 5 to 120 seconds, got 1"),
        (
            {"operating_system": "rhel8"},
            "'metrics' must be left out with operating system 'rhel8', whose Python is older than 3.8",
        ),
        ({"metrics": "here"}, "'metrics' must be ClusterMonitoring, got 'here'"),
        (
            {"exporters": Exporters(port=2049)},
            "'metrics.exporters.port' must be another port than that of the head node's NFS server, got 2049",
        ),
        ({"exporters": Exporters(port=6829)}, f"'metrics.exporters.port' {NOT_SLURMS_PORT}, got 6829"),
    ],
)
def test_what_cannot_work_is_refused(monitored: Build, changes: dict[str, Any], answer: str) -> None:
    with pytest.raises(ConfigurationError, match=answer):
        monitored(head_node=head(), **changes)


DESKTOP = head(dcv=Dcv(allowed_from="203.0.113.0/24"))


@pytest.mark.parametrize(
    ("line", "changes", "answer"),
    [
        ({"SlurmdPort": 22}, {}, "'slurm.custom[0].SlurmdPort' must be another port than 22 of sshd, got 22"),
        ({"SlurmdPort": 9100}, {}, "must be another port than 9100 of a program of the metrics, got 9100"),
        ({"slurmdport": 8000}, {"queues": [queue(trn1(), placement=Placement.CLUSTER)]}, "than 8000 of a program of"),
        ({"SlurmctldPort": 22}, {}, "must be another port than 22 of sshd, got 22"),
        ({"SlurmctldPort": "2040-2050"}, {}, "than 2049 of the head node's NFS server, got 2040-2050"),
        ({"SlurmctldPort": 8429}, {}, "must be another port than 8429 of the agent of the metrics, got 8429"),
        ({"SlurmctldPort": 9200}, {"exporters": Exporters(port=9200)}, "than 9200 of a program of the metrics"),
        ({"SlurmctldPort": 8443}, {"head_node": DESKTOP}, "than 8443 of the remote desktop, got 8443"),
        ({"SlurmdPort": 2049}, {}, ""),
        ({"SlurmdPort": 8429}, {}, ""),
        ({"SlurmdPort": 8000}, {}, ""),
        ({"SlurmdPort": 8443}, {"head_node": DESKTOP}, ""),
        ({"SlurmctldPort": 6819}, {}, ""),
        ({"SlurmctldPort": 8000}, {"queues": [queue(trn1(), placement=Placement.CLUSTER)]}, ""),
        ({"SlurmctldPort": "6810-6819"}, {}, ""),
    ],
)
def test_daemons_of_slurm_have_ports_of_their_own(
    monitored: Build, line: dict[str, Any], changes: dict[str, Any], answer: str
) -> None:
    said = {"head_node": head(), **changes, "slurm": SlurmSettings(custom=[line])}
    if not answer:
        monitored(**said)
        return
    with pytest.raises(ConfigurationError) as refused:
        monitored(**said)
    assert answer in str(refused.value)


def test_an_image_of_dcgm_exporter_that_asks_for_a_password_is_a_warning(stack: Stack, monitored: Build) -> None:
    image = f"111111111111.dkr.ecr.us-east-1.amazonaws.com/dcgm-exporter@sha256:{'a' * 64}"
    gpus = queue(cpu(instance_type="g5.2xlarge"))
    monitored(exporters=Exporters(gpu=True, gpu_image=image), queues=[gpus])
    found = Annotations.from_stack(stack).find_warning(
        "*", Match.string_like_regexp("parallelcluster:private-gpu-image")
    )
    assert [one for one in found if f"'gpu_image' {image} is in a private registry of ECR" in str(one.entry.data)]
