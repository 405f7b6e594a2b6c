"""A service whose metrics go to a workspace: what runs beside the engine, and what it may."""

import json
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.monitoring import AlertRules, ClusterMonitoring, MetricsWorkspace
from cdk_trainyard.serving import InferenceService
from cdk_trainyard.versions import rows
from tests.serving.parts import new_stack, only, service

SIDECARS = {"metrics", "exporter"}


@pytest.fixture(scope="module")
def served() -> InferenceService:
    """A service with metrics."""
    stack = new_stack()
    return service(stack, metrics=ClusterMonitoring(workspace=MetricsWorkspace(stack, "Metrics"), scrape_seconds=15))


@pytest.fixture(scope="module")
def template(served: InferenceService) -> Template:
    return Template.from_stack(Stack.of(served))


@pytest.fixture(scope="module")
def definition(template: Template) -> dict[str, Any]:
    return dict(only(template, "AWS::ECS::TaskDefinition"))


@pytest.fixture(scope="module")
def containers(definition: dict[str, Any]) -> dict[str, Any]:
    return {container["Name"]: container for container in definition["ContainerDefinitions"]}


def plain() -> dict[str, Any]:
    stack = new_stack()
    service(stack)
    found = only(Template.from_stack(stack), "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
    return {container["Name"]: container for container in found}


def test_nothing_of_it_runs_where_metrics_go_nowhere() -> None:
    assert not SIDECARS & set(plain())


def test_neither_can_take_the_service_down(containers: dict[str, Any]) -> None:
    for name in SIDECARS:
        container = containers[name]
        assert container["Essential"] is False
        assert container["RestartPolicy"] == {"Enabled": True, "RestartAttemptPeriod": 60}
        assert container["LinuxParameters"]["Capabilities"] == {"Drop": ["ALL"]}
        assert container["ReadonlyRootFilesystem"] is True
        assert container["LogConfiguration"]["Options"]["mode"] == "non-blocking"
    taken = sum(containers[name]["Memory"] for name in SIDECARS)
    assert containers["engine"]["Memory"] == plain()["engine"]["Memory"] - taken


def test_their_images_are_those_of_the_matrix_by_digest(containers: dict[str, Any]) -> None:
    pinned = {row["sidecar"]: row["reference"] for row in rows("sidecar_images")}
    assert {containers["metrics"]["Image"], containers["exporter"]["Image"]} == set(pinned.values())
    assert all("@sha256:" in reference for reference in pinned.values())


def test_the_exporter_sees_the_host_and_changes_nothing(definition: dict[str, Any], containers: dict[str, Any]) -> None:
    mounts = containers["exporter"]["MountPoints"]
    assert all(mount["ReadOnly"] for mount in mounts)
    paths = {volume["Name"]: volume.get("Host", {}).get("SourcePath") for volume in definition["Volumes"]}
    assert {paths[mount["SourceVolume"]] for mount in mounts} == {"/proc", "/sys"}


def test_the_agent_ends_before_the_engine_and_keeps_its_queue_on_the_host(
    definition: dict[str, Any], containers: dict[str, Any]
) -> None:
    agent = containers["metrics"]
    assert agent["DependsOn"] == [{"Condition": "START", "ContainerName": "engine"}]
    (mount,) = agent["MountPoints"]
    assert f"-remoteWrite.tmpDataPath={mount['ContainerPath']}" in agent["Command"]
    assert {"Name": mount["SourceVolume"]} in definition["Volumes"]


def test_samples_are_labelled_with_service_task_and_host(served: InferenceService, containers: dict[str, Any]) -> None:
    (text,) = [each["Value"] for each in containers["metrics"]["Environment"] if each["Name"] == "SCRAPE"]
    said = json.loads(text)
    labels = {"cluster": served.service_name, "task": "%{TASK}", "node": "%{NODE}"}
    assert said["global"] == {"scrape_interval": "15s", "scrape_timeout": "10s", "external_labels": labels}
    assert [job["job_name"] for job in said["scrape_configs"]] == ["engine", "node", "agent"]


def test_the_task_may_write_to_this_workspace_and_nothing_else(template: Template) -> None:
    (workspace,) = template.find_resources("AWS::APS::Workspace")
    (statements,) = [
        policy["Properties"]["PolicyDocument"]["Statement"]
        for name, policy in template.find_resources("AWS::IAM::ManagedPolicy").items()
        if "TaskRole" in name
    ]
    assert statements == [
        {"Action": "aps:RemoteWrite", "Effect": "Allow", "Resource": {"Fn::GetAtt": [workspace, "Arn"]}}
    ]


def test_the_way_out_is_tls_alone(template: Template) -> None:
    groups = template.find_resources("AWS::EC2::SecurityGroup").values()
    (out,) = [
        group["Properties"]["SecurityGroupEgress"]
        for group in groups
        if "Tasks that serve" in group["Properties"]["GroupDescription"]
    ]
    assert [(rule["FromPort"], rule["ToPort"], rule["IpProtocol"]) for rule in out] == [(443, 443, "tcp")]


def test_a_role_of_the_users_is_left_as_it_is() -> None:
    stack = new_stack()
    role = iam.Role(stack, "Mine", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
    service(stack, task_role=role, metrics=ClusterMonitoring(workspace=MetricsWorkspace(stack, "Metrics")))
    policies = json.dumps(Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy"))
    assert "aps:RemoteWrite" not in policies


def test_samples_that_are_too_far_apart_are_refused() -> None:
    stack = new_stack()
    metrics = ClusterMonitoring(workspace=MetricsWorkspace(stack, "Metrics"), scrape_seconds=600)
    with pytest.raises(ConfigurationError, match=r"'metrics.scrape_seconds' must be 5 to 120 seconds, got 600"):
        service(stack, metrics=metrics)


def test_its_rules_ask_for_engines_and_hosts_and_for_no_agent_that_is_always_there() -> None:
    stack = new_stack()
    workspace = MetricsWorkspace(stack, "Metrics")
    served = service(stack, metrics=ClusterMonitoring(workspace=workspace))
    made = AlertRules(
        stack, "Rules", workspace=workspace, cluster_name=served.service_name, sources=served.metrics_sources
    )
    assert "EngineSilent" in made.rules
    assert "DiskFull" in made.rules
    assert "ClusterSilent" not in made.rules
    assert "NodeDown" not in made.rules
