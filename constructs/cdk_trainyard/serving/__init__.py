"""Serving: a model on ECS with inf2 hosts, behind a door that speaks OpenAI's protocol."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

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
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

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
