"""Deployment files with ``orchestrator: fleet``."""

from cdk_trainyard.deployment.fleet.model import FleetDeployment
from cdk_trainyard.deployment.fleet.section import FleetSection, ImageBuildSection, MasterSection, NodeImageSection

__all__ = ["FleetDeployment", "FleetSection", "ImageBuildSection", "MasterSection", "NodeImageSection"]
