"""What ParallelCluster's cookbooks do on nodes: identity, custom actions, shared storage and Slurm, in their order.

Started by cloud-init, they run OnNodeStart before anything else, configure the node, run OnNodeConfigured, and only
then start slurmd: a node takes jobs when its own scripts are done (``finalize_compute.rb``). slurmctld runs before.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from cdk_trainyard.rehearsal.agent import Agent, ScriptRun, run_unit
from cdk_trainyard.rehearsal.devices import device_files, plug_devices, plug_pci
from cdk_trainyard.rehearsal.instance_types import InstanceType
from cdk_trainyard.rehearsal.model import Cluster, Node
from cdk_trainyard.rehearsal.namespaces import STATE
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile
from cdk_trainyard.rehearsal.parallelcluster.clusters import HEAD, Config, Described, flag, mount_path, pool_group
from cdk_trainyard.rehearsal.parallelcluster.neuron import PIP_CONF
from cdk_trainyard.rehearsal.parallelcluster.slurm_conf import SCRIPTS, capped, slurm_files
from cdk_trainyard.rehearsal.parallelcluster.systems import system_files
from cdk_trainyard.rehearsal.slurm import MUNGE_KEY, munge_key
from cdk_trainyard.rehearsal.switch import METADATA_ADDRESS

SHARED = str(STATE / "shared")
"""Where the nodes' shared volumes are, a directory each, beside the nodes."""

POWER = str(STATE / "power")
"""Where Slurm says which nodes it wants to run."""

_SLURM = str(STATE / "slurm")  # /opt/slurm/etc, which the head node shares with all nodes

DRIVER = "aws-neuronx-dkms"
"""The package without which ParallelCluster's images have no driver of Neuron devices."""

_USER = "ubuntu"
"""The default user of the images."""

_PROGRAM = Path(__file__).parent / "fetch_and_run.py"
_POWER_PROGRAM = Path(__file__).parents[1] / "data" / "parallelcluster" / "power.sh"
_SHARED_THERE = "/run/shared-backing"
_NODE_TYPES = {"controller": "HeadNode", "compute": "ComputeFleet", "login": "LoginNode"}
_LUSTRE_OPTIONS = "defaults,_netdev,flock,user_xattr,noatime,noauto,x-systemd.automount"


