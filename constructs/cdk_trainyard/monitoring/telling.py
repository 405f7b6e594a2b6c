"""Whom an alarm of CloudWatch tells."""

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource


def let_alarms_publish(scope: Construct, topic: sns.ITopic) -> None:
    """Let CloudWatch publish to a topic for alarms of this account, and of no other; one that exists keeps its policy.

    So does the key of a topic that has one: the policy of the key gets the condition of the topic's.

    CloudWatch says whose alarm it is, where EventBridge takes no conditions: aws/modern-data-architecture-accelerator,
    cloudwatch-constructs, ``alarm-topic-utils.ts``; the SNS developer guide's "Example cases for Amazon SNS access
    control" has the alarm's ARN as a condition (read 2026-11).

    Args:
        scope: Where the alarms are.
        topic: The topic.
    """
    ours = {"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}
    topic.grant_publish(iam.ServicePrincipal("cloudwatch.amazonaws.com", conditions=ours))


def tell(alarm: cloudwatch.AlarmBase, topic: sns.ITopic | None, *, untold: str) -> None:
    """Have an alarm tell a topic when it rings and when it ends; one that tells nobody says why.

    Args:
        alarm: The alarm, or a composite one.
        topic: The topic. None: nobody is told.
        untold: Why nobody is.
    """
    if topic is not None:
        alarm.add_alarm_action(actions.SnsAction(topic))
        alarm.add_ok_action(actions.SnsAction(topic))
    elif isinstance(alarm, cloudwatch.Alarm):
        acknowledge(main_resource(alarm), {"NIST.800.53.R5-CloudWatchAlarmAction": untold})
