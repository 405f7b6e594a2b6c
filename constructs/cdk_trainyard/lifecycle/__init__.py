"""Node scripts: checked before they are uploaded, content-addressed, read-only to the nodes that run them."""

from cdk_trainyard.lifecycle.bundle import scripts_folder
from cdk_trainyard.lifecycle.scripts import LifecycleScripts
from cdk_trainyard.lifecycle.settings import GroupRole, NodeGroup, NodeLustre, NodeSettings, SlurmTopology

__all__ = [
    "GroupRole",
    "LifecycleScripts",
    "NodeGroup",
    "NodeLustre",
    "NodeSettings",
    "SlurmTopology",
    "scripts_folder",
]
