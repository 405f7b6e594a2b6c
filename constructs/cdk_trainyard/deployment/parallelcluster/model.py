"""A deployment file with ``orchestrator: parallelcluster``."""

from typing import Literal

from cdk_trainyard.deployment._sections import Said, Sections
from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.model import Deployment, Orchestrator
from cdk_trainyard.deployment.network import AnyNetwork
from cdk_trainyard.deployment.parallelcluster.reach import parallelcluster_reach_problems
from cdk_trainyard.deployment.parallelcluster.rules import (
    Around,
    cluster_alerts_problems,
    open_zfs_problems,
    parallelcluster_problems,
    partial_parallelcluster_problems,
)
from cdk_trainyard.deployment.parallelcluster.section import ParallelClusterSection
from cdk_trainyard.deployment.storage import AnyLustre, OpenZfsSection


class ParallelClusterDeployment(Deployment):
    """A cluster of AWS ParallelCluster with what it needs."""

    orchestrator: Literal[Orchestrator.PARALLELCLUSTER]
    """What runs the jobs."""
    cluster: ParallelClusterSection
    """The cluster."""

    @property
    def new_accounting(self) -> AccountingSection | None:
        """The database of Slurm's accounting that is made with the storage. None: there is none, or it exists."""
        said = self.cluster.slurm.accounting
        return said if isinstance(said, AccountingSection) else None

    @classmethod
    def own_problems(cls, sections: Sections) -> Said:
        """Ask the rules of the cluster, or of its sound parts."""
        yield ("storage",), open_zfs_problems(sections.get(OpenZfsSection, "storage", "open_zfs"))
        if not sections.has("serving"):  # a served model has alarms to tell of
            yield (), cluster_alerts_problems(sections.get(AlertsSection, "alerts"))
        around = Around(
            name=sections.get(str, "name"),
            region=sections.get(str, "region"),
            network=sections.get(AnyNetwork, "network"),
            lustre=sections.get(AnyLustre, "storage", "lustre"),
            tags=sections.get(dict, "tags") or {},
        )
        cluster = sections.get(ParallelClusterSection, "cluster")
        if cluster is not None:
            problems = parallelcluster_problems(cluster, around)
            problems += parallelcluster_reach_problems(cluster, around.network, around.region)
        else:
            lists = {key: sections.items("cluster", key) for key in ("queues", "login_pools")}
            sound = {key: value for key, value in sections.parts("cluster").items() if key not in lists}
            unsound = {"head_node", "queues", *sections.keys("cluster")} - sound.keys()
            problems = partial_parallelcluster_problems(sound | lists, unsound, around)
        yield ("cluster",), problems
