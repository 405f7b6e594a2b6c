"""What an orchestrator does on its nodes: before they start, when they are up, and when the cluster changes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cdk_trainyard.rehearsal.devices import plug_devices
from cdk_trainyard.rehearsal.instance_types import InstanceType
from cdk_trainyard.rehearsal.model import Cluster, Node
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile

PROVISIONING_LOG = "/var/log/provision/provisioning.log"
"""Where the steps of every folder of scripts write."""

Bundle = Mapping[str, bytes]
"""The files of a prefix in a bucket, by name below it."""

_UNIT_SECONDS = 1800


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptRun:
    """How the scripts of a node ended.

    Attributes:
        node: Where they ran.
        code: Exit code of the one that failed; 0 too when the node has none.
        output: What was written to the terminal.
    """

    node: Node
    code: int
    output: str


class Agent(ABC):
    """What one orchestrator does on the nodes of one cluster.

    Attributes:
        cluster: The cluster as the control plane sees it; replace it when that changes.
        binds: Directories that all nodes share: place on the node, by place in the rehearsal's namespaces.
    """

    def __init__(self, cluster: Cluster, *, binds: Mapping[str, str] | None = None) -> None:
        self.cluster = cluster
        self.binds = dict(binds or {})

    @abstractmethod
    def files(self, node: Node) -> Mapping[str, NodeFile]:
        """Return what is on a node's disk when it starts."""

    @abstractmethod
    def provision(self, machine: Machine) -> ScriptRun:
        """Do with a node that has started what the orchestrator does, and run its scripts."""

    def tell(self, machine: Machine) -> None:
        """Let a node that runs know of the cluster's new state."""
        del machine  # unless an orchestrator says otherwise, nobody tells it

    def plug(self, machine: Machine) -> None:
        """Give a node that is up the devices of its type."""
        plug_devices(machine, InstanceType.of(self.cluster.group_of(machine.node).instance_type))

    def metadata(self, node: Node) -> Mapping[str, str]:
        """Return what the metadata service says of a node beside what every instance has, by path."""
        del node
        return {}

    def network_files(self, node: Node, *, search: str) -> dict[str, NodeFile]:
        """Return a node's name, and where it finds others'.

        Args:
            node: The node.
            search: Domains that a name without a dot may be in.
        """
        return {
            "/etc/hostname": NodeFile(text=f"{node.host}\n"),
            "/etc/hosts": NodeFile(text="127.0.0.1 localhost\n"),
            "/etc/resolv.conf": NodeFile(
                text=f"nameserver {self.cluster.subnet[2]}\nsearch {search}\noptions timeout:1 attempts:5\n"
            ),
        }


def run_unit(
    machine: Machine,
    unit: str,
    words: Sequence[str],
    *,
    directory: str = "/",
    environment: Mapping[str, str] | None = None,
) -> ScriptRun:
    """Run a program on a node as a unit of systemd: as root, with nobody at the terminal.

    Args:
        machine: The node.
        unit: The unit's name: under it the program can be killed.
        words: The program and its arguments.
        directory: Where it runs. Default - the root directory.
        environment: Variables that it has. Default - none.
    """
    done = machine.run(
        "systemd-run", "--quiet", "--pipe", "--wait", "--collect", f"--unit={unit}", f"--working-directory={directory}",
        *(f"--setenv={name}={value}" for name, value in (environment or {}).items()), *words,
        check=False, timeout=_UNIT_SECONDS,
    )  # fmt: skip
    return ScriptRun(node=machine.node, code=done.code, output=done.out + done.err)
