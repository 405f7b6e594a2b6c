"""Whom an alarm of CloudWatch tells."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns

from cdk_trainyard.acknowledgments import acknowledge, main_resource


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
