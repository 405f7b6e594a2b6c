"""A model that is served on ECS."""

from aws_cdk import CfnOutput
from constructs import Construct

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.serving.build import serving
from cdk_trainyard.monitoring import ClusterMonitoring
from stacks.base import DeploymentStack
from stacks.network import NetworkStack
from stacks.storage import StorageStack


class ServingStack(DeploymentStack):
    """The served model of a deployment, on hosts of its own. It shares the models bucket with the training cluster.

    Attributes:
        served: The service, its load balancer and its alarms.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        network: NetworkStack,
        storage: StorageStack,
        metrics: ClusterMonitoring | None,
    ) -> None:
        super().__init__(
            scope, construct_id, deployment=deployment, part="serving", holds="a served model on ECS with inf2 hosts"
        )
        self.served = serving(self, deployment, network=network.network, buckets=storage.buckets, metrics=metrics)

        for name, value in self.served.outputs.items():
            CfnOutput(self, name, value=value)
