"""What commands and rules of the whole file ask of the nodes of a fleet. No CDK."""

from collections.abc import Mapping
from typing import Final

from cdk_trainyard.deployment.fleet.section import FleetSection
from cdk_trainyard.deployment.monitoring import NodeMetrics, exporters, types_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.fleet.images import known_image
from cdk_trainyard.monitoring.spec import MetricsSource
from cdk_trainyard.problems import At
from cdk_trainyard.tokens import unresolved

WORKERS: Final = "worker"
"""What the nodes of a fleet are called, by their tag."""


def numbers(section: FleetSection) -> Mapping[str, At]:
    """Return where a file says how many nodes the fleet has, or has at most, by what its nodes are called.

    Args:
        section: The fleet.
    """
    return {WORKERS: ("cluster", "max_count" if section.count is None else "count")}


def metrics(deployment: DeploymentSpec) -> NodeMetrics:
    """Return what the nodes give metrics of: nothing of Slurm, and nothing at all where there may be no node.

    Args:
        deployment: The deployment.
    """
    section: FleetSection = deployment.cluster
    absent: dict[str, str] = {MetricsSource.SLURM: "a fleet has no Slurm"}
    if not unresolved(section.least) and not section.always_on:
        absent[MetricsSource.CONTROLLER] = "there may be no node"
    return NodeMetrics(exporters=exporters(deployment.monitoring), types=types_of(section), absent=absent)


def user(section: FleetSection) -> str:
    """Return the user that people work as: that of the image.

    Args:
        section: The fleet.
    """
    return known_image(section.image).user
