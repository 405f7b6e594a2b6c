"""The monitoring of a deployment as constructs: a workspace, and alarms on what its cluster writes there."""

from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.cluster import Cluster, Monitored
from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.monitoring import AlertRules, ClusterMetrics, MetricsWorkspace, MetricsWorkspaceBase


def metrics(scope: Construct, section: MonitoringSection | None) -> ClusterMetrics | None:
    """Define the workspace, or take the one that exists.

    Args:
        scope: The parent: a stack.
        section: What the file says. None: metrics go nowhere.
    """
    if section is None:
        return None
    return ClusterMetrics(workspace=_workspace(scope, section), scrape_seconds=section.scrape_seconds)


def alarms(
    scope: Construct,
    section: MonitoringSection | None,
    cluster: Cluster,
    written: ClusterMetrics | None,
    topic: sns.ITopic | None,
) -> None:
    """Define the alarms on a cluster's metrics; whom a workspace of somebody else tells, its owner says.

    Args:
        scope: The parent: a stack.
        section: What the file says.
        cluster: The cluster.
        written: Where its metrics go.
        topic: Who is told of trouble. None: nobody.
    """
    if section is None or written is None or not isinstance(cluster, Monitored):
        return
    AlertRules(
        scope,
        "AlertRules",
        workspace=written.workspace,
        topic=topic if section.workspace_arn is None else None,
        cluster_name=cluster.cluster_name,
        sources=cluster.metrics_sources,
        overrides=section.alarms,
    )


def _workspace(scope: Construct, section: MonitoringSection) -> MetricsWorkspaceBase:
    if section.workspace_arn is not None:
        return MetricsWorkspace.from_workspace_arn(scope, "Metrics", section.workspace_arn)
    said = Exchange(existing=Existing.of(scope)).keywords(section)
    return MetricsWorkspace(scope, "Metrics", retention_days=said["retention_days"], key=said.get("key"))
