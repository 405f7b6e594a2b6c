"""What computes, with AWS ParallelCluster."""

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from cdk_trainyard.deployment import ParallelClusterDeployment, build, build_parallelcluster
from stacks.network import NetworkStack
from stacks.storage import StorageStack


class ParallelClusterStack(Stack):
    """The training cluster of a deployment, with its provider and its scripts.

    Attributes:
        cluster: The cluster.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: ParallelClusterDeployment,
        network: NetworkStack,
        storage: StorageStack,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=f"{deployment.name}-training",
            description=f"{deployment.name}: ParallelCluster training cluster (cdk-trainyard)",
            env=build.environment(deployment),
        )
        self.cluster = build_parallelcluster.parallelcluster(
            self,
            "Cluster",
            deployment,
            network=network.network,
            security_group=network.security_group,
            scripts_bucket=storage.buckets.scripts,
            mounts=storage.mounts,
        )

        for name, value in self.cluster.outputs.items():
            CfnOutput(self, name, value=value)
