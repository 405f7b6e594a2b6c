"""Schedules and rolling updates as they stand in the template."""

from collections.abc import Callable
from typing import Any

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch

from cdk_trainyard.hyperpod import (
    AutoPatch,
    BatchSize,
    HyperPodCluster,
    PatchingStrategy,
    RollingUpdate,
    ScheduledUpdate,
)
from tests.hyperpod.parts import cluster_properties, controller, statements, worker


def test_a_schedule_alone(stack: Stack, build: Callable[..., HyperPodCluster]) -> None:
    build(groups=[controller(), worker(scheduled_update=ScheduledUpdate(schedule="cron(0 4 ? * SUN *)"))])
    _, workers = cluster_properties(stack)["InstanceGroups"]
    assert workers["ScheduledUpdateConfig"] == {"ScheduleExpression": "cron(0 4 ? * SUN *)"}
    assert "cloudwatch:DescribeAlarms" not in str(statements(stack))


def test_everything_set(stack: Stack, build: Callable[..., HyperPodCluster]) -> None:
    alarm = cloudwatch.Alarm.from_alarm_arn(stack, "Alarm", "arn:aws:cloudwatch:us-west-2:111111111111:alarm:failures")
    rolling = RollingUpdate(
        batch=BatchSize.percent(20),
        rollback_batch=BatchSize.instances(2),
        wait=Duration.minutes(10),
        rollback_alarms=[alarm],
    )
    updated = worker(
        scheduled_update=ScheduledUpdate(schedule="cron(0 4 ? * SUN *)", rolling=rolling),
        auto_patch=AutoPatch(strategy=PatchingStrategy.WHEN_ALL_IDLE, rolling=rolling),
    )
    build(groups=[controller(), updated])
    _, workers = cluster_properties(stack)["InstanceGroups"]
    deployment: dict[str, Any] = {
        "RollingUpdatePolicy": {
            "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 20},
            "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2},
        },
        "WaitIntervalInSeconds": 600,
        "AutoRollbackConfiguration": [{"AlarmName": "failures"}],
    }
    assert workers["ScheduledUpdateConfig"] == {
        "ScheduleExpression": "cron(0 4 ? * SUN *)",
        "DeploymentConfig": deployment,
    }
    assert workers["AutoPatchConfig"] == {"PatchingStrategy": "WhenAllIdle", "DeploymentConfig": deployment}
    assert "cloudwatch:DescribeAlarms" in str(statements(stack))
