"""What others need of a ParallelCluster, made here or elsewhere."""

from collections.abc import Mapping

import jsii
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.operators import Permission, granted, listed_instances, sessions, tagged_instances

_CLUSTER_TAG = "parallelcluster:cluster-name"
"""Of everything that ParallelCluster makes (``pcluster.constants``, 3.16.1)."""


@jsii.implements(ec2.IConnectable)
class ParallelClusterBase(Construct):
    """What others need of a ParallelCluster, made here or elsewhere.

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
        return granted(grantee, *sessions(self, tagged_instances(self, _CLUSTER_TAG, self.cluster_name)))

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

    @property
    def publisher(self) -> None:
        """Nobody: ParallelCluster makes alarms of the head node itself, and tells no topic."""

    def tell(self, topic: sns.ITopic) -> None:
        """Refuse: ParallelCluster has no topic for its alarms; see ``alarms`` of ``ClusterMonitoring``.

        Args:
            topic: A topic.

        Raises:
            ConfigurationError: Always.
        """
        problem = "'tell' must not be asked; ParallelCluster makes alarms of the head node itself, without a topic"
        raise ConfigurationError(self.node.path, [f"{problem}, got {topic.node.path}"])
