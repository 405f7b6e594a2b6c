"""The nodes' network without nodes: namespaces, and cables between them."""

import pytest

from cdk_trainyard.rehearsal.model import Node
from cdk_trainyard.rehearsal.namespaces import Namespaces
from cdk_trainyard.rehearsal.switch import Switch
from tests.rehearsal.clusters import SUBNET, make_cluster

pytestmark = [pytest.mark.nodes, pytest.mark.usefixtures("image")]  # skipped, or not, as all that needs nodes

ASK_THE_NAME_SERVICE = f"""
import socket
asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asked.settimeout(120)
asked.connect(("{SUBNET[2]}", 53))
asked.send(b"")
try:
    asked.recv(1)
except ConnectionRefusedError:  # nobody listens there, and its machine says so
    print("reached")
"""


def test_nodes_reach_the_name_service_at_once_when_any_other_node_is_gone() -> None:
    nodes = make_cluster(workers=4).nodes
    with Namespaces() as namespaces:

        def reaches(node: Node) -> bool:
            asked = namespaces.run("ip", "netns", "exec", node.name, "python3", "-c", ASK_THE_NAME_SERVICE, check=False)
            return asked.out.strip() == "reached"

        switch = Switch(namespaces, SUBNET)
        for node in nodes:
            switch.plug(node)
        assert [reaches(node) for node in nodes] == [True] * len(nodes)
        for left in range(1, len(nodes)):  # one of them has the lowest hardware address, whichever
            switch.unplug(nodes[left - 1])
            assert [reaches(node) for node in nodes[left:]] == [True] * (len(nodes) - left)