class ParallelClusterAgent(Agent):
    """ParallelCluster on the nodes of one cluster.

    Attributes:
        described: The cluster as its configuration has it.
        resources: Its compute resources, with no more static nodes than may run.
    """

    def __init__(self, described: Described, cluster: Cluster, *, most_static: int | None = None) -> None:
        """Describe what is done.

        Args:
            described: The cluster as its configuration has it.
            cluster: The nodes that there are now.
            most_static: How many static nodes there are at most. Default - as many as configured.
        """
        binds = {SHARED: _SHARED_THERE, POWER: "/run/power", _SLURM: "/etc/slurm"}
        super().__init__(cluster, binds=binds)
        self.described = described
        self.resources = capped(described.resources, most_static)
        self._munge_key = munge_key()

    # ------------------------------------------------------------ before a node starts
    def files(self, node: Node) -> Mapping[str, NodeFile]:
        """Return what is on a node's disk when it starts."""
        group = self.cluster.group_of(node)
        search = f"{self.cluster.domain} {self.cluster.region}.compute.internal"
        executable = {
            f"{SCRIPTS}/fetch_and_run": b"#!/usr/bin/python3\n" + _PROGRAM.read_bytes(),
            f"{SCRIPTS}/slurm/slurm_resume": _POWER_PROGRAM.read_bytes(),
            f"{SCRIPTS}/slurm/slurm_suspend": _POWER_PROGRAM.read_bytes(),
        }
        files = {
            **self.network_files(node, search=search),
            **system_files(str(self.described.config["Image"]["Os"])),
            **PIP_CONF,
            **device_files(InstanceType.of(group.instance_type), neuron_driver=DRIVER),
            **{path: NodeFile(text=text, mode=0o755) for path, text in executable.items()},
            "/etc/parallelcluster/cfnconfig": NodeFile(text="".join(f"{line}\n" for line in self._cfnconfig(node))),
            "/opt/parallelcluster/shared/cluster-config.yaml": NodeFile(text=json.dumps(self.described.config)),
            MUNGE_KEY: self._munge_key,
        }
        if group.role == "compute":
            # -b: nodes share this machine's boot time, and Slurm waits for a node that booted after it asked for it
            options = f"[Service]\nEnvironment=SLURMD_OPTIONS='-b -N {node.host}'\n"
            files["/etc/systemd/system/slurmd.service.d/node-name.conf"] = NodeFile(text=options)
        if group.role == "login":
            files["/etc/rehearsal/login-pool"] = NodeFile(text=self._pool(node)["Name"])
        return files

    def plug(self, machine: Machine) -> None:
        """Give a node its devices, and guard its metadata. Its image has no driver of Neuron devices."""
        self._secure_metadata(machine)
        kind = InstanceType.of(self.cluster.group_of(machine.node).instance_type)
        plug_pci(machine, kind)
        plug_devices(machine, kind, neuron=False)
        machine.run("sh", "-c", 'mkdir -p "/lib/modules/$(uname -r)/build"')  # the headers that these images bring

    def _secure_metadata(self, machine: Machine) -> None:
        """Let root and the image's default user alone ask the metadata service of the head node and the login nodes.

        Source: ``recipes/config/imds.rb`` and ``attributes/environment.rb`` of aws-parallelcluster-cookbook; what is
        iptables there is a rule of routing here. ``HeadNode/Imds/Secured`` is true by default (pcluster's
        ``cluster_config.py``).
        """
        secured = (self.described.config[HEAD].get("Imds") or {}).get("Secured", "true")
        if self.cluster.group_of(machine.node).role == "compute" or not flag(secured):
            return
        rule = f"ip rule add to {METADATA_ADDRESS} priority"
        guard = (
            '[ -z "$(ip rule show priority 11)" ] || exit 0; '  # the node was booted before, and keeps its rules
            f"for user in root {_USER}; do id=$(id -u $user); {rule} 10 uidrange $id-$id lookup main; done; "
            f"{rule} 11 unreachable"
        )
        machine.run("sh", "-ec", guard)

    # ------------------------------------------------------------ when it is up
    def provision(self, machine: Machine) -> ScriptRun:
        """Do what cloud-init makes the cookbooks do."""
        ended = self.run_actions(machine, "-preinstall")
        if ended.code:
            return ended
        self._configure(machine)
        after = self.run_actions(machine, "-postinstall")
        output = ended.output + after.output
        if after.code == 0:
            self._finalize(machine)
        return ScriptRun(node=machine.node, code=after.code, output=output)

    def run_actions(self, machine: Machine, event: str) -> ScriptRun:
        """Run the custom actions of an event: ``-preinstall``, ``-postinstall`` or ``-postupdate``."""
        return run_unit(machine, f"fetch-and-run{event}", [f"{SCRIPTS}/fetch_and_run", event])

    def fill_shared(self, folder: Callable[[str], Path]) -> None:
        """Write Slurm's configuration, and let Slurm say which nodes it wants to run.

        Args:
            folder: Returns one of the directories that all nodes share.
        """
        for name, text in slurm_files(self.described, self.resources).items():
            path = folder(_SLURM) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        folder(POWER).chmod(0o777)

    def _configure(self, machine: Machine) -> None:
        for storage in self.described.storage:
            self._mount(machine, storage)
        if "/home" not in map(mount_path, self.described.storage):
            self._mount_shared(machine, "home", "/home")  # the head node shares it anyway
        machine.run("systemctl", "enable", "--quiet", "--now", "munge")
        if self.cluster.group_of(machine.node).role == "controller":
            machine.run("systemctl", "enable", "--quiet", "--now", "slurmctld")

    def _finalize(self, machine: Machine) -> None:
        if self.cluster.group_of(machine.node).role == "compute":
            machine.run("systemctl", "enable", "--quiet", "--now", "slurmd")

    # ------------------------------------------------------------ storage
    def _mount(self, machine: Machine, storage: Config) -> None:
        path = mount_path(storage)
        if storage["StorageType"] != "FsxLustre":
            self._mount_shared(machine, storage["Name"], path)
            return
        system_id = (storage.get("FsxLustreSettings") or {}).get("FileSystemId", "")
        system = next(one for one in self.cluster.file_systems if one.dns_name.startswith(f"{system_id}."))
        machine.run("mkdir", "--parents", path)
        line = f"{system.dns_name}@tcp:/{system.mount_name} {path} lustre {_LUSTRE_OPTIONS} 0 0"
        machine.run("sh", "-c", f"echo '{line}' >>/etc/fstab; systemctl daemon-reload")
        machine.run("mount", path)
        machine.run("chmod", "1777", path)  # as ParallelCluster does with what it shares

    def _mount_shared(self, machine: Machine, name: str, path: str) -> None:
        """Mount a volume: on the head node a disk, on the others the same over NFS; here one directory for all."""
        backing = f"{_SHARED_THERE}/{name}"
        fill = f"[ -d {backing} ] || {{ mkdir -p {path} {backing}; cp -a {path}/. {backing}/; }}"
        if self.cluster.group_of(machine.node).role == "controller":
            machine.run("sh", "-c", fill)
        machine.run("mkdir", "--parents", path)
        machine.run("mount", "--bind", backing, path)
        if path != "/home":
            machine.run("chmod", "1777", path)

    # ------------------------------------------------------------ identity
    def _pool(self, node: Node) -> Config:
        return next(pool for pool in self.described.pools if pool_group(pool) == node.group)

    def _cfnconfig(self, node: Node) -> Iterator[str]:
        """Yield the lines of ParallelCluster's file (``cfnconfig.erb`` of its cookbook)."""
        group = self.cluster.group_of(node)
        config, head = self.described.config, self.described.head
        volumes = [storage["MountDir"] for storage in self.described.storage if storage["StorageType"] == "Ebs"]
        yield f"stack_name={self.described.name}"
        for event in ("preinstall", "postinstall", "postupdate"):
            yield f'cfn_{event}="{SCRIPTS}/fetch_and_run --execute-via-cfnconfig -{event}"'
            yield f"cfn_{event}_args=()"
        yield f"cfn_region={self.cluster.region}"
        yield f"cfn_scheduler={config['Scheduling']['Scheduler']}"
        yield "cfn_scheduler_slots=cores"
        yield f"cfn_instance_slots={InstanceType.of(group.instance_type).vcpus}"
        yield "cfn_ephemeral_dir=/scratch"
        yield f"cfn_ebs_shared_dirs={','.join(volumes)}"
        yield "cfn_proxy=NONE"
        yield f"cfn_node_type={_NODE_TYPES[group.role]}"
        yield f"cfn_cluster_user={_USER}"
        if group.role == "compute":
            yield f"cfn_head_node={head.host}"
            yield f"cfn_head_node_private_ip={head.address}"
            yield f"cfn_scheduler_queue_name={group.partition}"
        if group.role == "controller":
            yield "cfn_volume="
