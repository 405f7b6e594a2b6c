"""Deployment files that serve a model, with a cluster or without."""

from cdk_trainyard.deployment.serving.model import ServingDeployment
from cdk_trainyard.deployment.serving.section import (
    AuthenticationSection,
    CompileSection,
    DoorSection,
    EngineSection,
    HostsSection,
    ModelSection,
    ScalingSection,
    ServingSection,
    ShapeSection,
)

__all__ = [
    "AuthenticationSection",
    "CompileSection",
    "DoorSection",
    "EngineSection",
    "HostsSection",
    "ModelSection",
    "ScalingSection",
    "ServingDeployment",
    "ServingSection",
    "ShapeSection",
]
