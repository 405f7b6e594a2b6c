"""What a cluster tells about itself: events of the service, and metrics of them.

HyperPod's documentation names no CloudWatch metric of a Slurm cluster; nodes may write to the namespace
``/aws/sagemaker/Clusters``, and what they write is not described. What is documented are events, three kinds of them
(``sagemaker-hyperpod-cluster-events-reference`` in the SageMaker developer guide), and EventBridge counts what a rule
matches; and the log of the health monitoring agent (``health_log``). So these are what is offered.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from constructs import Construct


class ClusterEvent(StrEnum):
    """The kinds of events of a cluster, by EventBridge's detail type."""

    NODE_HEALTH = "SageMaker HyperPod Cluster Node Health Event"
    """The service holds a node to be unhealthy, or healthy again. On Slurm clusters none follows from what the health
    monitoring agent finds (``health_log``)."""
    STATE_CHANGE = "SageMaker HyperPod Cluster State Change"
    """The cluster went from one status to another."""
    OPERATION = "SageMaker HyperPod Cluster Event"
    """Provisioning, scaling, patching, Slurm; with continuous provisioning only."""


class EventLevel(StrEnum):
    """How grave an event of the kind ``OPERATION`` is (``EventLevel`` in its record)."""

    INFO = "Info"
    WARN = "Warn"
    ERROR = "Error"


class ClusterStatus(StrEnum):
    """Status of a cluster (``ClusterStatus`` of the SageMaker API)."""

    CREATING = "Creating"
    DELETING = "Deleting"
    FAILED = "Failed"
    IN_SERVICE = "InService"
    ROLLING_BACK = "RollingBack"
    SYSTEM_UPDATING = "SystemUpdating"
    UPDATING = "Updating"


def cluster_rule(
    cluster: Construct,
    construct_id: str,
    *,
    cluster_arn: str,
    event: ClusterEvent,
    description: str,
    detail: Mapping[str, object] | None = None,
) -> events.Rule:
    """Return the cluster's rule for one kind of event; it is defined when it is asked for first.

    Args:
        cluster: The cluster, where the rule belongs.
        construct_id: The rule's id there.
        cluster_arn: The cluster's ARN.
        event: The kind of event.
        description: What the rule is for.
        detail: Further conditions on the event's detail. Default - none.
    """
    defined = cluster.node.try_find_child(construct_id)
    if defined is not None:
        return cast("events.Rule", defined)
    return events.Rule(
        cluster,
        construct_id,
        description=description,
        event_pattern=events.EventPattern(
            source=["aws.sagemaker"], detail_type=[event.value], resources=[cluster_arn], detail=detail
        ),
    )


def matches(rule: events.Rule, *, label: str, period: Duration | None = None) -> cloudwatch.Metric:
    """Return the number of events that a rule matched (``TriggeredRules`` of EventBridge).

    Args:
        rule: The rule.
        label: What a graph calls it.
        period: The period. Default - five minutes.
    """
    return cloudwatch.Metric(
        namespace="AWS/Events",
        metric_name="TriggeredRules",
        dimensions_map={"RuleName": rule.rule_name},
        statistic=cloudwatch.Stats.SUM,
        label=label,
        period=period or Duration.minutes(5),
    )
