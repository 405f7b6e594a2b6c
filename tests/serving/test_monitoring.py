"""What a service tells: alarms on what its callers would notice, and a dashboard."""

import json
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.serving import ConcurrencyLimit, ScalingSchedule, ServiceMonitoring, ServiceScaling
from tests.serving.parts import load_balancer, new_stack, only, service


def monitored(
    stack: Stack, *, tasks: int = 1, scaling: ServiceScaling | None = None, **changes: float
) -> ServiceMonitoring:
    served = service(stack, tasks=tasks, scaling=scaling)
    topic = sns.Topic.from_topic_arn(stack, "Topic", "arn:aws:sns:us-west-2:111111111111:alerts")
    opened = load_balancer(stack, served)
    return ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=opened, topic=topic, **changes)


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
        if (alarm["TreatMissingData"] == "notBreaching") is (alarm["ComparisonOperator"] != "LessThanThreshold")
    }
    assert found == {
        "no task answers": (1, 30),
        "tasks that the door finds unhealthy after loading": (1, 15),
        "percent of requests that fail (5xx)": (5, 5),
        "the slowest hundredth": (300, 5),
        "requests that wait in the engine": (8, 5),
        "engines that do not answer after loading": (1, 15),
        "errors of Neuron devices": (1, 1),
    }


def alarms_of(template: Template) -> dict[str, dict[str, Any]]:
    """Return the alarms by their ids."""
    found = {
        **template.find_resources("AWS::CloudWatch::Alarm"),
        **template.find_resources("AWS::CloudWatch::CompositeAlarm"),
    }
    return {name.removeprefix("Monitoring")[:-8]: alarm["Properties"] for name, alarm in found.items()}


def test_an_outage_rings_though_it_leaves_no_data(template: Template) -> None:
    outage = alarms_of(template)["Outage"]
    assert (outage["MetricName"], outage["Statistic"]) == ("HealthyHostCount", "Maximum")
    assert (outage["ComparisonOperator"], outage["Threshold"]) == ("LessThanThreshold", 1)
    assert outage["TreatMissingData"] == "breaching"
    assert outage["AlarmActions"]
    (errors,) = [row["Expression"] for row in alarms_of(template)["Errors"]["Metrics"] if "Expression" in row]
    assert errors == "100 * (FILL(target, 0) + FILL(door, 0)) / IF(FILL(requests, 0) > 0, FILL(requests, 0), 1)"


def test_an_outage_is_none_while_a_schedule_asks_for_no_host(stack: Stack) -> None:
    schedules = [
        ScalingSchedule(name="Night", schedule="cron(0 20 ? * * *)", min_tasks=0, max_tasks=0),
        ScalingSchedule(name="Day", schedule="cron(0 6 ? * * *)", min_tasks=1, max_tasks=4),
    ]
    monitored(stack, scaling=ServiceScaling(min_tasks=1, max_tasks=4, schedules=schedules))
    found = alarms_of(Template.from_stack(stack))
    none, asleep, outage = found["NoneHealthy"], found["NoHostWanted"], found["Outage"]
    assert (none["MetricName"], none["TreatMissingData"], none["EvaluationPeriods"]) == (
        "HealthyHostCount",
        "breaching",
        45,
    )
    assert (asleep["MetricName"], asleep["Namespace"]) == ("GroupDesiredCapacity", "AWS/AutoScaling")
    # any minute of those that a host takes to start: in the morning it goes on sleeping until one may be asked for
    assert (asleep["EvaluationPeriods"], asleep["DatapointsToAlarm"], asleep["TreatMissingData"]) == (
        45,
        1,
        "notBreaching",
    )
    assert "AlarmActions" not in none | asleep
    assert outage["AlarmActions"] == outage["OKActions"] == ["arn:aws:sns:us-west-2:111111111111:alerts"]
    rule = json.dumps(outage["AlarmRule"])
    assert [part in rule for part in ("ALARM(", " AND ", "(NOT (ALARM(")] == [True, True, True]


def test_nothing_is_no_outage_where_nothing_is_asked_for(stack: Stack) -> None:
    monitored(stack, tasks=0)
    assert "Outage" not in alarms_of(Template.from_stack(stack))


def test_errors_of_devices_are_counted_in_the_log(template: Template) -> None:
    found = only(template, "AWS::Logs::MetricFilter")
    assert '?"NRT_EXEC"' in found["FilterPattern"]
    assert found["MetricTransformations"][0]["MetricNamespace"] == "CdkTrainyard/Serving"


def test_the_dashboard_shows_queue_door_and_log(template: Template) -> None:
    shown = json.dumps(only(template, "AWS::CloudWatch::Dashboard"))
    assert all(word in shown for word in ("RequestsWaiting", "TargetResponseTime", "HTTPCode_Target_5XX_Count", "Up"))


def test_what_a_limit_refuses_rings_and_is_shown(stack: Stack, template: Template) -> None:
    served = service(stack)
    opened = load_balancer(stack, served, concurrency=ConcurrencyLimit())
    ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=opened)
    limited = Template.from_stack(stack)
    refused = alarms_of(limited)["Refused"]
    assert (refused["MetricName"], refused["Statistic"]) == ("TargetControlRequestRejectCount", "Sum")
    assert [dimension["Name"] for dimension in refused["Dimensions"]] == ["LoadBalancer"]
    assert (refused["Threshold"], refused["EvaluationPeriods"], refused["TreatMissingData"]) == (1, 5, "notBreaching")
    shown = [json.dumps(only(each, "AWS::CloudWatch::Dashboard")) for each in (limited, template)]
    assert ["TargetControlRequestRejectCount" in each for each in shown] == [True, False]


def test_without_a_topic_alarms_are_on_the_dashboard_and_tell_nobody(stack: Stack) -> None:
    served = service(stack)
    made = ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=load_balancer(stack, served))
    template = Template.from_stack(stack)
    alarms = template.find_resources("AWS::CloudWatch::Alarm").values()
    assert len(alarms) == len(made.alarms) == 7
    assert not any("AlarmActions" in alarm["Properties"] for alarm in alarms)
    shown = json.dumps(only(template, "AWS::CloudWatch::Dashboard"))
    assert all(logical_id in shown for logical_id in template.find_resources("AWS::CloudWatch::Alarm"))


def test_without_a_load_balancer_what_it_counts_is_left_out(stack: Stack) -> None:
    made = ServiceMonitoring(stack, "Monitoring", service=service(stack))
    template = Template.from_stack(stack)
    assert set(alarms_of(template)) == {"Waiting", "Down", "Neuron"}
    assert len(made.alarms) == 3
    shown = json.dumps(only(template, "AWS::CloudWatch::Dashboard"))
    assert [word in shown for word in ("RequestsWaiting", "ApplicationELB", "TargetResponseTime")] == [
        True,
        False,
        False,
    ]


def test_other_thresholds(stack: Stack) -> None:
    alarms = monitored(stack, latency_seconds=9, waiting=3, error_percent=1).alarms
    assert len(alarms) == 7
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
