"""The monitoring of a deployment as constructs: a workspace, and alarms on what its cluster writes there."""

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.cluster import Cluster, Monitored, Publisher, Surroundings
from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.monitoring import (
    AlertRules,
    ClusterMetrics,
    EnvironmentMonitoring,
    MetricsWorkspace,
    MetricsWorkspaceBase,
)
from cdk_trainyard.storage import AccountingDatabase, Lustre


def metrics(scope: Construct, section: MonitoringSection | None) -> ClusterMetrics | None:
    """Define the workspace, or take the one that exists.

    Args:
        scope: The parent: a stack.
        section: What the file says. None: metrics go nowhere.
    """
    if section is None:
        return None
    return ClusterMetrics(workspace=_workspace(scope, section), scrape_seconds=section.scrape_seconds)


def publisher(section: MonitoringSection | None) -> Publisher | None:
    """Return who tells of what a cluster stands on: CloudWatch. None: nobody.

    Args:
        section: What the file says.
    """
    return None if section is None else Publisher(principal=_cloudwatch(), sid="CloudWatch")


def alarms(
    scope: Construct,
    section: MonitoringSection | None,
    cluster: Cluster,
    around: Surroundings,
    topic: sns.ITopic | None,
) -> None:
    """Define the alarms on a cluster's metrics, and on what it stands on.

    Whom a workspace of somebody else tells, its owner says.

    Args:
        scope: The parent: a stack.
        section: What the file says.
        cluster: The cluster.
        around: What it has beside it, and where its metrics go.
        topic: Who is told of trouble. None: nobody.
    """
    if section is None or around.metrics is None or not isinstance(cluster, Monitored):
        return
    AlertRules(
        scope,
        "AlertRules",
        workspace=around.metrics.workspace,
        topic=topic if section.workspace_arn is None else None,
        cluster_name=cluster.cluster_name,
        sources=cluster.metrics_sources,
        overrides=section.alarms,
        own_alarms=section.own_alarms,
    )
    if topic is not None:
        topic.grant_publish(_cloudwatch())  # a topic that exists keeps its own policy
    file_systems = [mount.file_system for mount in around.mounts]
    EnvironmentMonitoring(
        scope,
        "Environment",
        network=around.network,
        lustre=next((each for each in file_systems if isinstance(each, Lustre)), None),
        accounting=around.accounting if isinstance(around.accounting, AccountingDatabase) else None,
        topic=topic,
    )


def _cloudwatch() -> iam.ServicePrincipal:
    return iam.ServicePrincipal("cloudwatch.amazonaws.com")


def _workspace(scope: Construct, section: MonitoringSection) -> MetricsWorkspaceBase:
    if section.workspace_arn is not None:
        return MetricsWorkspace.from_workspace_arn(scope, "Metrics", section.workspace_arn)
    said = Exchange(existing=Existing.of(scope)).keywords(section)
    return MetricsWorkspace(scope, "Metrics", retention_days=said["retention_days"], key=said.get("key"))
