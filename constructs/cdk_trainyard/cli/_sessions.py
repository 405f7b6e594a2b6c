"""What commands share that open sessions: the plugin, and the nodes that are meant."""

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from cdk_trainyard.cli._deployed import Opened, chosen, tell_refused
from cdk_trainyard.cli._exits import Missing, Wrong

if TYPE_CHECKING:
    from cdk_trainyard.deployment.model import Deployment
    from cdk_trainyard.operations import Node
    from cdk_trainyard.operations.sessions import Plugin


def plugin() -> "Plugin":
    """Return AWS's session-manager-plugin.

    Raises:
        Missing: It is not installed.
    """
    from cdk_trainyard.operations import OperationError
    from cdk_trainyard.operations.sessions import Plugin

    try:
        return Plugin.find()
    except OperationError as error:
        raise Missing(str(error)) from None


def meant(of: Opened, names: Sequence[str]) -> "list[Node]":
    """Return the nodes that are named; without a name the heads.

    Args:
        of: The deployment.
        names: Ids, names in Slurm, addresses and groups.

    Raises:
        Wrong: There is none, nothing of such a name, or no head.
    """
    from cdk_trainyard.operations import OperationError
    from cdk_trainyard.operations.sessions import heads

    found = chosen(of, names)
    tell_refused(found.refused)
    try:
        return list(found.rows) if names else heads(found.rows, _head_groups(of))
    except OperationError as error:
        raise Wrong(str(error)) from None


def _head_groups(of: Opened) -> list[str]:
    """Return the groups that the file gives a controller's role: scripts that configure Slurm tell the API none."""
    groups = getattr(of.deployment.cluster, "groups", ())
    return [group.name for group in groups if getattr(group, "role", "") == "controller"]


def login_user(of: "Deployment") -> str:
    """Return the user that people work as on a deployment's nodes: that of their image or operating system.

    Args:
        of: The deployment.
    """
    from cdk_trainyard.deployment.orchestrators import find

    row = find(of.orchestrator)
    return str(resolve_name(row.user)(of.cluster)) if row and row.user else "ubuntu"
