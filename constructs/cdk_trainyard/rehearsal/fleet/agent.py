"""What happens on a fleet's nodes without an orchestrator: the image's own units, and cloud-init with the user data."""

from collections.abc import Callable, Mapping

from cdk_trainyard.rehearsal.agent import Agent, ScriptRun, run_unit
from cdk_trainyard.rehearsal.devices import device_files, plug_devices
from cdk_trainyard.rehearsal.instance_types import InstanceType
from cdk_trainyard.rehearsal.metadata import USER_DATA
from cdk_trainyard.rehearsal.model import Cluster, Node
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile

UNIT = "cloud-final"
"""The unit in which user data runs."""

_SCRIPT = "/var/lib/cloud/instance/scripts/part-001"
_HUGE_PAGES = "/proc/sys/vm/nr_hugepages"
_MODINFO = '#!/bin/sh\n[ "$*" = lustre ] || exec /usr/sbin/modinfo "$@"\n'
"""Says that the kernel has Lustre's client, which the stand-in of its mount helper needs not."""


class FleetAgent(Agent):
    """Cloud-init on the members of one fleet."""

    def __init__(self, cluster: Cluster, *, user_data: Callable[[Node], str]) -> None:
        """Describe what is done.

        Args:
            cluster: The fleet.
            user_data: Returns the user data of a node.
        """
        super().__init__(cluster)
        self._user_data = user_data

    def files(self, node: Node) -> Mapping[str, NodeFile]:
        """Return what is on a node's disk when it starts."""
        return {
            **self.network_files(node, search=f"{self.cluster.region}.compute.internal"),
            **device_files(InstanceType.of(self.cluster.group_of(node).instance_type)),
            "/usr/local/sbin/modinfo": NodeFile(text=_MODINFO, mode=0o755),
            _SCRIPT: NodeFile(text=self._user_data(node), mode=0o700),
        }

    def metadata(self, node: Node) -> Mapping[str, str]:
        """Return the user data that the metadata service hands out."""
        return {USER_DATA: self._user_data(node)}

    def plug(self, machine: Machine) -> None:
        """Give a node its devices, and huge pages that are a number: ten gigabytes of this machine are not taken."""
        plug_devices(machine, InstanceType.of(self.cluster.group_of(machine.node).instance_type))
        machine.run("sh", "-c", f"echo 0 >/run/huge-pages; mount --bind /run/huge-pages {_HUGE_PAGES}")

    def provision(self, machine: Machine) -> ScriptRun:
        """Run the user data, as cloud-init does in its last stage."""
        return run_unit(machine, UNIT, [_SCRIPT])
