"""Rehearsals: the nodes of a cluster on one machine, with real systemd, real Slurm and the real node scripts."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily
from cdk_trainyard.rehearsal.job_environment import job_environment  # or it would be the module, once that is imported

if TYPE_CHECKING:
    from cdk_trainyard.rehearsal.agent import Agent, ScriptRun
    from cdk_trainyard.rehearsal.egress_proxy import EgressProxy
    from cdk_trainyard.rehearsal.errors import RehearsalError
    from cdk_trainyard.rehearsal.hyperpod.machines import HyperPodMachines
    from cdk_trainyard.rehearsal.hyperpod.slurm_conf import slurm_files
    from cdk_trainyard.rehearsal.image import node_image
    from cdk_trainyard.rehearsal.machines import JOB_ENVIRONMENT, Machines
    from cdk_trainyard.rehearsal.model import Cluster, Group, LifecycleConfig, Lustre, Node
    from cdk_trainyard.rehearsal.nodes import Machine
    from cdk_trainyard.rehearsal.requirements import missing
    from cdk_trainyard.rehearsal.slurm import Slurm
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "JOB_ENVIRONMENT",
    "Agent",
    "Cluster",
    "EgressProxy",
    "Group",
    "HyperPodMachines",
    "LifecycleConfig",
    "Lustre",
    "Machine",
    "Machines",
    "Node",
    "RehearsalError",
    "ScriptRun",
    "Slurm",
    "job_environment",
    "missing",
    "node_image",
    "slurm_files",
]
