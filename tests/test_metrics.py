"""Metrics of what computes: names and dimensions as AWS has them."""

from collections.abc import Callable
from typing import Any

import botocore.session
import pytest
from aws_cdk import Duration, Stack
from aws_cdk.assertions import Template

from cdk_trainyard import TrainingNetwork
from tests import parts
from tests.parts import ZONE, new_stack
from tests.serving.parts import service
from tests.support import ROOT

_SOURCE = "lib/python3.*/site-packages/pcluster/templates/cw_dashboard_builder.py"


def cluster(build: Callable[..., Any]) -> Any:
    stack = new_stack()
    return build(stack, TrainingNetwork(stack, "Network", zone=ZONE))


@pytest.fixture(scope="module")
def fleet() -> Any:
    return cluster(parts.fleet)


@pytest.fixture(scope="module")
def parallelcluster() -> Any:
    return cluster(parts.parallelcluster)


@pytest.fixture(scope="module")
def serving() -> Any:
    return service(new_stack())


GROUP = "AWS/AutoScaling"
METRICS = {
    "fleet": {
        "cpu_utilization": ("AWS/EC2", "CPUUtilization", "Average"),
        "network_in": ("AWS/EC2", "NetworkIn", "Sum"),
        "network_out": ("AWS/EC2", "NetworkOut", "Sum"),
        "status_check_failed": ("AWS/EC2", "StatusCheckFailed", "Maximum"),
        "in_service_instances": (GROUP, "GroupInServiceInstances", "Average"),
        "pending_instances": (GROUP, "GroupPendingInstances", "Average"),
        "desired_capacity": (GROUP, "GroupDesiredCapacity", "Average"),
    },
    "parallelcluster": {
        "insufficient_capacity_errors": ("ParallelCluster", "InsufficientCapacityErrors", "Sum"),
        "vcpu_limit_errors": ("ParallelCluster", "VcpuLimitErrors", "Sum"),
        "iam_policy_errors": ("ParallelCluster", "IamPolicyErrors", "Sum"),
        "volume_limit_errors": ("ParallelCluster", "VolumeLimitErrors", "Sum"),
        "other_launch_failures": ("ParallelCluster", "OtherInstanceLaunchFailures", "Sum"),
        "bootstrap_timeout_errors": ("ParallelCluster", "InstanceBootstrapTimeoutErrors", "Sum"),
        "health_check_errors": ("ParallelCluster", "EC2HealthCheckErrors", "Sum"),
        "nodes_not_responding": ("ParallelCluster", "SlurmNodeNotRespondingErrors", "Sum"),
        "longest_idle_time": ("ParallelCluster", "MaxDynamicNodeIdleTime", "Maximum"),
    },
    "serving": {
        "cpu_utilization": ("AWS/ECS", "CPUUtilization", "Average"),
        "memory_utilization": ("AWS/ECS", "MemoryUtilization", "Average"),
        "requests_waiting": ("CdkTrainyard/Serving", "RequestsWaiting", "Average"),
        "requests_running": ("CdkTrainyard/Serving", "RequestsRunning", "Average"),
        "engines_up": ("CdkTrainyard/Serving", "Up", "Average"),
    },
}
DIMENSIONS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "AWS/EC2": lambda fleet: {"AutoScalingGroupName": fleet.group_name},
    GROUP: lambda fleet: {"AutoScalingGroupName": fleet.group_name},
    "ParallelCluster": lambda made: {"ClusterName": made.cluster_name},
    "AWS/ECS": lambda made: {"ClusterName": made.cluster.cluster_name, "ServiceName": made.service.service_name},
    "CdkTrainyard/Serving": lambda made: {"Service": made.service_name},
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in METRICS.items() for name in names])
def test_a_metric_is_the_one_of_aws(kind: str, name: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(kind)
    method = getattr(made, f"metric_{name}")
    found, slower = method(), method(period=Duration.minutes(15))
    namespace = METRICS[kind][name][0]
    assert (found.namespace, found.metric_name, found.statistic) == METRICS[kind][name]
    assert found.dimensions == DIMENSIONS[namespace](made)
    assert slower.period.to_minutes() == 15


def test_every_metric_of_a_construct_is_held_to_the_table(request: pytest.FixtureRequest) -> None:
    for kind, names in METRICS.items():
        made = request.getfixturevalue(kind)
        methods = {name.removeprefix("metric_") for name in dir(type(made)) if name.startswith("metric_")}
        assert methods - {"head_node"} == names.keys()


def test_any_metric_can_be_named(fleet: Any, parallelcluster: Any, serving: Any) -> None:
    assert fleet.metric("EBSReadBytes", statistic="Sum").statistic == "Sum"
    assert parallelcluster.metric("GpuHealthCheckFailures").metric_name == "GpuHealthCheckFailures"
    assert serving.metric("EBSFilesystemUtilization").namespace == "AWS/ECS"
    head = parallelcluster.metric_head_node("CPUUtilization")
    assert (head.namespace, head.statistic) == ("AWS/EC2", "Maximum")
    assert head.dimensions == {"InstanceId": parallelcluster.head_node_instance_id}


def test_a_group_reports_metrics_when_one_is_asked_for_and_not_before() -> None:
    made = cluster(parts.fleet)
    template = Template.from_stack(Stack.of(made)).to_json()
    (group,) = (each for each in template["Resources"].values() if each["Type"] == "AWS::AutoScaling::AutoScalingGroup")
    assert "MetricsCollection" not in group["Properties"]
    made = cluster(parts.fleet)
    for _ in range(2):
        made.metric_in_service_instances()
    found = Template.from_stack(Stack.of(made)).find_resources("AWS::AutoScaling::AutoScalingGroup")
    assert [each["Properties"]["MetricsCollection"] for each in found.values()] == [[{"Granularity": "1Minute"}]]


def test_metrics_of_a_group_are_those_of_the_service() -> None:
    model = botocore.session.get_session().get_service_model("autoscaling")
    said = model.operation_model("EnableMetricsCollection").input_shape.members["Metrics"].documentation
    for namespace, metric, _ in METRICS["fleet"].values():
        assert namespace != GROUP or f"<code>{metric}</code>" in said


@pytest.mark.contract
def test_metrics_of_parallelcluster_are_those_that_it_makes() -> None:
    (source,) = (ROOT / ".venv-pcluster").glob(_SOURCE)
    text = source.read_text()
    assert 'custom_namespace = "ParallelCluster"' in text
    assert '"ClusterName": self.config.cluster_name' in text
    for _, metric, _ in METRICS["parallelcluster"].values():
        assert f'metric_name="{metric}"' in text
