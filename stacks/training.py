"""What computes."""

from aws_cdk import CfnOutput
from constructs import Construct

from cdk_trainyard.deployment.hyperpod import HyperPodDeployment
from cdk_trainyard.deployment.hyperpod.build import alerts, hyperpod_cluster
from stacks.base import DeploymentStack
from stacks.network import NetworkStack
from stacks.storage import StorageStack


class TrainingStack(DeploymentStack):
    """The training cluster of a deployment, with its scripts and its role.

    Attributes:
        cluster: The cluster.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: HyperPodDeployment,
        network: NetworkStack,
        storage: StorageStack,
    ) -> None:
        super().__init__(scope, construct_id, deployment=deployment, part="training", holds="HyperPod training cluster")
        self.cluster = hyperpod_cluster(
            self,
            "Cluster",
            deployment,
            network=network.network,
            security_group=network.security_group,
            buckets=storage.buckets,
            mounts=storage.mounts,
            accounting=storage.accounting,
        )
        self.cluster.use(storage.buckets)
        if deployment.alerts:
            alerts(self, "Alerts", deployment.alerts, self.cluster)

        CfnOutput(self, "ClusterName", value=self.cluster.cluster_name)
        CfnOutput(self, "ClusterArn", value=self.cluster.cluster_arn)
        CfnOutput(self, "LogGroupName", value=self.cluster.log_group_name)
        CfnOutput(self, "ConnectCommand", value=self.cluster.connect_command(self.cluster.groups[0].name))
