"""What computes."""

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from cdk_trainyard.deployment import HyperPodDeployment, build, build_hyperpod
from stacks.network import NetworkStack
from stacks.storage import StorageStack


class TrainingStack(Stack):
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
        super().__init__(
            scope,
            construct_id,
            stack_name=f"{deployment.name}-training",
            description=f"{deployment.name}: HyperPod training cluster (cdk-trainyard)",
            env=build.environment(deployment),
        )
        self.cluster = build_hyperpod.hyperpod_cluster(
            self,
            "Cluster",
            deployment,
            network=network.network,
            security_group=network.security_group,
            scripts_bucket=storage.buckets.scripts,
            mounts=storage.mounts,
        )
        self.cluster.use(storage.buckets)
        if deployment.alerts:
            build_hyperpod.alerts(self, "Alerts", deployment.alerts, self.cluster)

        CfnOutput(self, "ClusterName", value=self.cluster.cluster_name)
        CfnOutput(self, "ClusterArn", value=self.cluster.cluster_arn)
        CfnOutput(self, "LogGroupName", value=self.cluster.log_group_name)
        CfnOutput(self, "ConnectCommand", value=self.cluster.connect_command(self.cluster.groups[0].name))
