"""Nodes that run here: their network, their shared storage, and what an orchestrator does with them."""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from cdk_trainyard.rehearsal._closing import Closing
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.agent import Agent, ScriptRun
from cdk_trainyard.rehearsal.asked import Asked
from cdk_trainyard.rehearsal.egress_proxy import PROXY_LOG, REQUESTS, EgressProxy
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.instance_types import InstanceType
from cdk_trainyard.rehearsal.model import Cluster, Lustre, Node
from cdk_trainyard.rehearsal.namespaces import STATE, Namespaces
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile
from cdk_trainyard.rehearsal.requirements import raise_inotify_limit
from cdk_trainyard.rehearsal.roles import RoleOf
from cdk_trainyard.rehearsal.slurm import Slurm
from cdk_trainyard.rehearsal.switch import METADATA_ADDRESS, TIME_ADDRESS, Switch

JOB_ENVIRONMENT = "/opt/job-environment"
"""Where the job's Python environment is on the nodes, read-only."""

_BACKING = STATE / "lustre"
_SUBNET = STATE / "subnet.json"
_SUBNET_LOG = STATE / "subnet.log"
_UNKNOWN_NAMES = STATE / "unknown-names"
_PARALLEL = 16
_UBUNTU = 1000
AgentT = TypeVar("AgentT", bound=Agent)


