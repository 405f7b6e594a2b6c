"""Node scripts: checked before they are uploaded, content-addressed, read-only to the nodes that run them."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.lifecycle.scripts import LifecycleScripts
    from cdk_trainyard.lifecycle.settings import NodeGroup, NodeLustre, NodeOpenZfs, NodeSettings
    from cdk_trainyard.lifecycle.spec import (
        Containers,
        DatabaseAccounting,
        Exporters,
        GroupRole,
        LogRotation,
        MetricsAgent,
        NeuronEnvironment,
        NodeSetup,
        NodeTool,
        PamSlurmAdopt,
        S3Mount,
        SlurmTopology,
        ToolFile,
    )
    from cdk_trainyard.node_scripts import scripts_folder
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "Containers",
    "DatabaseAccounting",
    "Exporters",
    "GroupRole",
    "LifecycleScripts",
    "LogRotation",
    "MetricsAgent",
    "NeuronEnvironment",
    "NodeGroup",
    "NodeLustre",
    "NodeOpenZfs",
    "NodeSettings",
    "NodeSetup",
    "NodeTool",
    "PamSlurmAdopt",
    "S3Mount",
    "SlurmTopology",
    "ToolFile",
    "scripts_folder",
]
