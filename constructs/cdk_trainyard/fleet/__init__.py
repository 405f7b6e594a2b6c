"""Fleets of EC2 instances with EFA: launch templates, nodes that set themselves up, a master, images."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.fleet.fleet import EfaFleet
    from cdk_trainyard.fleet.images import dlami_names
    from cdk_trainyard.fleet.launch_template import EfaLaunchTemplate
    from cdk_trainyard.fleet.master import MasterNode
    from cdk_trainyard.fleet.node_role import NodeRole
    from cdk_trainyard.fleet.scripts import FleetScripts
    from cdk_trainyard.fleet.spec import FleetPlacement
    from cdk_trainyard.fleet.spec_image import EfaInstaller, NodeImage
    from cdk_trainyard.fleet.training_image import TrainingImage
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "EfaFleet",
    "EfaInstaller",
    "EfaLaunchTemplate",
    "FleetPlacement",
    "FleetScripts",
    "MasterNode",
    "NodeImage",
    "NodeRole",
    "TrainingImage",
    "dlami_names",
]
