"""What the nodes share, and what outlives them."""

from aws_cdk import CfnOutput
from constructs import Construct

from cdk_trainyard.deployment import Deployment, build
from stacks.base import DeploymentStack
from stacks.network import NetworkStack


class StorageStack(DeploymentStack):
    """The buckets, file systems and database of a deployment. Nothing in it depends on the cluster.

    Attributes:
        buckets: The buckets.
        lustre: The shared file system. None: there is none.
        mounts: What every node mounts.
        accounting: The database of Slurm's accounting. None: there is none, or it exists.
    """

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment, network: NetworkStack) -> None:
        super().__init__(
            scope,
            construct_id,
            deployment=deployment,
            part="storage",
            holds="file systems, buckets and databases that outlive the cluster",
        )
        section = deployment.storage
        self.buckets = build.buckets(self, "Buckets", section.buckets)
        self.lustre = None
        if section.lustre:
            self.lustre = build.lustre(
                self,
                "Lustre",
                section.lustre,
                network=network.network,
                security_group=network.security_group,
                buckets=self.buckets,
            )
        self.mounts = build.mounts(section, self.lustre)
        self.accounting = build.accounting_database(self, "Accounting", deployment.new_accounting, network.network)
        self.keep_exports(
            *([self.lustre.file_system_id] if self.lustre else ()),
            *([self.accounting.instance_identifier] if self.accounting else ()),
        )

        for purpose in ("Scripts", "Datasets", "Checkpoints", "Models"):
            CfnOutput(self, f"{purpose}Bucket", value=getattr(self.buckets, purpose.lower()).bucket_name)
        if self.lustre:
            CfnOutput(self, "LustreFileSystemId", value=self.lustre.file_system_id)
            CfnOutput(self, "LustreMountSource", value=f"{self.lustre.dns_name}@tcp:/{self.lustre.mount_name}")
