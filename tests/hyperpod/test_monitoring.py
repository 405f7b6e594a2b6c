"""Rules for the cluster's events, and metrics of them."""

from collections.abc import Callable

from aws_cdk import Duration, Stack
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


def test_operations_that_fail_while_the_cluster_is_in_service_go_to_a_topic(
    stack: Stack, build: Callable[..., HyperPodCluster]
) -> None:
    build().on_operation_error(sns.Topic(stack, "Topic"))
    Template.from_stack(stack).has_resource_properties(
        "AWS::Events::Rule",
        {
            "EventPattern": {
                "source": ["aws.sagemaker"],
                "detail-type": ["SageMaker HyperPod Cluster Event"],
                "resources": [ARN],
                "detail": {"EventDetails": {"EventLevel": ["Error"]}},  # twice, as in the record of the reference
            }
        },
    )


def test_a_fault_that_a_node_logs_rings_once_the_cluster_has_its_id(
    stack: Stack, build: Callable[..., HyperPodCluster]
) -> None:
    build(cluster_name="train").on_node_health(sns.Topic(stack, "Topic"))
    template = Template.from_stack(stack)
    cluster_id = {"Fn::Select": [1, {"Fn::Split": ["/", ARN]}]}
    log_group = {"Fn::Join": ["", ["/aws/sagemaker/Clusters/train/", cluster_id]]}
    ((made_id, made),) = template.find_resources("Custom::HyperPodLogGroup").items()
    assert made["Properties"]["LogGroupName"] == log_group  # so it waits for the cluster
    (findings,) = template.find_resources("AWS::Logs::MetricFilter").values()
    assert findings["Properties"]["FilterPattern"] == '"HealthMonitoringAgentDetectionEvent" "HealthEvent"'
    assert findings["Properties"]["LogGroupName"] == log_group
    assert made_id in findings["DependsOn"]
    metric = {"MetricNamespace": "CdkTrainyard/HyperPod", "MetricName": "NodeFaults-train", "MetricValue": "1"}
    assert findings["Properties"]["MetricTransformations"] == [metric]
    (topic_id,) = template.find_resources("AWS::SNS::Topic")
    template.has_resource_properties(
        "AWS::CloudWatch::Alarm",
        {
            "AlarmActions": [{"Ref": topic_id}],
            "ComparisonOperator": "GreaterThanOrEqualToThreshold",
            "EvaluationPeriods": 1,
            "MetricName": "NodeFaults-train",
            "Namespace": "CdkTrainyard/HyperPod",
            "Period": 60,
            "Statistic": "Sum",
            "Threshold": 1,
            "TreatMissingData": "notBreaching",
        },
    )


def test_topics_and_metrics_share_a_rule(stack: Stack, build: Callable[..., HyperPodCluster]) -> None:
    cluster = build()
    first = cluster.on_node_health(sns.Topic(stack, "One"))
    assert cluster.on_node_health(sns.Topic(stack, "Two")) is first
    metrics = [
        cluster.metric_node_health_events(),
        cluster.metric_trouble_events(),
        cluster.metric_operation_errors(),
    ]
    template = Template.from_stack(stack)
    rules = template.find_resources("AWS::Events::Rule").values()
    assert sorted(len(rule["Properties"].get("Targets", [])) for rule in rules) == [0, 0, 2]
    (alarm,) = template.find_resources("AWS::CloudWatch::Alarm").values()
    assert len(alarm["Properties"]["AlarmActions"]) == 2
    for metric, construct_id in zip(metrics, ("NodeHealth", "Trouble", "OperationErrors"), strict=True):
        assert (metric.namespace, metric.metric_name, metric.statistic) == ("AWS/Events", "TriggeredRules", "Sum")
        assert metric.dimensions is not None
        resolved = stack.resolve(metric.dimensions["RuleName"])
        assert resolved["Ref"].startswith(f"Cluster{construct_id}")


def test_every_metric_has_the_period_that_is_asked_for(build: Callable[..., HyperPodCluster]) -> None:
    cluster = build()
    methods = [getattr(cluster, name) for name in dir(HyperPodCluster) if name.startswith("metric_")]
    assert [method().period.to_minutes() for method in methods] == [1, 5, 5, 5]
    assert {method(period=Duration.hours(1)).period.to_minutes() for method in methods} == {60}


def test_an_imported_cluster_tells_too(stack: Stack) -> None:
    arn = "arn:aws:sagemaker:us-west-2:111111111111:cluster/abcdefghijkl"
    cluster = HyperPodCluster.from_attributes(stack, "Cluster", cluster_arn=arn, cluster_name="train")
    cluster.on_node_health(sns.Topic(stack, "Topic"))
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::Events::Rule", {"EventPattern": Match.object_like({"resources": [arn]})})
    template.has_resource_properties(
        "AWS::Logs::MetricFilter", {"LogGroupName": "/aws/sagemaker/Clusters/train/abcdefghijkl"}
    )
