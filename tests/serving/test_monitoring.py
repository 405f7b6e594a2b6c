"""What a service tells: alarms on what its callers would notice, and a dashboard."""

import json

import pytest
from aws_cdk import Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.serving import ServiceMonitoring
from tests.serving.parts import door, new_stack, only, service


def monitored(stack: Stack, **changes: float) -> ServiceMonitoring:
    served = service(stack)
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111111111111:alerts")
    opened = door(stack, served)
    return ServiceMonitoring(stack, "Monitoring", service=served, door=opened, topic=topic, **changes)


@pytest.fixture(scope="module")
def template() -> Template:
    """The template of the smallest call."""
    stack = new_stack()
    monitored(stack)
    return Template.from_stack(stack)


def test_alarms_of_the_smallest_call(template: Template) -> None:
    alarms = [resource["Properties"] for resource in template.find_resources("AWS::CloudWatch::Alarm").values()]
    found = {
        alarm["AlarmDescription"].split(":")[0].split(",")[0]: (alarm["Threshold"], alarm["EvaluationPeriods"])
        for alarm in alarms
        if alarm["AlarmActions"] == alarm["OKActions"] == ["arn:aws:sns:us-west-2:111111111111:alerts"]
        if alarm["TreatMissingData"] == "notBreaching"
    }
    assert found == {
        "tasks that the door finds unhealthy after loading": (1, 15),
        "percent of requests that fail (5xx)": (5, 5),
        "the slowest hundredth": (300, 5),
        "requests that wait in the engine": (8, 5),
        "engines that do not answer after loading": (1, 15),
        "errors of Neuron devices": (1, 1),
    }


def test_errors_of_devices_are_counted_in_the_log(template: Template) -> None:
    found = only(template, "AWS::Logs::MetricFilter")
    assert '?"NRT_EXEC"' in found["FilterPattern"]
    assert found["MetricTransformations"][0]["MetricNamespace"] == "CdkTrainyard/Serving"


def test_the_dashboard_shows_queue_door_and_log(template: Template) -> None:
    shown = json.dumps(only(template, "AWS::CloudWatch::Dashboard"))
    assert all(word in shown for word in ("RequestsWaiting", "TargetResponseTime", "HTTPCode_Target_5XX_Count", "Up"))


def test_without_a_topic_alarms_are_on_the_dashboard_and_tell_nobody(stack: Stack) -> None:
    served = service(stack)
    made = ServiceMonitoring(stack, "Monitoring", service=served, door=door(stack, served))
    template = Template.from_stack(stack)
    alarms = template.find_resources("AWS::CloudWatch::Alarm").values()
    assert len(alarms) == len(made.alarms) == 6
    assert not any("AlarmActions" in alarm["Properties"] for alarm in alarms)
    shown = json.dumps(only(template, "AWS::CloudWatch::Dashboard"))
    assert all(logical_id in shown for logical_id in template.find_resources("AWS::CloudWatch::Alarm"))


def test_other_thresholds(stack: Stack) -> None:
    alarms = monitored(stack, latency_seconds=9, waiting=3, error_percent=1).alarms
    assert len(alarms) == 6
    thresholds = {
        resource["Properties"]["Threshold"]
        for resource in Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    }
    assert thresholds == {1, 3, 9}


def test_fails_a_threshold_that_is_none(stack: Stack) -> None:
    with pytest.raises(ConfigurationError) as raised:
        monitored(stack, waiting=0, error_percent=-1)
    assert raised.value.problems == (
        "'waiting' must be more than 0, got 0",
        "'error_percent' must be more than 0, got -1",
    )
