"""What HyperPod's health monitoring agent finds on nodes, from the one place where a Slurm cluster says it: its log.

The agent writes one JSON object a line into the cluster's log group, streams
``SagemakerHealthMonitoringAgent/<group>/<instance-id>``; ``"HealthMonitoringAgentDetectionEvent":"HealthEvent"`` in it
is a finding (``sagemaker-hyperpod-eks-resiliency-health-monitoring-agent`` in the SageMaker developer guide; by
``sagemaker-hyperpod-resiliency-slurm-cluster-health-check`` the same agent watches Slurm nodes). No event follows on
Slurm clusters (``hma_cw_bridge.py`` of awslabs/awsome-distributed-ai, 2026-07-23).
"""

from importlib.resources import files

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, main_resource
from cdk_trainyard.hyperpod.execution_role import LOG_GROUPS
from cdk_trainyard.inline_function import InlineFunction

METRICS_NAMESPACE = "CdkTrainyard/HyperPod"
STREAMS = "SagemakerHealthMonitoringAgent"
# As words, so that a line counts whatever stands around the JSON.
_FINDING = ("HealthMonitoringAgentDetectionEvent", "HealthEvent")


class HealthLog(Construct):
    """A metric of the findings in a cluster's log.

    CloudWatch takes a metric filter only for a log group that is there, and this one bears the id that the cluster
    gets: a small function makes it, once the cluster exists, unless the service was first.

    Args:
        cluster_name: Name of the cluster.
        log_group_name: Its log group.

    Attributes:
        metric: How many findings there were in a minute.
    """

    def __init__(self, scope: Construct, construct_id: str, *, cluster_name: str, log_group_name: str) -> None:
        super().__init__(scope, construct_id)
        made = _MadeLogGroup(self, "LogGroup", cluster_name=cluster_name, log_group_name=log_group_name)
        findings = logs.MetricFilter(
            self,
            "Findings",
            log_group=logs.LogGroup.from_log_group_name(self, "ClusterLog", log_group_name),
            filter_pattern=logs.FilterPattern.all_terms(*_FINDING),
            metric_namespace=METRICS_NAMESPACE,
            metric_name=f"NodeFaults-{cluster_name}",
            metric_value="1",
        )
        findings.node.add_dependency(made.resource)
        self.metric = findings.metric(period=Duration.minutes(1), statistic=cloudwatch.Stats.SUM)


class _MadeLogGroup(InlineFunction):
    """Makes a cluster's log group, unless it is there; deleting leaves it."""

    def __init__(self, scope: Construct, construct_id: str, *, cluster_name: str, log_group_name: str) -> None:
        arn = Stack.of(scope).format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"{LOG_GROUPS}/{cluster_name}/*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        super().__init__(
            scope,
            construct_id,
            code=files(__package__).joinpath("log_group_handler.py").read_text(encoding="utf-8"),
            description="Makes the log group of one HyperPod cluster",
            statements=[iam.PolicyStatement(actions=["logs:CreateLogGroup"], resources=[arn])],
            resource_type="Custom::HyperPodLogGroup",
            properties={"LogGroupName": log_group_name},
        )
        Wildcards(main_resource(self.node.find_child("Policy"))).acknowledge(
            "the service numbers the cluster's log groups itself", arn
        )
