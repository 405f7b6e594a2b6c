"""A deployment file with ``orchestrator: hyperpod``."""

from typing import Literal

from cdk_trainyard.deployment._sections import Said, Sections
from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.hyperpod.reach import hyperpod_reach_problems
from cdk_trainyard.deployment.hyperpod.rules import hyperpod_problems, partial_hyperpod_problems
from cdk_trainyard.deployment.hyperpod.section import HyperPodSection
from cdk_trainyard.deployment.model import Deployment, Orchestrator
from cdk_trainyard.deployment.network import AnyNetwork


class HyperPodDeployment(Deployment):
    """A HyperPod cluster with what it needs."""

    orchestrator: Literal[Orchestrator.HYPERPOD]
    """What runs the jobs."""
    cluster: HyperPodSection
    """The cluster."""

    @property
    def new_accounting(self) -> AccountingSection | None:
        """The database of Slurm's accounting that is made with the storage. None: there is none, or it exists."""
        said = self.cluster.accounting
        return said if isinstance(said, AccountingSection) else None

    @classmethod
    def own_problems(cls, sections: Sections) -> Said:
        """Ask the rules of the cluster, or of its sound parts."""
        cluster = sections.get(HyperPodSection, "cluster")
        if cluster is not None:
            yield ("cluster",), hyperpod_problems(cluster)
            network, region = sections.get(AnyNetwork, "network"), sections.get(str, "region")
            yield ("cluster",), hyperpod_reach_problems(cluster, network, region)
            return
        sound = sections.parts("cluster") | {"groups": sections.parts("cluster", "groups")}
        yield ("cluster",), partial_hyperpod_problems(HyperPodSection.model_validate(sound))
