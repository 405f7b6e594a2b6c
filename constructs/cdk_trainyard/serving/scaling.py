"""Moves the number of tasks: by the engine's queue or by requests at the load balancer, within bounds."""

from typing import TYPE_CHECKING, cast

from aws_cdk import Duration, TimeZone
from aws_cdk import aws_applicationautoscaling as appscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elb
from constructs import Construct

from cdk_trainyard.acknowledgments import main_resource
from cdk_trainyard.serving.spec_service import ScalingMetric
from cdk_trainyard.serving.task import METRICS_NAMESPACE

if TYPE_CHECKING:
    from cdk_trainyard.serving.service import InferenceService

_REQUESTS_PER_TASK = 30.0


def engine_metric(
    service_name: str, metric_name: str, statistic: str, period: Duration | None = None
) -> cloudwatch.Metric:
    """Return a metric that the collector reports."""
    return cloudwatch.Metric(
        namespace=METRICS_NAMESPACE,
        metric_name=metric_name,
        dimensions_map={"Service": service_name},
        statistic=statistic,
        period=period or Duration.minutes(1),
    )


def scale(
    service: "InferenceService", metric: ScalingMetric, *, target_group: elb.ApplicationTargetGroup | None = None
) -> ecs.ScalableTaskCount | None:
    """Scale the service when ``metric`` is the one it is scaled by, and set its schedules. None: it is another."""
    scaling = service.spec.scaling
    if scaling is None or scaling.metric is not metric:
        return None
    count = service.service.auto_scale_task_count(min_capacity=scaling.min_tasks, max_capacity=scaling.max_tasks)
    target = main_resource(cast("Construct", count.node.find_child("Target")))
    target.add_property_deletion_override("RoleARN")  # the service-linked role, which the service takes by itself
    cooldown = Duration.seconds(scaling.cooldown_seconds)
    if target_group is None:
        count.scale_to_track_custom_metric(
            "Queue",
            metric=engine_metric(service.service_name, "RequestsWaiting", cloudwatch.Stats.AVERAGE),
            target_value=float(service.model.batch if scaling.target is None else scaling.target),
            scale_in_cooldown=cooldown,
            scale_out_cooldown=service.health_grace,
        )
    else:
        count.scale_on_request_count(
            "Requests",
            requests_per_target=_REQUESTS_PER_TASK if scaling.target is None else scaling.target,
            target_group=target_group,
            scale_in_cooldown=cooldown,
            scale_out_cooldown=service.health_grace,
        )
    for schedule in scaling.schedules:
        count.scale_on_schedule(
            schedule.name,
            schedule=appscaling.Schedule.expression(schedule.schedule),
            min_capacity=schedule.min_tasks,
            max_capacity=schedule.max_tasks,
            time_zone=TimeZone.of(schedule.time_zone),
        )
    return count
