"""The nodes of a HyperPod cluster, on this machine."""

from collections.abc import Mapping
from pathlib import Path

from cdk_trainyard.rehearsal.agent import Bundle
from cdk_trainyard.rehearsal.hyperpod.agent import HyperPodAgent
from cdk_trainyard.rehearsal.machines import Machines
from cdk_trainyard.rehearsal.model import Cluster
from cdk_trainyard.rehearsal.roles import RoleOf


class HyperPodMachines(Machines[HyperPodAgent]):
    """The nodes of a HyperPod cluster. Use it in a ``with`` block: at its end nothing is left."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        image: Path,
        bundles: Mapping[str, Bundle] | None = None,
        job_environment: Path | None = None,
        auto_resume: bool = False,
        role_of: RoleOf | None = None,
    ) -> None:
        """Make the network and the shared storage; ``boot`` starts nodes.

        Args:
            cluster: The cluster as the control plane sees it.
            image: The nodes' machine image, from ``node_image``.
            bundles: Lifecycle scripts by the ``s3://`` address that the groups name. Default - none.
            job_environment: A Python environment that jobs find at ``JOB_ENVIRONMENT``. Default - none.
            auto_resume: Whether srun offers ``--auto-resume``, from a stand-in of HyperPod's plugin. Default: False.
            role_of: What the metadata service says of a node's role. Default - nodes have none.

        Raises:
            RehearsalError: This machine cannot give a node what it needs.
        """
        agent = HyperPodAgent(cluster, bundles=bundles or {}, auto_resume=auto_resume)
        super().__init__(agent, image=image, job_environment=job_environment, role_of=role_of)
