"""The deployment file: one YAML file for one environment, checked line by line before anything is defined.

What an orchestrator adds to it has a package of its own, which is imported when a file asks for it.
"""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.deployment.alerts import AlertsSection
    from cdk_trainyard.deployment.explanation import explain
    from cdk_trainyard.deployment.model import Deployment
    from cdk_trainyard.deployment.orchestrators import Orchestrator
    from cdk_trainyard.deployment.storage import ExistingLustreSection, LustreSection, StorageSection
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "AlertsSection",
    "Deployment",
    "ExistingLustreSection",
    "LustreSection",
    "Orchestrator",
    "StorageSection",
    "explain",
]
