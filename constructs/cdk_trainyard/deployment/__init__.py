"""The deployment file: one YAML file for one environment, checked line by line before anything is defined.

What an orchestrator adds to it has a package of its own, which is imported when a file asks for it.
"""

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.explain import explain
from cdk_trainyard.deployment.model import Deployment, Orchestrator
from cdk_trainyard.deployment.storage import ExistingLustreSection, LustreSection, StorageSection
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec

__all__ = [
    "AlertsSection",
    "Deployment",
    "ExistingLustreSection",
    "ExistingNetworkSpec",
    "LustreSection",
    "NetworkSpec",
    "Orchestrator",
    "StorageSection",
    "explain",
]
