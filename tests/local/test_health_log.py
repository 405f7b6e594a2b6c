"""The alarm on what nodes log: deployed with the cluster, whose log group has the id that it gets."""

from typing import Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Environment, Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from cdk_trainyard.hyperpod import GroupRole, HyperPodCluster, InstanceGroup
from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, template


@pytest.fixture(scope="module")
def body() -> dict[str, Any]:
    synthesizer = DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
    environment = Environment(account="123456789012", region="us-west-2")
    stack = Stack(App(analytics_reporting=False), "Training", env=environment, synthesizer=synthesizer)
    cluster = HyperPodCluster(
        stack,
        "Cluster",
        cluster_name="watched",
        groups=[
            InstanceGroup(name="controller", role=GroupRole.CONTROLLER, instance_type="ml.m5.large", count=1),
            InstanceGroup(name="workers", role=GroupRole.COMPUTE, instance_type="ml.c5.4xlarge", count=1),
        ],
    )
    cluster.on_node_health(sns.Topic(stack, "Operators"))
    return dict(Template.from_stack(stack).to_json())


def test_the_log_group_is_made_between_the_cluster_and_the_filter(
    body: dict[str, Any], stacks: Stacks, aws: LocalAws
) -> None:
    name = stacks.deployed(body)
    logs = aws.client("logs")
    cluster_id = aws.client("sagemaker").describe_cluster(ClusterName="watched")["ClusterArn"].partition("/")[-1]
    log_group = f"/aws/sagemaker/Clusters/watched/{cluster_id}"
    (found,) = logs.describe_metric_filters(logGroupName=log_group)["metricFilters"]
    assert found["metricTransformations"][0]["metricName"] == "NodeFaults-watched"
    (alarm,) = aws.client("cloudwatch").describe_alarms(AlarmNamePrefix=f"{name}-")["MetricAlarms"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("CdkTrainyard/HyperPod", "NodeFaults-watched")
    assert stacks.delete(name) == "DELETE_COMPLETE", stacks.reasons(name)
    assert len(logs.describe_log_groups(logGroupNamePrefix=log_group)["logGroups"]) == 1  # the cluster's log stays


def test_a_filter_of_a_log_group_that_is_not_there_is_refused(stacks: Stacks) -> None:
    properties = {
        "LogGroupName": "/nobody/made/it",
        "FilterPattern": "ERROR",
        "MetricTransformations": [{"MetricName": "errors", "MetricNamespace": "tried", "MetricValue": "1"}],
    }
    why = stacks.failure(template({"Filter": {"Type": "AWS::Logs::MetricFilter", "Properties": properties}}))
    assert "The specified log group does not exist" in why
