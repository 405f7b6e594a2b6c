"""What the nodes share, and what outlives them."""

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from cdk_trainyard.deployment import Deployment, build
from stacks.network import NetworkStack


class StorageStack(Stack):
    """The buckets and file systems of a deployment. Nothing in it depends on the cluster.

    Attributes:
        buckets: The buckets.
        mounts: What every node mounts.
    """

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment, network: NetworkStack) -> None:
        super().__init__(
            scope,
            construct_id,
            stack_name=f"{deployment.name}-storage",
            description=f"{deployment.name}: file systems and buckets that outlive the cluster (cdk-trainyard)",
            env=build.environment(deployment),
        )
        section = deployment.storage
        self.buckets = build.buckets(self, "Buckets", section.buckets)
        lustre = None
        if section.lustre:
            lustre = build.lustre(
                self,
                "Lustre",
                section.lustre,
                network=network.network,
                security_group=network.security_group,
                buckets=self.buckets,
            )
        self.mounts = build.mounts(section, lustre)

        for purpose in ("Scripts", "Datasets", "Checkpoints", "Models"):
            CfnOutput(self, f"{purpose}Bucket", value=getattr(self.buckets, purpose.lower()).bucket_name)
        if lustre:
            CfnOutput(self, "LustreFileSystemId", value=lustre.file_system_id)
            CfnOutput(self, "LustreMountSource", value=f"{lustre.dns_name}@tcp:/{lustre.mount_name}")
