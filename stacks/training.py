"""What runs jobs: the cluster of a deployment, whatever its orchestrator."""

from aws_cdk import CfnOutput
from constructs import Construct

from cdk_trainyard.cluster import Cluster, Surroundings
from cdk_trainyard.deployment import Deployment, monitoring_build
from cdk_trainyard.deployment.alerts_topic import alerts_topic
from cdk_trainyard.deployment.orchestrators import Orchestrator
from stacks.base import DeploymentStack
from stacks.network import NetworkStack
from stacks.storage import StorageStack


class TrainingStack(DeploymentStack):
    """The training cluster of a deployment, with its scripts and its role.

    Attributes:
        cluster: The cluster.
        metrics: Where its metrics go. None: nowhere.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        orchestrator: Orchestrator,
        network: NetworkStack,
        storage: StorageStack,
    ) -> None:
        super().__init__(scope, construct_id, deployment=deployment, part="training", holds=orchestrator.holds)
        around = Surroundings(
            network=network.network,
            security_group=network.security_group,
            buckets=storage.buckets,
            mounts=storage.mounts,
            accounting=storage.accounting,
            metrics=monitoring_build.metrics(self, deployment.monitoring),
        )
        self.metrics = around.metrics
        self.cluster: Cluster = orchestrator.define(self, deployment, around)
        self.cluster.use(storage.buckets)
        topic = None
        own = self.cluster.publisher
        if deployment.alerts and (own or deployment.monitoring):
            topic = alerts_topic(self, "Alerts", deployment.alerts, *filter(None, [own]))
            if own:
                self.cluster.tell(topic)
        monitoring_build.alarms(self, deployment.monitoring, self.cluster, around, topic)

        seen = monitoring_build.grafana(self, deployment.monitoring, around.metrics)
        for name, value in {**self.cluster.outputs, **seen}.items():
            CfnOutput(self, name, value=value)
