"""Serving: a model on ECS with inf2 hosts, behind a door that speaks OpenAI's protocol.

The module of a public name is imported when the name is first used: what only names the choices, as the deployment
file's section does, needs no ECS.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cdk_trainyard.serving.authentication import AuthenticationKind, ClaimFormat, DoorAuthentication, JwtClaim
    from cdk_trainyard.serving.catalogue import EngineImage, HostImage, Server
    from cdk_trainyard.serving.compilation import ModelCompilation
    from cdk_trainyard.serving.concurrency import ConcurrencyLimit
    from cdk_trainyard.serving.door import FrontDoor
    from cdk_trainyard.serving.engine import TextGenerationEngine
    from cdk_trainyard.serving.model import ModelShape, NeuronDtype, NeuronModel
    from cdk_trainyard.serving.monitoring import ServiceMonitoring
    from cdk_trainyard.serving.node_health import NeuronNodeHealth
    from cdk_trainyard.serving.rollout import Rollout
    from cdk_trainyard.serving.scaling_values import ScalingMetric, ScalingSchedule, ServiceScaling
    from cdk_trainyard.serving.service import InferenceService
    from cdk_trainyard.serving.sizing import Sizing
    from cdk_trainyard.serving.web_acl import PromptWebAcl

__all__ = [
    "AuthenticationKind",
    "ClaimFormat",
    "ConcurrencyLimit",
    "DoorAuthentication",
    "EngineImage",
    "FrontDoor",
    "HostImage",
    "InferenceService",
    "JwtClaim",
    "ModelCompilation",
    "ModelShape",
    "NeuronDtype",
    "NeuronModel",
    "NeuronNodeHealth",
    "PromptWebAcl",
    "Rollout",
    "ScalingMetric",
    "ScalingSchedule",
    "Server",
    "ServiceMonitoring",
    "ServiceScaling",
    "Sizing",
    "TextGenerationEngine",
]

_NAMES = {
    "authentication": "AuthenticationKind ClaimFormat DoorAuthentication JwtClaim",
    "catalogue": "EngineImage HostImage Server",
    "compilation": "ModelCompilation",
    "concurrency": "ConcurrencyLimit",
    "door": "FrontDoor",
    "engine": "TextGenerationEngine",
    "model": "ModelShape NeuronDtype NeuronModel",
    "monitoring": "ServiceMonitoring",
    "node_health": "NeuronNodeHealth",
    "rollout": "Rollout",
    "scaling_values": "ScalingMetric ScalingSchedule ServiceScaling",
    "service": "InferenceService",
    "sizing": "Sizing",
    "web_acl": "PromptWebAcl",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:  # or every misspelt name would be an Any

    def __getattr__(name: str) -> Any:
        """Import the module of a public name when it is first asked for (PEP 562)."""
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
