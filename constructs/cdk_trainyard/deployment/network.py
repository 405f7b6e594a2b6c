"""The ``network:`` section: a new VPC, or one that exists."""

from typing import Annotated

from cdk_trainyard.deployment._specified import Specified
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.options.fields import Part

NETWORK = Part(spec=NetworkSpec, existing=ExistingNetworkSpec, unless="vpc_id")
"""A new VPC, or with ``vpc_id`` one that exists."""
AnyNetwork = Annotated[NetworkSpec | ExistingNetworkSpec, Specified(NETWORK)]
