"""What computes, with AWS ParallelCluster."""

from aws_cdk import CfnOutput
from constructs import Construct

from cdk_trainyard.deployment.parallelcluster import ParallelClusterDeployment
from cdk_trainyard.deployment.parallelcluster.build import parallelcluster
from stacks.base import DeploymentStack
from stacks.network import NetworkStack
from stacks.storage import StorageStack


class ParallelClusterStack(DeploymentStack):
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
            scope, construct_id, deployment=deployment, part="training", holds="ParallelCluster training cluster"
        )
        self.cluster = parallelcluster(
            self,
            "Cluster",
            deployment,
            network=network.network,
            security_group=network.security_group,
            scripts_bucket=storage.buckets.scripts,
            mounts=storage.mounts,
            accounting=storage.accounting,
        )
        self.cluster.use(storage.buckets)

        for name, value in self.cluster.outputs.items():
            CfnOutput(self, name, value=value)
