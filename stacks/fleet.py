"""What computes, as a fleet of EC2 instances."""

from aws_cdk import CfnOutput
from constructs import Construct

from cdk_trainyard.deployment.fleet import FleetDeployment
from cdk_trainyard.deployment.fleet.build import Images, fleet, master
from stacks.base import DeploymentStack
from stacks.network import NetworkStack
from stacks.storage import StorageStack


class FleetStack(DeploymentStack):
    """The fleet of a deployment, with its master and its image.

    Attributes:
        fleet: The nodes.
        master: The node from which jobs are started. None: there is none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: FleetDeployment,
        network: NetworkStack,
        storage: StorageStack,
    ) -> None:
        super().__init__(
            scope, construct_id, deployment=deployment, part="training", holds="fleet of EC2 instances for training"
        )
        images = Images(self, "Images", network=network.network)
        self.fleet = fleet(
            self,
            "Fleet",
            deployment,
            network=network.network,
            security_group=network.security_group,
            buckets=storage.buckets,
            lustre=storage.lustre,
            images=images,
        )
        self.master = master(self, "Master", deployment, fleet=self.fleet, images=images)

        CfnOutput(self, "NodesCommand", value=self.fleet.nodes_command)
        CfnOutput(self, "ResumeCommand", value=self.fleet.resume_command)
        CfnOutput(self, "LogGroupName", value=self.fleet.log_group.log_group_name)
        if self.master:
            CfnOutput(self, "ConnectCommand", value=self.master.connect_command)
        for image in images.built:
            CfnOutput(self, f"{image.node.id}BuildCommand", value=image.build_command)
            CfnOutput(self, f"{image.node.id}RemoveCommand", value=image.remove_command)
            CfnOutput(self, f"{image.node.id}Parameter", value=image.parameter_name)
