"""Deployment files with ``orchestrator: hyperpod``."""

from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.hyperpod.model import HyperPodDeployment
from cdk_trainyard.deployment.hyperpod.section import (
    ExistingAccountingSection,
    GroupSection,
    HyperPodSection,
    LifecycleSection,
)

__all__ = [
    "AccountingSection",
    "ExistingAccountingSection",
    "GroupSection",
    "HyperPodDeployment",
    "HyperPodSection",
    "LifecycleSection",
]
