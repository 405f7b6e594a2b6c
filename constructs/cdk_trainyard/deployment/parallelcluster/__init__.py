"""Deployment files with ``orchestrator: parallelcluster``."""

from cdk_trainyard.deployment.parallelcluster.model import ParallelClusterDeployment
from cdk_trainyard.deployment.parallelcluster.section import (
    HeadNodeSection,
    LoginPoolSection,
    ParallelClusterSection,
    QueueSection,
)

__all__ = [
    "HeadNodeSection",
    "LoginPoolSection",
    "ParallelClusterDeployment",
    "ParallelClusterSection",
    "QueueSection",
]
