"""What a cluster's nodes run, and may do, to be monitored."""

from dataclasses import dataclass

from cdk_trainyard.lifecycle.spec import MetricsAgent
from cdk_trainyard.monitoring.workspace import MetricsWorkspaceBase


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterMetrics:
    """Where the metrics of a cluster go: its keyword ``metrics``.

    Every node runs exporters; one agent on the controller, Prometheus in agent mode, scrapes them and writes to the
    workspace, with credentials of the controller's role and a queue on disk that outlives a restart.

    Attributes:
        workspace: The workspace.
        scrape_seconds: How many seconds lie between two samples of a series. Default: 30.
    """

    workspace: MetricsWorkspaceBase
    scrape_seconds: int = 30

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
