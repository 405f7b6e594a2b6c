"""The monitoring of a deployment as constructs: a workspace, and alarms on what its cluster writes there."""

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.cluster import Cluster, Monitored, Surroundings, Updated
from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.monitoring import (
    AlertRules,
    ClusterDashboards,
    ClusterMonitoring,
    EnvironmentMonitoring,
    GrafanaWorkspace,
    MetricsSource,
    MetricsWorkspace,
    MetricsWorkspaceBase,
)
from cdk_trainyard.monitoring.telling import let_alarms_publish
from cdk_trainyard.retention import KEPT, keep_with
from cdk_trainyard.storage import AccountingDatabase, Lustre


def metrics(scope: Construct, section: MonitoringSection | None) -> ClusterMonitoring | None:
    """Define the workspace, or take the one that exists.

    Args:
        scope: The parent: a stack.
        section: What the file says. None: metrics go nowhere.
    """
    if section is None:
        return None
    exporters = Exchange(existing=Existing.of(scope)).real(section.exporters)
    return ClusterMonitoring(
        workspace=_workspace(scope, section), scrape_seconds=section.scrape_seconds, exporters=exporters
    )


def grafana(scope: Construct, section: MonitoringSection | None, metrics: ClusterMonitoring | None) -> dict[str, str]:
    """Define what looks at the metrics, and return its outputs.

    Args:
        scope: The parent: a stack.
        section: What the file says.
        metrics: Where metrics go. None: nowhere.
    """
    if section is None or section.grafana is None or metrics is None:
        return {}
    said = Exchange(existing=Existing.of(scope)).keywords(section.grafana)
    made = GrafanaWorkspace(scope, "Grafana", workspace=metrics.workspace, **said)
    return {"GrafanaAddress": made.endpoint, "GrafanaDataSource": metrics.workspace.endpoint}


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
    schedules = cluster.update_schedules if isinstance(cluster, Updated) else ()
    rules(scope, section, around.metrics, cluster.cluster_name, cluster.metrics_sources, topic, schedules)
    dashboards(scope, section, around.metrics, cluster.cluster_name, cluster.metrics_sources)
    if topic is not None:
        let_alarms_publish(scope, topic)
    file_systems = [mount.file_system for mount in around.mounts]
    EnvironmentMonitoring(
        scope,
        "Environment",
        network=around.network,
        lustre=next((each for each in file_systems if isinstance(each, Lustre)), None),
        accounting=around.accounting if isinstance(around.accounting, AccountingDatabase) else None,
        topic=topic,
    )


def dashboards(
    scope: Construct,
    section: MonitoringSection,
    metrics: ClusterMonitoring,
    name: str,
    sources: Sequence[MetricsSource],
) -> None:
    """Define the dashboards of a cluster, or of a served model, in CloudWatch.

    Args:
        scope: The parent: a stack.
        section: What the file says.
        metrics: Where metrics go.
        name: The label ``cluster`` of the metrics.
        sources: Whose metrics are shown.
    """
    if section.dashboards:
        ClusterDashboards(scope, "Dashboards", workspace=metrics.workspace, cluster_name=name, sources=sources)


def rules(
    scope: Construct,
    section: MonitoringSection,
    metrics: ClusterMonitoring,
    name: str,
    sources: Sequence[MetricsSource],
    topic: sns.ITopic | None,
    update_schedules: Sequence[str] = (),
) -> None:
    """Define the rules of a cluster, or of a served model, in the workspace.

    Args:
        scope: The parent: a stack.
        section: What the file says.
        metrics: Where metrics go. A workspace of another stack tells that stack's topic.
        name: The label ``cluster`` of the metrics.
        sources: Whose metrics there are.
        topic: Who is told of trouble. None: nobody.
        update_schedules: When nodes are updated. Default - never.
    """
    tells = section.workspace_arn is None and Stack.of(metrics.workspace) is Stack.of(scope)
    AlertRules(
        scope,
        "AlertRules",
        workspace=metrics.workspace,
        topic=topic if tells else None,
        cluster_name=name,
        sources=sources,
        overrides=section.alarms,
        own_alarms=section.own_alarms,
        update_schedules=update_schedules,
        update_minutes=section.update_minutes,
    )
    if tells and topic is not None:  # other stacks' rules may ring in a workspace that is kept
        keep_with(KEPT, topic, "AWS::SNS::Topic")  # and its policy; an address that leaves the file is told no more


def _workspace(scope: Construct, section: MonitoringSection) -> MetricsWorkspaceBase:
    if section.workspace_arn is not None:
        return MetricsWorkspace.from_workspace_arn(scope, "Metrics", section.workspace_arn)
    said = Exchange(existing=Existing.of(scope)).keywords(section)
    return MetricsWorkspace(scope, "Metrics", retention_days=said["retention_days"], key=said.get("key"))
