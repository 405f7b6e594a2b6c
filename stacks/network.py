"""Where everything stands."""

from aws_cdk import CfnOutput
from constructs import Construct

from cdk_trainyard.deployment import Deployment, build
from stacks.base import DeploymentStack


class NetworkStack(DeploymentStack):
    """The network of a deployment, and the security group that its nodes and file systems share.

    Attributes:
        network: The network.
        security_group: The security group.
    """

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment) -> None:
        super().__init__(
            scope, construct_id, deployment=deployment, part="network", holds="network for training clusters"
        )
        self.network = build.network(self, "Network", deployment.network)
        self.security_group = build.security_group(self, "Efa", deployment.network, self.network.vpc)
        self.keep_exports(self.network.vpc.vpc_id, *self.network.nat_gateway_ids)

        CfnOutput(self, "VpcId", value=self.network.vpc.vpc_id)
        CfnOutput(self, "AcceleratorSubnetId", value=self.network.accelerator_subnet.subnet_id)
        CfnOutput(self, "SecurityGroupId", value=self.security_group.security_group_id)
