"""Asks ParallelCluster which network interfaces it renders for each EFA type. Runs in ParallelCluster's environment."""

import json
import sys
from types import SimpleNamespace

from pcluster.aws.aws_resources import InstanceTypeInfo
from pcluster.templates.queues_stack import add_network_interfaces

from cdk_trainyard.cli.contract.inside.answers import instance_types

_QUEUE = SimpleNamespace(networking=SimpleNamespace(assign_public_ip=None, subnet_ids=["subnet-1"]))


def interfaces(name: str) -> list[tuple[int, int, str]]:
    """Return card, device and type of each interface."""
    info = InstanceTypeInfo(instance_types()[name])
    resource = SimpleNamespace(
        instance_types=[name],
        efa=SimpleNamespace(enabled=True),
        network_cards_list=info.network_cards_list(),
        max_efa_interfaces=info.max_efa_interfaces(),
        max_network_cards=info.max_network_cards(),
    )
    rendered = add_network_interfaces(_QUEUE, resource, ["sg-1"])
    return [(one.network_card_index, one.device_index, one.interface_type or "interface") for one in rendered]


names = [name for name, one in instance_types().items() if one["NetworkInfo"].get("EfaSupported")]
sys.stdout.write(json.dumps({name: interfaces(name) for name in names}))
