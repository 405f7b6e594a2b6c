"""What a cluster's nodes run, and may do, to be monitored."""

from dataclasses import dataclass

from cdk_trainyard.lifecycle.spec import Exporters, MetricsAgent
from cdk_trainyard.monitoring.spec import ClusterMonitoringSpec
from cdk_trainyard.monitoring.workspace import MetricsWorkspaceBase
from cdk_trainyard.options.judging import Judge


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterMonitoring(ClusterMonitoringSpec):
    """Where the metrics of a cluster go: its keyword ``metrics``.

    Every node runs exporters; one agent on the controller, vmagent, scrapes them and writes to the
    workspace, with credentials of the controller's role and a queue on disk that outlives a restart.
    """

    workspace: MetricsWorkspaceBase
    """The workspace."""

    def judged(self, judge: Judge) -> Exporters | None:
        """Return what nodes were said to run, whose form is judged.

        Args:
            judge: Who judges it.
        """
        return None if self.exporters is None else judge.judged(self.exporters, ("metrics", "exporters"))

    def agent(self, cluster_name: str, *, alone: bool = False) -> MetricsAgent:
        """Return the agent that takes a cluster's metrics there.

        Args:
            cluster_name: The label ``cluster`` of every sample.
            alone: Whether every node has one, which asks that node alone. Default: false.
        """
        return MetricsAgent(
            url=self.workspace.remote_write_url,
            region=self.workspace.region,
            cluster=cluster_name,
            scrape_seconds=self.scrape_seconds,
            alone=alone,
        )
