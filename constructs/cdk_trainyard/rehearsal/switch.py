"""The nodes' network: a bridge in the namespaces, a cable per node, and nothing of the host's."""

from ipaddress import IPv4Network
from itertools import count

from cdk_trainyard.rehearsal.model import Node
from cdk_trainyard.rehearsal.namespaces import Namespaces

METADATA_ADDRESS = "169.254.169.254"
TIME_ADDRESS = "169.254.169.123"
_BRIDGE = "subnet0"
_BRIDGE_HARDWARE_ADDRESS = "02:00:00:00:00:01"
"""One of its own. Else a bridge takes the lowest of its ports', and another when that port goes: the nodes that are
left then talk to nobody for up to a minute, until they ask again who has the router's address."""


class Switch:
    """The subnet of a cluster: its router, its name service's and its metadata service's addresses, and its cables."""

    def __init__(self, namespaces: Namespaces, subnet: IPv4Network) -> None:
        self._namespaces = namespaces
        self._subnet = subnet
        self._ports: dict[str, str] = {}
        self._numbers = count()
        self._ip("link", "add", _BRIDGE, "address", _BRIDGE_HARDWARE_ADDRESS, "type", "bridge")
        for address in (
            f"{subnet[1]}/{subnet.prefixlen}",
            f"{subnet[2]}/32",
            f"{METADATA_ADDRESS}/32",
            f"{TIME_ADDRESS}/32",
        ):
            self._ip("addr", "add", address, "dev", _BRIDGE)
        self._ip("link", "set", _BRIDGE, "up")

    def plug(self, node: Node) -> str:
        """Give a node its network namespace with a cable to the switch; return the namespace's path.

        A node that had one keeps it.
        """
        space = f"/run/netns/{node.name}"
        if node.name not in self._ports:
            self._ports[node.name] = port = f"port{next(self._numbers)}"  # interface names have 15 characters at most
            inside = ["-n", node.name]
            self._ip("netns", "add", node.name)
            self._ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", node.name)
            self._ip("link", "set", port, "master", _BRIDGE, "up")
            self._ip(*inside, "link", "set", "lo", "up")
            self._ip(*inside, "addr", "add", f"{node.address}/{self._subnet.prefixlen}", "dev", "eth0")
            self._ip(*inside, "link", "set", "eth0", "up")
            self._ip(*inside, "route", "add", "default", "via", str(self._subnet[1]))
        return space

    def unplug(self, node: Node) -> None:
        """Take a node's cable and namespace away."""
        if self._ports.pop(node.name, None):
            self._ip("netns", "delete", node.name)

    def cut(self, node: Node) -> None:
        """Pull a node's cable out, as a failed link does: the node sees its own interface up."""
        self._ip("link", "set", self._ports[node.name], "down")

    def heal(self, node: Node) -> None:
        """Put a node's cable back."""
        self._ip("link", "set", self._ports[node.name], "up")

    def _ip(self, *words: str) -> None:
        self._namespaces.run("ip", *words)
