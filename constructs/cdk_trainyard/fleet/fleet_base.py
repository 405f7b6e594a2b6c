"""The base of `EfaFleet`: what is done with its Auto Scaling group once that is there."""

from collections.abc import Mapping

import jsii
from aws_cdk import Aws, Duration
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.cluster import Publisher
from cdk_trainyard.fleet import render
from cdk_trainyard.fleet.node_role import FLEET_TAG
from cdk_trainyard.operators import Permission, granted, listed_instances, sessions, tagged_instances

_WHY_ANYBODY = "a condition holds it to the service-linked role of Auto Scaling, which may not exist yet"
_AUTO_SCALING_ROLE = "autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"


@jsii.implements(ec2.IConnectable)
class FleetBase(Construct):
    """The base of `EfaFleet`: grants, commands for Session Manager and Auto Scaling, CloudWatch metrics, SNS.

    Attributes:
        fleet_name: The name.
        group: The L1 Auto Scaling group.
        log_group: Where the nodes' logs are.
    """

    fleet_name: str
    group: autoscaling.CfnAutoScalingGroup
    log_group: logs.ILogGroup
    _connections: ec2.Connections

    @property
    def connections(self) -> ec2.Connections:
        """The network connections of the nodes."""
        return self._connections

    @property
    def group_name(self) -> str:
        """Name of the Auto Scaling group."""
        return self.group.ref

    @property
    def resume_command(self) -> str:
        """The command that lets the group launch again, after three set-ups in a row have failed."""
        return (
            f"aws autoscaling resume-processes --region {Aws.REGION} --auto-scaling-group-name {self.group_name} "
            "--scaling-processes Launch"
        )

    @property
    def nodes_command(self) -> str:
        """The command that lists the members: address, type, and the command that opens a session on each."""
        connect = f"join('',['{self.connect_command('')}',InstanceId])"
        return (
            f"aws ec2 describe-instances --region {Aws.REGION} "
            f"--filters Name=tag:{FLEET_TAG},Values={self.fleet_name} Name=instance-state-name,Values=running "
            f'--query "Reservations[].Instances[].[PrivateIpAddress,InstanceType,{connect}]" --output text'
        )

    @property
    def outputs(self) -> Mapping[str, str]:
        """Name to value of what people ask for first, to be made outputs of a stack."""
        return {
            "NodesCommand": self.nodes_command,
            "ResumeCommand": self.resume_command,
            "LogGroupName": self.log_group.log_group_name,
        }

    def grant_connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody open a shell on the nodes by Session Manager, as ``connect_command`` does.

        The master is one of the nodes.

        Args:
            grantee: Who: a role of operators, for instance.
        """
        return granted(grantee, *sessions(self, tagged_instances(self, FLEET_TAG, self.fleet_name)))

    def grant_describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody look at the group and its nodes.

        Args:
            grantee: Who.
        """
        return granted(
            grantee,
            Permission(
                actions=["autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeScalingActivities"],
                resources=["*"],  # they know no resources
            ),
            listed_instances(self),
        )

    def metric(
        self, metric_name: str, *, statistic: str | None = None, period: Duration | None = None
    ) -> cloudwatch.Metric:
        """Return a metric of EC2 over all nodes, without the master.

        Source: Amazon EC2 user guide, "CloudWatch metrics that are available for your instances", read 2026-11.

        Args:
            metric_name: The metric's name in the namespace ``AWS/EC2``.
            statistic: What to make of the values of the nodes. Default - their average.
            period: The period. Default - five minutes.
        """
        return self._metric("AWS/EC2", metric_name, statistic, period)

    def metric_cpu_utilization(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the CPU in use, in percent.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("CPUUtilization", period=period)

    def metric_network_in(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the bytes that nodes received, EFA left out.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("NetworkIn", statistic=cloudwatch.Stats.SUM, period=period)

    def metric_network_out(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the bytes that nodes sent, EFA left out.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("NetworkOut", statistic=cloudwatch.Stats.SUM, period=period)

    def metric_status_check_failed(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return 1 while a status check of EC2 fails on any node.

        Args:
            period: The period. Default - five minutes.
        """
        return self.metric("StatusCheckFailed", statistic=cloudwatch.Stats.MAXIMUM, period=period)

    def metric_in_service_instances(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that are set up.

        Args:
            period: The period. Default - five minutes.
        """
        return self._group_metric("GroupInServiceInstances", period)

    def metric_pending_instances(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that start and are set up.

        Args:
            period: The period. Default - five minutes.
        """
        return self._group_metric("GroupPendingInstances", period)

    def metric_desired_capacity(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return the nodes that are asked for.

        Args:
            period: The period. Default - five minutes.
        """
        return self._group_metric("GroupDesiredCapacity", period)

    def _group_metric(self, metric_name: str, period: Duration | None) -> cloudwatch.Metric:
        """Return a metric of the group, which reports none until it is told to; it costs nothing.

        Source: Amazon EC2 Auto Scaling user guide, "Monitor CloudWatch metrics for your Auto Scaling groups and
        instances", read 2026-11.
        """
        self.group.metrics_collection = [
            autoscaling.CfnAutoScalingGroup.MetricsCollectionProperty(granularity="1Minute")
        ]
        return self._metric("AWS/AutoScaling", metric_name, None, period)

    def _metric(
        self, namespace: str, metric_name: str, statistic: str | None, period: Duration | None
    ) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace=namespace,
            metric_name=metric_name,
            dimensions_map={"AutoScalingGroupName": self.group_name},
            statistic=statistic or cloudwatch.Stats.AVERAGE,
            period=period or Duration.minutes(5),
        )

    @property
    def publisher(self) -> Publisher:
        """Who publishes to a topic that is told of nodes.

        Auto Scaling publishes as its service-linked role (EC2 Auto Scaling user guide, "Amazon SNS notification
        options"), which may not exist before the first group does: the key's policy names it in a condition.
        """
        role = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/{_AUTO_SCALING_ROLE}"
        principal = iam.AnyPrincipal().with_conditions(
            {"StringEquals": {"kms:CallerAccount": Aws.ACCOUNT_ID}, "ArnEquals": {"aws:PrincipalArn": role}}
        )
        return Publisher(principal=principal, sid="AutoScaling", anybody_because=_WHY_ANYBODY)

    def tell(self, topic: sns.ITopic) -> None:
        """Tell a topic of nodes that come and go.

        Args:
            topic: The topic. One that exists already must let Auto Scaling publish, and so must the key that encrypts
                it.
        """
        render.notify(self.group, topic)

    def connect_command(self, instance_id: str = "<instance-id>") -> str:
        """Return the command that opens a session on a node.

        Args:
            instance_id: The node, from ``nodes_command``. Default - ``<instance-id>``, as it stands.
        """
        return f"aws ssm start-session --region {Aws.REGION} --target {instance_id}"
