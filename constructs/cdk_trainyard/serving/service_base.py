"""The base of `InferenceService`: what is done with its ECS service and its hosts once they are there."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.identifiers import AUTO_SCALING_GROUP_TAG
from cdk_trainyard.operators import Permission, granted, listed_instances, sessions, tagged_instances
from cdk_trainyard.serving.hosts import InferenceHosts
from cdk_trainyard.serving.scaling import engine_metric


class ServiceBase(Construct):
    """The base of `InferenceService`: grants, and metrics of tasks and engines.

    Attributes:
        cluster: The cluster.
        hosts: The hosts.
        service: The ECS service.
        service_name: What the service's metrics are called by.
    """

    cluster: ecs.Cluster
    hosts: InferenceHosts
    service: ecs.Ec2Service
    service_name: str

    def grant_connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody open a shell on the hosts by Session Manager.

        The way leads over hosts: ECS Exec needs a root file system that can be written to (Amazon ECS developer guide,
        "Monitor Amazon ECS containers with ECS Exec"), and the engine's is read-only.

        Args:
            grantee: Who: a role of operators, for instance.
        """
        return granted(
            grantee,
            *sessions(self, tagged_instances(self, AUTO_SCALING_GROUP_TAG, self.hosts.group.auto_scaling_group_name)),
        )

    def grant_describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody look at the service, its tasks and its hosts.

        Args:
            grantee: Who.
        """
        return granted(
            grantee,
            *_described(self),
            listed_instances(self),
        )

    def metric(
        self, metric_name: str, *, statistic: str | None = None, period: Duration | None = None
    ) -> cloudwatch.Metric:
        """Return a metric of the service's tasks.

        Source: Amazon ECS developer guide, "Amazon ECS CloudWatch metrics", read 2026-11.

        Args:
            metric_name: The metric's name in the namespace ``AWS/ECS``.
            statistic: What to make of the values. Default - their average.
            period: The period. Default - five minutes.
        """
        return self.service.metric(
            metric_name, statistic=statistic or cloudwatch.Stats.AVERAGE, period=period or Duration.minutes(5)
        )

    def metric_cpu_utilization(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the CPU in use of what tasks reserve, in percent.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("CPUUtilization", period=period)

    def metric_memory_utilization(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the memory in use of what tasks reserve, in percent.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("MemoryUtilization", period=period)

    def metric_requests_waiting(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the requests that wait in an engine, on average.

        Args:
            period: The period. Default - a minute.
        """
        return engine_metric(self.service_name, "RequestsWaiting", cloudwatch.Stats.AVERAGE, period)

    def metric_requests_running(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the requests that an engine answers, on average.

        Args:
            period: The period. Default - a minute.
        """
        return engine_metric(self.service_name, "RequestsRunning", cloudwatch.Stats.AVERAGE, period)

    def metric_engines_up(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the part of engines that answer, 0 to 1.

        Args:
            period: The period. Default - a minute.
        """
        return engine_metric(self.service_name, "Up", cloudwatch.Stats.AVERAGE, period)


def _described(service: ServiceBase) -> list[Permission]:
    cluster, stack = service.cluster, Stack.of(service)
    inside = {
        kind: stack.format_arn(service="ecs", resource=kind, resource_name=f"{cluster.cluster_name}/*")
        for kind in ("container-instance", "task")
    }
    return [
        Permission(actions=["ecs:DescribeServices"], resources=[service.service.service_arn]),
        Permission(actions=["ecs:DescribeClusters", "ecs:ListContainerInstances"], resources=[cluster.cluster_arn]),
        Permission(
            actions=["ecs:DescribeContainerInstances", "ecs:ListTasks"], resources=[inside["container-instance"]]
        ),
        Permission(actions=["ecs:DescribeTasks"], resources=[inside["task"]]),
    ]
