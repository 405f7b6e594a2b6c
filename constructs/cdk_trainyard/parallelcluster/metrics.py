"""What the nodes of a cluster run for its metrics, and what its head node may: nothing where they go nowhere."""

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.acknowledgments import main_resource
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.lifecycle.spec import MetricsAgent
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource
from cdk_trainyard.monitoring.nodes import exporters_of, node_settings, sources_of
from cdk_trainyard.monitoring.series import SERIES, series_metadata
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.node_policy import PATH
from cdk_trainyard.parallelcluster.resolve import all_types, computes, find_type, types_of
from cdk_trainyard.parallelcluster.scripts import NodeScripts
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction
from cdk_trainyard.storage.node_grants import remote_write_statements

SCRIPT = "metrics.sh"
"""The project's own script that sets exporters up, and on the head node the agent."""


class MonitoredNodes(Construct):
    """Exporters on head node and queues, and the agent of the metrics on the head node, which alone may write.

    Each runs behind the actions that the cluster has for ``on_configured``, which may install what it asks.

    Args:
        metrics: Where metrics go.
        scripts_bucket: Where the scripts are uploaded.
        spec: The resolved cluster.

    Attributes:
        spec: The cluster whose nodes run them.
        policies: What the head node needs beside the policy of every node.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        metrics: ClusterMonitoring,
        scripts_bucket: s3.IBucket,
        spec: ParallelClusterSpec,
    ) -> None:
        super().__init__(scope, construct_id)
        self._scripts = NodeScripts(self, "Scripts", bucket=scripts_bucket)
        self._exporters = exporters_of(metrics.exporters, all_types(spec))
        self._scrape_seconds = metrics.scrape_seconds
        self.spec: ParallelClusterSpec = self._monitored(spec, metrics.agent(str(spec.cluster_name)))
        self.policies: list[iam.ManagedPolicy] = [
            iam.ManagedPolicy(
                self,
                "Policy",
                path=PATH,
                description="Head node of a ParallelCluster: write metrics to its workspace",
                statements=remote_write_statements(metrics.workspace.workspace_arn),
            )
        ]

    def sources(self, context: ParallelClusterFacts) -> Sequence[MetricsSource]:
        """Return whose metrics there are.

        Args:
            context: What the cluster stands in.
        """
        lustre = any(mount.kind == "Lustre" for mount in context.mounts)
        return sources_of(self._exporters, all_types(self.spec), lustre=lustre)

    def series(self, context: ParallelClusterFacts) -> JsonObject:
        """Return what the cluster's resource says of the series of metrics that its head node and its queues give.

        Args:
            context: What the cluster stands in.
        """
        head = find_type(self.spec.head_node.instance_type)
        groups = [("head node", [head] if head else [])]
        groups += [(f"{queue.name}/{part.name}", [*types_of(part)]) for _, queue, part in computes(self.spec)]
        return series_metadata(groups, self.sources(context), scrape_seconds=self._scrape_seconds)

    def _monitored(self, spec: ParallelClusterSpec, agent: MetricsAgent) -> ParallelClusterSpec:
        head = spec.head_node
        own = find_type(head.instance_type)
        queues = [
            replace(queue, on_configured=(*queue.on_configured, self._action(None, types)))
            for queue in spec.queues
            for types in [[known for part in queue.compute for known in types_of(part)]]
        ]
        action = self._action(agent, [own] if own else [], **self._neuron_nodes(spec))
        return replace(spec, head_node=replace(head, on_configured=(*head.on_configured, action)), queues=tuple(queues))

    def _neuron_nodes(self, spec: ParallelClusterSpec) -> dict[str, str]:
        """Slurm knows a ParallelCluster's GPUs, and none of its Neuron devices: their nodes are known by their names.

        Source: ``slurm_parallelcluster_queue_partition.conf`` of aws-parallelcluster-cookbook: QUEUE-st-RESOURCE-1.
        """
        names = [
            f"{queue.name}-??-{compute.name}-*"
            for _, queue, compute in computes(spec)
            if any(known.neuron_cores for known in types_of(compute))
        ]
        return {"exporters_neuron_nodes": ",".join(names)} if self._exporters.neuron else {}

    def _action(self, agent: MetricsAgent | None, types: Sequence[InstanceType], **more: str) -> CustomAction:
        settings = node_settings(self._exporters, agent, types) | more
        words = tuple(f"{name}={value}" for name, value in settings.items())
        return CustomAction(script=SCRIPT, args=words, scripts=self._scripts)


def monitored(
    scope: Construct, spec: ParallelClusterSpec, metrics: ClusterMonitoring | None, scripts_bucket: s3.IBucket | None
) -> MonitoredNodes | None:
    """Have nodes run what metrics need, or nothing where these go nowhere.

    Args:
        scope: The cluster.
        spec: The resolved cluster, which the rules have judged.
        metrics: Where its metrics go.
        scripts_bucket: Where the scripts are uploaded.
    """
    if metrics is None or scripts_bucket is None:
        return None
    return MonitoredNodes(scope, "Metrics", metrics=metrics, scripts_bucket=scripts_bucket, spec=spec)


def say_series(nodes: MonitoredNodes | None, cluster: Construct, context: ParallelClusterFacts) -> None:
    """Let a cluster's resource say how many series of metrics its nodes give, or nothing where these go nowhere.

    Args:
        nodes: Its nodes.
        cluster: What has the cluster's resource.
        context: What the cluster stands in.
    """
    if nodes is not None:
        main_resource(cluster).add_metadata(SERIES, nodes.series(context))
