"""Serving: a model on ECS with inf2 hosts, behind a load balancer that speaks OpenAI's protocol."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.serving.catalogue import EngineImage, HostImage, Server
    from cdk_trainyard.serving.compilation import ModelCompilation
    from cdk_trainyard.serving.load_balancer import InferenceLoadBalancer
    from cdk_trainyard.serving.monitoring import ServiceMonitoring
    from cdk_trainyard.serving.node_health import NeuronNodeHealth
    from cdk_trainyard.serving.service import InferenceService
    from cdk_trainyard.serving.sizing import Sizing
    from cdk_trainyard.serving.spec_load_balancer import (
        AuthenticationKind,
        ClaimFormat,
        ClientAuthentication,
        ConcurrencyLimit,
        JwtClaim,
    )
    from cdk_trainyard.serving.spec_model import ModelShape, NeuronDtype, NeuronModel, TextGenerationEngine
    from cdk_trainyard.serving.spec_service import (
        Rollout,
        ScalingMetric,
        ScalingSchedule,
        ServiceScaling,
        ServingHosts,
    )
    from cdk_trainyard.serving.web_acl import PromptWebAcl
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "AuthenticationKind",
    "ClaimFormat",
    "ClientAuthentication",
    "ConcurrencyLimit",
    "EngineImage",
    "HostImage",
    "InferenceLoadBalancer",
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
    "ServingHosts",
    "Sizing",
    "TextGenerationEngine",
]
