"""The base of ParallelClusters, made or imported."""

from collections.abc import Mapping

import jsii
from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.identifiers import PARALLELCLUSTER_TAG
from cdk_trainyard.operators import Permission, granted, listed_instances, sessions, tagged_instances

"""Of everything that ParallelCluster makes (``pcluster.constants``, 3.16.1)."""


@jsii.implements(ec2.IConnectable)
class ParallelClusterBase(Construct):
    """The base of ParallelClusters, made or imported: grants, metrics, commands.

    Attributes:
        cluster_name: Its name, and that of the stack that ParallelCluster makes.
        head_node_instance_id: Instance id of the head node.
        head_node_private_ip: Private address of the head node.
    """

    cluster_name: str
    head_node_instance_id: str
    head_node_private_ip: str
    _connections: ec2.Connections

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of all nodes."""
        return self._connections

    @property
    def log_group_prefix(self) -> str:
        """What the name of the nodes' log group begins with; the time at which the cluster was made follows."""
        return f"/aws/parallelcluster/{self.cluster_name}-"

    @property
    def connect_command(self) -> str:
        """The command that opens a session on the head node: no key, no open port."""
        return f"aws ssm start-session --target {self.head_node_instance_id} --region {Stack.of(self).region}"

    @property
    def ssh_command(self) -> str:
        """The command of the pcluster program that opens SSH; it needs ``key_pair`` and ``ssh_from``."""
        return f"pcluster ssh --cluster-name {self.cluster_name} --region {Stack.of(self).region}"

    @property
    def outputs(self) -> Mapping[str, str]:
        """Name to value of what people ask for first, to be made outputs of a stack."""
        return {
            "ClusterName": self.cluster_name,
            "HeadNodeAddress": self.head_node_private_ip,
            "ConnectCommand": self.connect_command,
            "LogGroupPrefix": self.log_group_prefix,
        }

    def grant_connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody open a shell on the nodes by Session Manager, as ``connect_command`` does.

        Args:
            grantee: Who: a role of operators, for instance.
        """
        return granted(grantee, *sessions(self, tagged_instances(self, PARALLELCLUSTER_TAG, self.cluster_name)))

    def grant_describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody look at the cluster's stack and its nodes.

        Args:
            grantee: Who.
        """
        return granted(
            grantee,
            Permission(
                actions=[f"cloudformation:Describe{what}" for what in ("StackEvents", "StackResources", "Stacks")],
                resources=[
                    Stack.of(self).format_arn(
                        service="cloudformation", resource="stack", resource_name=f"{self.cluster_name}/*"
                    )
                ],
            ),
            listed_instances(self),
        )

    def metric(
        self, metric_name: str, *, statistic: str | None = None, period: Duration | None = None
    ) -> cloudwatch.Metric:
        """Return a metric that ParallelCluster makes of its logs, where both logs and dashboard are on, as by default.

        Source: ``pcluster/templates/cw_dashboard_builder.py``, ParallelCluster 3.16.1; AWS ParallelCluster user guide,
        "Amazon CloudWatch dashboard", read 2026-11.

        Args:
            metric_name: The metric's name in the namespace ``ParallelCluster``.
            statistic: What to make of the values. Default - their sum.
            period: The period. Default - a minute.
        """
        return cloudwatch.Metric(
            namespace="ParallelCluster",
            metric_name=metric_name,
            dimensions_map={"ClusterName": self.cluster_name},
            statistic=statistic or cloudwatch.Stats.SUM,
            period=period or Duration.minutes(1),
        )

    def metric_insufficient_capacity_errors(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that EC2 had no capacity for.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("InsufficientCapacityErrors", period=period)

    def metric_vcpu_limit_errors(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that a quota of vCPUs left no room for.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("VcpuLimitErrors", period=period)

    def metric_iam_policy_errors(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that permissions were missing for.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("IamPolicyErrors", period=period)

    def metric_volume_limit_errors(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that a quota of volumes left no room for.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("VolumeLimitErrors", period=period)

    def metric_other_launch_failures(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that could not be launched for other reasons.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("OtherInstanceLaunchFailures", period=period)

    def metric_bootstrap_timeout_errors(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that did not come up in time.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("InstanceBootstrapTimeoutErrors", period=period)

    def metric_health_check_errors(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that failed health checks of EC2.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("EC2HealthCheckErrors", period=period)

    def metric_nodes_not_responding(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that do not answer Slurm.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("SlurmNodeNotRespondingErrors", period=period)

    def metric_longest_idle_time(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the seconds for which the dynamic node that is idle for longest is.

        Args:
            period: The period. Default - a minute.
        """
        return self.metric("MaxDynamicNodeIdleTime", statistic=cloudwatch.Stats.MAXIMUM, period=period)

    def metric_head_node(
        self, metric_name: str, *, statistic: str | None = None, period: Duration | None = None
    ) -> cloudwatch.Metric:
        """Return a metric of EC2 for the head node.

        Args:
            metric_name: The metric's name in the namespace ``AWS/EC2``, as ``CPUUtilization``.
            statistic: What to make of the values. Default - their maximum, as ParallelCluster's own alarms.
            period: The period. Default - a minute.
        """
        return cloudwatch.Metric(
            namespace="AWS/EC2",
            metric_name=metric_name,
            dimensions_map={"InstanceId": self.head_node_instance_id},
            statistic=statistic or cloudwatch.Stats.MAXIMUM,
            period=period or Duration.minutes(1),
        )

    @property
    def publisher(self) -> None:
        """Nobody: ParallelCluster makes alarms of the head node itself, and tells no topic."""

    def tell(self, topic: sns.ITopic) -> None:
        """Refuse: ParallelCluster has no topic for its alarms; see ``alarms`` of ``ParallelClusterMonitoring``.

        Args:
            topic: A topic.

        Raises:
            ConfigurationError: Always.
        """
        problem = "'tell' must not be asked; ParallelCluster makes alarms of the head node itself, without a topic"
        raise ConfigurationError(self.node.path, [f"{problem}, got {topic.node.path}"])
