"""What commands and rules of the whole file ask of the nodes of a HyperPod cluster. No CDK."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.deployment.hyperpod.section import HyperPodSection
from cdk_trainyard.deployment.monitoring import NodeMetrics, types_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.hyperpod.limits import HOME
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.problems import At
from cdk_trainyard.tokens import unresolved


def numbers(section: HyperPodSection) -> Mapping[str, At]:
    """Return where a file says how many nodes a group has, by the group's name; those that run jobs come first.

    Args:
        section: The cluster.
    """
    groups = sorted(section.groups, key=lambda group: group.role is not GroupRole.COMPUTE)
    return {group.name: ("cluster", "groups", group.name, "count") for group in groups}


def metrics(deployment: DeploymentSpec) -> NodeMetrics:
    """Return what the nodes give metrics of: their exporters are said with their set-up.

    Args:
        deployment: The deployment.
    """
    section: HyperPodSection = deployment.cluster
    groups, setup = section.groups, section.node_setup
    exporters: Any = setup if setup is None or unresolved(setup) else setup.exporters
    return NodeMetrics(
        exporters=exporters,
        types=types_of(groups, *groups),
        updated=unresolved(groups) or any(unresolved(one) or one.scheduled_update is not None for one in groups),
    )


def user(_section: HyperPodSection) -> str:
    """Return the user that people work as: that of HyperPod's image."""
    return HOME.rpartition("/")[2]
