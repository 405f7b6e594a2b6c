"""The deployment file: one YAML file for one environment, checked line by line before anything is defined."""

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.explain import explain
from cdk_trainyard.deployment.hyperpod import (
    AccountingSection,
    ExistingAccountingSection,
    GroupSection,
    HyperPodSection,
    LifecycleSection,
)
from cdk_trainyard.deployment.model import Deployment, HyperPodDeployment, Orchestrator, ParallelClusterDeployment
from cdk_trainyard.deployment.network import ExistingNetworkSection, NetworkSection
from cdk_trainyard.deployment.parallelcluster import (
    HeadNodeSection,
    LoginPoolSection,
    ParallelClusterSection,
    QueueSection,
)
from cdk_trainyard.deployment.storage import BucketsSection, ExistingLustreSection, LustreSection, StorageSection

__all__ = [
    "AccountingSection",
    "AlertsSection",
    "BucketsSection",
    "Deployment",
    "ExistingAccountingSection",
    "ExistingLustreSection",
    "ExistingNetworkSection",
    "GroupSection",
    "HeadNodeSection",
    "HyperPodDeployment",
    "HyperPodSection",
    "LifecycleSection",
    "LoginPoolSection",
    "LustreSection",
    "NetworkSection",
    "Orchestrator",
    "ParallelClusterDeployment",
    "ParallelClusterSection",
    "QueueSection",
    "StorageSection",
    "explain",
]
