"""The base of HyperPod clusters, made or imported."""

from typing import cast

import jsii
from aws_cdk import Duration, Fn
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.cluster import Publisher
from cdk_trainyard.hyperpod.execution_role import LOG_GROUPS
from cdk_trainyard.hyperpod.health_log import STREAMS, HealthLog
from cdk_trainyard.hyperpod.monitoring import ClusterEvent, ClusterStatus, EventLevel, cluster_rule, matches
from cdk_trainyard.monitoring.telling import let_alarms_publish
from cdk_trainyard.operators import Permission, granted, sessions

_TROUBLE = (ClusterStatus.FAILED, ClusterStatus.ROLLING_BACK)


@jsii.implements(ec2.IConnectable)
class HyperPodClusterBase(Construct):
    """The base of HyperPod clusters, made or imported: grants, events, alarms, metrics, commands.

    Attributes:
        cluster_arn: Its ARN.
        cluster_name: Its name.
    """

    cluster_arn: str
    cluster_name: str
    _connections: ec2.Connections

    @property
    def cluster_id(self) -> str:
        """Its id, the last part of the ARN: commands and log groups use this, not the name."""
        return Fn.select(1, Fn.split("/", self.cluster_arn))

    def grant_connect(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody open a shell on the nodes by Session Manager, as ``connect_command`` does.

        Session Manager knows the nodes as parts of their cluster; which resource IAM compares is not in the Service
        Authorization Reference (2026-10), and the cluster's ARN is what is granted.

        Args:
            grantee: Who: a role of operators, for instance.
        """
        return granted(grantee, *sessions(self, Permission(actions=["ssm:StartSession"], resources=[self.cluster_arn])))

    def grant_describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody look at the cluster and its nodes.

        Args:
            grantee: Who.
        """
        return granted(
            grantee,
            Permission(
                actions=["sagemaker:DescribeCluster", "sagemaker:DescribeClusterNode", "sagemaker:ListClusterNodes"],
                resources=[self.cluster_arn],
            ),
        )

    @property
    def publisher(self) -> Publisher:
        """EventBridge, which publishes to a topic that is told of trouble, as CloudWatch does for its alarms."""
        return Publisher(principal=iam.ServicePrincipal("events.amazonaws.com"), sid="EventBridge")

    def tell(self, topic: sns.ITopic) -> None:
        """Tell a topic of unhealthy nodes, of a cluster that fails, and of operations that do.

        Args:
            topic: The topic. One that exists already must let CloudWatch and EventBridge publish, and the key that
                encrypts it must let both use it.
        """
        let_alarms_publish(self, topic)  # rules see to it themselves
        self.on_node_health(topic)
        self.on_trouble(topic)
        self.on_operation_error(topic)

    @property
    def log_group_name(self) -> str:
        """Log group of lifecycle scripts and health checks; the service makes it, without retention."""
        return f"{LOG_GROUPS}/{self.cluster_name}/{self.cluster_id}"

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the nodes; without any when they are in HyperPod's own VPC."""
        return self._connections

    def connect_command(self, group: str, *, instance_id: str = "<instance-id>") -> str:
        """Return the command that opens a session on a node.

        Args:
            group: Name of the node's group.
            instance_id: The node's instance id, from ``aws sagemaker list-cluster-nodes``.
                Default - ``<instance-id>``, as it stands.
        """
        return f"aws ssm start-session --target sagemaker-cluster:{self.cluster_id}_{group}-{instance_id}"

    def on_node_health(self, topic: sns.ITopic) -> cloudwatch.Alarm:
        """Tell a topic when a node becomes unhealthy, and, where there are events, when it is healthy again.

        Two ways lead there: an alarm on what the nodes' health monitoring agents log, and the service's events, which
        do not follow from it on every cluster.

        Args:
            topic: The topic; it must let CloudWatch and EventBridge publish, and so must the key of an encrypted one.

        Returns:
            The alarm.
        """
        self._tell(topic, self._node_health())
        alarm = self._node_fault_alarm()
        alarm.add_alarm_action(actions.SnsAction(topic))
        return alarm

    def on_trouble(self, topic: sns.ITopic) -> events.Rule:
        """Tell a topic when the cluster fails or rolls back.

        Args:
            topic: The topic. An encrypted one needs a key that EventBridge may use.
        """
        return self._tell(topic, self._trouble())

    def on_operation_error(self, topic: sns.ITopic) -> events.Rule:
        """Tell a topic when provisioning, scaling, patching or Slurm fails, while the cluster stays in service.

        With continuous provisioning only: other clusters have no such events, and ``on_trouble`` says it.

        Args:
            topic: The topic. An encrypted one needs a key that EventBridge may use.
        """
        return self._tell(topic, self._operation_errors())

    def metric_node_faults(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return how many faults the nodes' health monitoring agents logged.

        Args:
            period: The period. Default - a minute.
        """
        return self._health_log().metric.with_(period=period)

    def metric_operation_errors(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return how many events ``on_operation_error`` saw.

        Args:
            period: The period. Default - five minutes.
        """
        return matches(self._operation_errors(), label="operations that failed", period=period)

    def metric_node_health_events(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return how many events ``on_node_health`` saw; faults that nodes log are ``metric_node_faults``.

        Args:
            period: The period. Default - five minutes.
        """
        return matches(self._node_health(), label="node health events", period=period)

    def metric_trouble_events(self, *, period: Duration | None = None) -> cloudwatch.Metric:
        """Return how many events ``on_trouble`` saw.

        Args:
            period: The period. Default - five minutes.
        """
        return matches(self._trouble(), label="failures and rollbacks", period=period)

    def _node_health(self) -> events.Rule:
        return cluster_rule(
            self,
            "NodeHealth",
            cluster_arn=self.cluster_arn,
            event=ClusterEvent.NODE_HEALTH,
            description="A node of a HyperPod cluster is unhealthy, or healthy again",
        )

    def _trouble(self) -> events.Rule:
        return cluster_rule(
            self,
            "Trouble",
            cluster_arn=self.cluster_arn,
            event=ClusterEvent.STATE_CHANGE,
            description="A HyperPod cluster failed or is rolling back",
            detail={"ClusterStatus": [status.value for status in _TROUBLE]},
        )

    def _operation_errors(self) -> events.Rule:
        return cluster_rule(
            self,
            "OperationErrors",
            cluster_arn=self.cluster_arn,
            event=ClusterEvent.OPERATION,
            description="An operation on a HyperPod cluster failed",
            detail={"EventDetails": {"EventLevel": [EventLevel.ERROR.value]}},
        )

    def _health_log(self) -> HealthLog:
        known = self.node.try_find_child("HealthLog")
        if isinstance(known, HealthLog):
            return known
        return HealthLog(self, "HealthLog", cluster_name=self.cluster_name, log_group_name=self.log_group_name)

    def _node_fault_alarm(self) -> cloudwatch.Alarm:
        known = self.node.try_find_child("NodeFaults")
        if known is not None:
            return cast("cloudwatch.Alarm", known)
        return cloudwatch.Alarm(
            self,
            "NodeFaults",
            metric=self._health_log().metric,
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=(
                f"A node of HyperPod cluster {self.cluster_name} reported a fault: see the log group "
                f"{self.log_group_name}, stream {STREAMS}/<group>/<instance-id>"
            ),
        )

    @staticmethod
    def _tell(topic: sns.ITopic, rule: events.Rule) -> events.Rule:
        rule.add_target(targets.SnsTopic(topic))
        return rule
