"""CloudWatch: alarms and dashboards."""

from cdk_trainyard.local.resources.model import Name, ResourceType
from cdk_trainyard.local.resources.steps import Api, arn, given, tagger

CLOUDWATCH = Api("cloudwatch")
_ARN = arn("cloudwatch", "alarm:{}")
_TAGS = tagger("cloudwatch", "tag_resource", "untag_resource", lambda it: {"ResourceARN": _ARN(it)})

TYPES = (
    ResourceType(
        name="AWS::CloudWatch::Alarm",
        create=CLOUDWATCH.put("put_metric_alarm"),
        identity=given("AlarmName"),
        update=CLOUDWATCH.put("put_metric_alarm"),
        retag=_TAGS,
        delete=CLOUDWATCH.forget("delete_alarms", lambda it: {"AlarmNames": [it.id]}),
        read=CLOUDWATCH.read(
            "describe_alarms",
            lambda it: {"AlarmNames": [it.id]},
            "MetricAlarms[0].{Threshold: Threshold, EvaluationPeriods: EvaluationPeriods}",
        ),
        attributes={"Arn": _ARN},
        named=Name(property="AlarmName"),
    ),
    ResourceType(
        name="AWS::CloudWatch::CompositeAlarm",
        create=CLOUDWATCH.put("put_composite_alarm"),
        identity=given("AlarmName"),
        update=CLOUDWATCH.put("put_composite_alarm"),
        retag=_TAGS,
        delete=CLOUDWATCH.forget("delete_alarms", lambda it: {"AlarmNames": [it.id]}),
        read=CLOUDWATCH.read(
            "describe_alarms",
            lambda it: {"AlarmNames": [it.id], "AlarmTypes": ["CompositeAlarm"]},
            "CompositeAlarms[0].{AlarmRule: AlarmRule}",
        ),
        attributes={"Arn": _ARN},
        named=Name(property="AlarmName"),
    ),
    ResourceType(
        name="AWS::CloudWatch::Dashboard",
        create=CLOUDWATCH.put("put_dashboard"),
        identity=given("DashboardName"),
        update=CLOUDWATCH.put("put_dashboard"),
        delete=CLOUDWATCH.forget("delete_dashboards", lambda it: {"DashboardNames": [it.id]}),
        read=CLOUDWATCH.read("get_dashboard", lambda it: {"DashboardName": it.id}),
        named=Name(property="DashboardName"),
    ),
)
