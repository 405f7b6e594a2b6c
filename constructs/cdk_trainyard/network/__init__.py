"""Networks for training: a VPC around one accelerator subnet, its addresses, EFA's security group and interfaces."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.network.address_plan import AddressPlan, AddressUse
    from cdk_trainyard.network.efa_security_group import EfaSecurityGroup
    from cdk_trainyard.network.interfaces import (
        EfaBackend,
        EfaInterface,
        efa_network_interfaces,
        interface_addresses,
    )
    from cdk_trainyard.network.launch_template import launch_template_interfaces
    from cdk_trainyard.network.network import Network, TrainingNetwork
    from cdk_trainyard.network.placement_group import PlacementGroup
    from cdk_trainyard.network.spec import HYPERPOD_ENDPOINTS, Endpoint, Nat
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "HYPERPOD_ENDPOINTS",
    "AddressPlan",
    "AddressUse",
    "EfaBackend",
    "EfaInterface",
    "EfaSecurityGroup",
    "Endpoint",
    "Nat",
    "Network",
    "PlacementGroup",
    "TrainingNetwork",
    "efa_network_interfaces",
    "interface_addresses",
    "launch_template_interfaces",
]
