"""Monitoring of clusters: a workspace for metrics (Amazon Managed Service for Prometheus), and alarms that are data."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.monitoring.alert_rules import AlertRules
    from cdk_trainyard.monitoring.cluster import ClusterMonitoring
    from cdk_trainyard.monitoring.cluster_dashboards import ClusterDashboards
    from cdk_trainyard.monitoring.environment import EnvironmentMonitoring
    from cdk_trainyard.monitoring.grafana_workspace import GrafanaWorkspace
    from cdk_trainyard.monitoring.spec import (
        AlarmOverride,
        AlarmSeverity,
        GrafanaAuthentication,
        GrafanaSaml,
        MetricsSource,
        OwnAlarm,
    )
    from cdk_trainyard.monitoring.workspace import MetricsWorkspace, MetricsWorkspaceBase
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "AlarmOverride",
    "AlarmSeverity",
    "AlertRules",
    "ClusterDashboards",
    "ClusterMonitoring",
    "EnvironmentMonitoring",
    "GrafanaAuthentication",
    "GrafanaSaml",
    "GrafanaWorkspace",
    "MetricsSource",
    "MetricsWorkspace",
    "MetricsWorkspaceBase",
    "OwnAlarm",
]