class Machines(Closing, Generic[AgentT]):
    """The nodes of a cluster, on this machine. Use it in a ``with`` block: at its end nothing is left.

    Attributes:
        cluster: The cluster as the control plane sees it now.
        machines: Its nodes, by name.
        agent: What the orchestrator does on the nodes.
    """

    def __init__(
        self,
        agent: AgentT,
        *,
        image: Path,
        job_environment: Path | None = None,
        egress_proxy: EgressProxy | None = None,
        role_of: RoleOf | None = None,
    ) -> None:
        """Make the network and the shared storage; ``boot`` starts nodes.

        Args:
            agent: What the orchestrator does, and for which cluster.
            image: The nodes' machine image, from ``node_image``.
            job_environment: A Python environment that jobs find at ``JOB_ENVIRONMENT``. Default - none.
            egress_proxy: What nodes reach beyond their subnet; the caller opens and closes it. Default - nothing.
            role_of: What the metadata service says of a node's role. Default - nodes have none.

        Raises:
            RehearsalError: This machine cannot give a node what it needs.
        """
        cluster = agent.cluster
        self.cluster = cluster
        self.by_name: dict[str, Machine] = {}
        self.agent = agent
        self._image = image
        self._name_service = True
        self._seconds_ahead = 0
        self._job_environment = job_environment
        self._egress_proxy = egress_proxy
        self._role_of = role_of
        raise_inotify_limit()
        self._namespaces = Namespaces()
        try:
            self._switch = Switch(self._namespaces, cluster.subnet)
            for directory in (str(_BACKING), *agent.binds):
                self._namespaces.path(directory).mkdir(parents=True, exist_ok=True)
            for system in cluster.file_systems:
                self._make_file_system(system)
            if egress_proxy:
                egress_proxy.open(self._namespaces, str(cluster.subnet[1]))
            self._write_subnet()
            self._start_subnet_services()
        except BaseException:
            self._namespaces.close()
            raise

    def close(self) -> None:
        """End every node; nothing of them is left."""
        self._namespaces.close()

    # ------------------------------------------------------------ nodes
    def boot(self, nodes: Iterable[Node] | None = None) -> None:
        """Start nodes, all at once, and wait until they are up.

        Args:
            nodes: The nodes. Default - every node of the cluster.
        """
        chosen = list(self.cluster.nodes if nodes is None else nodes)
        for node in chosen:
            machine = self.by_name.setdefault(node.name, self._machine(node))
            machine.boot(self._files(node))
        for node in chosen:
            machine = self.by_name[node.name]
            machine.wait_until_up()
            self.agent.plug(machine)

    def provision(
        self, nodes: Iterable[Node] | None = None, *, done: Callable[[ScriptRun], None] | None = None
    ) -> list[ScriptRun]:
        """Let the orchestrator configure nodes that are up, all at once; return how the scripts of each ended.

        Args:
            nodes: Which ones. Default - every node of the cluster.
            done: Told as each one ends.
        """
        chosen = [self.by_name[node.name] for node in (self.cluster.nodes if nodes is None else nodes)]

        def one(machine: Machine) -> ScriptRun:
            ended = self.agent.provision(machine)
            if done:
                done(ended)
            return ended

        with ThreadPoolExecutor(_PARALLEL) as pool:
            return list(pool.map(one, chosen))

    def replace(self, node: Node, instance_id: str = "") -> Node:
        """Give a node's place to a new instance, as for one that failed; return the new one.

        It keeps the name and the address, and has a new disk and a new instance id. It is booted, not provisioned.

        Args:
            node: The node.
            instance_id: The id of the new instance. Default - one that no control plane knows.
        """
        fresh = replace(node, instance_id=instance_id or new_instance_id())
        self.by_name.pop(node.name).wipe()
        self.change(self.cluster.with_nodes([fresh if old.name == node.name else old for old in self.cluster.nodes]))
        self.boot([fresh])
        return fresh

    def change(self, cluster: Cluster) -> None:
        """Take a new state of the control plane: nodes that are gone are ended, the others are told.

        New nodes are not started.
        """
        self.cluster = self.agent.cluster = cluster
        self._write_subnet()
        for name in set(self.by_name) - {node.name for node in cluster.nodes}:
            self.by_name.pop(name).remove()
        for machine in self.by_name.values():
            if machine.alive:
                self.agent.tell(machine)

    def machine(self, name: str) -> Machine:
        """Return a node by its name or host name.

        Raises:
            RehearsalError: There is none of that name; lists the names.
        """
        node = self.cluster.find(name)
        if node is None or node.name not in self.by_name:
            raise RehearsalError(f"no node is named '{name}'; there are {', '.join(sorted(self.by_name))}")
        return self.by_name[node.name]

    @property
    def slurm(self) -> Slurm:
        """Slurm, asked on the first controller."""
        heads = self.cluster.with_role("controller")
        if not heads:
            raise RehearsalError("the cluster has no controller")
        return Slurm(self.by_name[heads[0].name])

    # ------------------------------------------------------------ network and storage
    def cut(self, node: Node) -> None:
        """Pull a node's network cable."""
        self._switch.cut(node)

    def heal(self, node: Node) -> None:
        """Put a node's network cable back."""
        self._switch.heal(node)

    def set_name_service(self, *, up: bool) -> None:
        """Switch the subnet's name service on or off; off, it is silent."""
        self._name_service = up
        self._write_subnet()

    def set_time_service(self, *, seconds_ahead: int) -> None:
        """Let the subnet's time service be ahead of the nodes, as if their clocks were slow."""
        self._seconds_ahead = seconds_ahead
        self._write_subnet()

    def set_mount_fault(self, fault: str | None) -> None:
        """Make every Lustre mount fail (``110 Connection timed out``) or slow (``sleep 20``); None ends that."""
        path = self._namespaces.path(_BACKING / "fault")
        if fault is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(f"{fault}\n")

    def shared(self, system: Lustre) -> Path:
        """Return the root directory of a file system, as a path that this process can open."""
        return self._namespaces.path(_backing_of(system))

    @staticmethod
    def share(source: Path, target: Path) -> None:
        """Copy a folder to a place that nodes share, owned by the user ubuntu."""
        made = [path for path in (target, *target.parents) if not path.exists()]
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for path in {*made, target, *target.rglob("*")}:
            os.chown(path, _UBUNTU, _UBUNTU)

    def shared_folder(self, place: str) -> Path:
        """Return one of the directories that all nodes share, as a path that this process can open."""
        return self._namespaces.path(place)

    def asked(self) -> list[Asked]:
        """Return what nodes asked for beyond their subnet: requests, and names that they looked up in vain."""
        files = (self._namespaces.path(path) for path in (REQUESTS, _UNKNOWN_NAMES))
        lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
        return Asked.read(lines, {str(node.address): node.name for node in self.cluster.nodes})

    def complaints(self) -> str:
        """Return what the subnet's services and the egress proxy have logged: errors only, mostly nothing."""
        logs = (self._namespaces.path(log) for log in (_SUBNET_LOG, PROXY_LOG))
        return "".join(log.read_text(errors="replace") for log in logs if log.exists()).strip()

    # ------------------------------------------------------------ parts
    def _files(self, node: Node) -> dict[str, NodeFile]:
        trusted = self._egress_proxy.trust(self._image) if self._egress_proxy else {}
        return {**self.agent.files(node), **trusted}

    def _machine(self, node: Node) -> Machine:
        binds = {str(_BACKING): "/run/lustre-backing", **self.agent.binds}
        if self._job_environment:
            binds[str(self._job_environment)] = f"{JOB_ENVIRONMENT}:ro"
        if Path("/dev/autofs").exists():
            binds["/dev/autofs"] = "/dev/autofs"
        return Machine(node, namespaces=self._namespaces, switch=self._switch, image=self._image, binds=binds)

    def _make_file_system(self, system: Lustre) -> None:
        self._namespaces.path(_backing_of(system)).mkdir(parents=True, exist_ok=True)

    def _write_subnet(self) -> None:
        gate = str(self.cluster.subnet[1])
        proxied = dict.fromkeys(self._egress_proxy.names, gate) if self._egress_proxy else {}
        content = {
            "names": {**proxied, **self.cluster.names},
            "name_service": self._name_service,
            "seconds_ahead": self._seconds_ahead,
            "instances": {str(node.address): self._metadata(node) for node in self.cluster.nodes},
        }
        path = self._namespaces.path(_SUBNET)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(content))
        temporary.rename(path)

    def _metadata(self, node: Node) -> dict[str, str]:
        kind = InstanceType.of(self.cluster.group_of(node).instance_type)
        return {
            "instance-id": node.instance_id,
            "instance-type": kind.name,
            "local-ipv4": str(node.address),
            "local-hostname": f"{node.host}.{self.cluster.region}.compute.internal",
            "placement/region": self.cluster.region,
            "placement/availability-zone": self.cluster.zone or f"{self.cluster.region}a",
            **(self._role_of(node) if self._role_of else {}),
            **self.agent.metadata(node),
        }

    def _start_subnet_services(self) -> None:
        program = Path(__file__).parent / "metadata.py"
        words = [
            sys.executable, "-I", "-B", str(program), f"--state={_SUBNET}",
            f"--name-service={self.cluster.subnet[2]}", f"--metadata-service={METADATA_ADDRESS}",
            f"--time-service={TIME_ADDRESS}", f"--unknown-names={_UNKNOWN_NAMES}",
        ]  # fmt: skip
        with self._namespaces.path(_SUBNET_LOG).open("w") as log:
            self._namespaces.start(words, output=log)
        wait_for("the subnet's services", self._subnet_answers, seconds=300, every=0.05)

    def _subnet_answers(self) -> bool:
        listening = self._namespaces.run("cat", "/proc/net/tcp").out
        return " FEA9FEA9:0050 " in listening  # 169.254.169.254:80 as the kernel writes it


def new_instance_id() -> str:
    """Return an instance id that no other instance has."""
    return f"i-{secrets.token_hex(9)[:17]}"


def _backing_of(system: Lustre) -> Path:
    return _BACKING / system.dns_name.split(".")[0] / system.mount_name
