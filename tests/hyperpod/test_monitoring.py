"""Rules for the cluster's events, and metrics of them."""

from collections.abc import Callable

from aws_cdk import Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Match, Template

from cdk_trainyard.hyperpod import HyperPodCluster

ARN = {"Fn::GetAtt": ["ClusterEB0386A7", "ClusterArn"]}


def test_node_health_goes_to_a_topic(stack: Stack, build: Callable[..., HyperPodCluster]) -> None:
    topic = sns.Topic(stack, "Topic")
    build().on_node_health(topic)
    template = Template.from_stack(stack)
    (topic_id,) = template.find_resources("AWS::SNS::Topic")
    (rule,) = template.find_resources("AWS::Events::Rule").values()
    assert rule["Properties"] == {
        "Description": "A node of a HyperPod cluster is unhealthy, or healthy again",
        "EventPattern": {
            "source": ["aws.sagemaker"],
            "detail-type": ["SageMaker HyperPod Cluster Node Health Event"],
            "resources": [ARN],
        },
        "State": "ENABLED",
        "Targets": [{"Arn": {"Ref": topic_id}, "Id": "Target0"}],
    }
    template.has_resource_properties(
        "AWS::SNS::TopicPolicy",
        {
            "PolicyDocument": Match.object_like(
                {
                    "Statement": [
                        Match.object_like({"Action": "sns:Publish", "Principal": {"Service": "events.amazonaws.com"}})
                    ]
                }
            )
        },
    )


def test_failures_and_rollbacks_go_to_a_topic(stack: Stack, build: Callable[..., HyperPodCluster]) -> None:
    build().on_trouble(sns.Topic(stack, "Topic"))
    Template.from_stack(stack).has_resource_properties(
        "AWS::Events::Rule",
        {
            "EventPattern": {
                "source": ["aws.sagemaker"],
                "detail-type": ["SageMaker HyperPod Cluster State Change"],
                "resources": [ARN],
                "detail": {"ClusterStatus": ["Failed", "RollingBack"]},
            }
        },
    )


def test_topics_and_metrics_share_a_rule(stack: Stack, build: Callable[..., HyperPodCluster]) -> None:
    cluster = build()
    first = cluster.on_node_health(sns.Topic(stack, "One"))
    assert cluster.on_node_health(sns.Topic(stack, "Two")) is first
    metrics = [cluster.metric_node_health_events(), cluster.metric_trouble_events()]
    rules = Template.from_stack(stack).find_resources("AWS::Events::Rule").values()
    assert sorted(len(rule["Properties"].get("Targets", [])) for rule in rules) == [0, 2]
    for metric, construct_id in zip(metrics, ("NodeHealth", "Trouble"), strict=True):
        assert (metric.namespace, metric.metric_name, metric.statistic) == ("AWS/Events", "TriggeredRules", "Sum")
        assert metric.dimensions is not None
        resolved = stack.resolve(metric.dimensions["RuleName"])
        assert resolved["Ref"].startswith(f"Cluster{construct_id}")


def test_an_imported_cluster_tells_too(stack: Stack) -> None:
    arn = "arn:aws:sagemaker:us-west-2:111111111111:cluster/abcdefghijkl"
    cluster = HyperPodCluster.from_attributes(stack, "Cluster", cluster_arn=arn, cluster_name="train")
    cluster.on_node_health(sns.Topic(stack, "Topic"))
    Template.from_stack(stack).has_resource_properties(
        "AWS::Events::Rule", {"EventPattern": Match.object_like({"resources": [arn]})}
    )
