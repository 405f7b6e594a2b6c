"""HyperPod's agent: what it puts on a node before and after it starts, and how it runs the lifecycle scripts."""

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from cdk_trainyard.rehearsal.agent import Agent, Bundle, ScriptRun, run_unit
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.hyperpod.slurm_conf import CONTROLLER_PORT, slurm_files
from cdk_trainyard.rehearsal.model import Cluster, Group, Node
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile
from cdk_trainyard.rehearsal.slurm import MUNGE_KEY, munge_key

RESOURCE_CONFIG = "/opt/ml/config/resource_config.json"
LEGACY_FILE = "provisioning_parameters.json"
UNIT = "hyperpod-lifecycle"
"""Name of the unit in which a lifecycle script runs."""

_SERVICE_ADDRESS = "172.17."  # the agent's own interface: reachable for the service, and for no script


class HyperPodAgent(Agent):
    """HyperPod's agents on one cluster's nodes."""

    def __init__(self, cluster: Cluster, *, bundles: Mapping[str, Bundle], auto_resume: bool = False) -> None:
        """Describe the agents.

        Args:
            cluster: The cluster.
            bundles: Scripts by the ``s3://`` address that the groups name. The nodes have no way to a bucket here, so
                they are given what the agent downloads.
            auto_resume: Whether srun gets ``--auto-resume``, from a stand-in of HyperPod's plugin.
        """
        super().__init__(cluster)
        self._bundles = bundles
        self._munge_key = munge_key()
        self._auto_resume = auto_resume

    def files(self, node: Node) -> Mapping[str, NodeFile]:
        """Return what is on a node's disk when it starts."""
        resources = json.dumps(resource_config(self.cluster), indent=2)
        files = {
            **self.network_files(node, search=f"{self.cluster.region}.compute.internal"),
            RESOURCE_CONFIG: NodeFile(text=resources),
            MUNGE_KEY: self._munge_key,
        }
        legacy = self._legacy_file()
        if legacy is not None:
            files[f"/opt/ml/config/{LEGACY_FILE}"] = NodeFile(text=legacy)
        if self.cluster.group_of(node).role == "controller":
            files |= {name: NodeFile(text=text) for name, text in self.slurm_files().items()}
        return files

    def slurm_files(self) -> Mapping[str, str]:
        """Return Slurm's configuration on the controller, by path."""
        files = slurm_files(self.cluster, auto_resume=self._auto_resume)
        return {f"/etc/slurm/{name}": text for name, text in files.items()}

    def tell(self, machine: Machine) -> None:
        """Write the cluster's new state to a node that runs.

        Of Slurm's files only ``slurm.conf`` and ``gres.conf`` are HyperPod's to change, and in ``slurm.conf`` only its
        own lines; what a script added stays.
        """
        machine.write(RESOURCE_CONFIG, NodeFile(text=json.dumps(resource_config(self.cluster), indent=2)))
        if self.cluster.group_of(machine.node).role != "controller":
            return
        fresh = self.slurm_files()
        present = (machine.root / "etc/slurm/slurm.conf").read_text()
        merged = merge_slurm_conf(present, fresh["/etc/slurm/slurm.conf"])
        if merged == present:
            return
        machine.write("/etc/slurm/slurm.conf", NodeFile(text=merged))
        machine.write("/etc/slurm/gres.conf", NodeFile(text=fresh["/etc/slurm/gres.conf"]))
        # Slurm takes new nodes at a start only; jobs go on
        machine.run("systemctl", "try-restart", "slurmctld")
        machine.run("scontrol", "reconfigure", check=False)  # fails where Slurm does not run yet

    def provision(self, machine: Machine) -> ScriptRun:
        """Do what HyperPod does with a node that has started: configure it as the group says, and run its script."""
        group = self.cluster.group_of(machine.node)
        if group.lifecycle is None or group.lifecycle.on_create is None:
            self._configure_from_image(machine, group)
        if group.lifecycle is None or group.lifecycle.entry is None:
            return ScriptRun(node=machine.node, code=0, output="")
        folder = self.place_bundle(machine)
        return self.run_script(machine, folder, group.lifecycle.entry)

    def place_bundle(self, machine: Machine) -> PurePosixPath:
        """Put the scripts where HyperPod downloads them to; return that directory.

        S3 keeps no permissions: HyperPod makes the entry script executable, and nothing else.
        """
        lifecycle = self.cluster.group_of(machine.node).lifecycle
        if lifecycle is None:
            raise RehearsalError(f"the group of {machine.node.name} has no lifecycle scripts")
        bundle = self._bundles[lifecycle.source]
        folder = bundle_directory(lifecycle.source)
        for name, data in bundle.items():
            mode = 0o755 if name == lifecycle.entry else 0o644
            machine.write(f"{folder}/{name}", NodeFile(text=data, mode=mode))
        return folder

    def run_script(
        self, machine: Machine, folder: PurePosixPath, entry: str, environment: Mapping[str, str] | None = None
    ) -> ScriptRun:
        """Run a script as HyperPod does: as root, in its own directory, with nobody at the terminal."""
        variables = {"SAGEMAKER_RESOURCE_CONFIG_PATH": RESOURCE_CONFIG, **(environment or {})}
        return run_unit(machine, UNIT, [f"{folder}/{entry}"], directory=str(folder), environment=variables)

    def _configure_from_image(self, machine: Machine, group: Group) -> None:
        """Do what HyperPod's machine image does by itself when no OnCreate script takes its place."""
        if group.lustre:
            dns_name, mount_name, path = group.lustre
            home = f"{path}/ubuntu"
            machine.run("mkdir", "--parents", path)
            machine.run("mount", "-t", "lustre", "-o", "noatime,flock", f"{dns_name}@tcp:/{mount_name}", path)
            machine.run("install", "--directory", "--owner=ubuntu", "--group=ubuntu", home)
            machine.run("usermod", "--home", home, "ubuntu")
        machine.run("systemctl", "enable", "--quiet", "--now", "munge")
        if group.role == "controller":
            machine.run("systemctl", "enable", "--quiet", "--now", "slurmctld")
            return
        servers = ",".join(f"{head.address}:{CONTROLLER_PORT}" for head in self.cluster.with_role("controller"))
        options = f"[Service]\nEnvironment=SLURMD_OPTIONS=--conf-server={servers}\nRestart=on-failure\nRestartSec=1\n"
        machine.write("/etc/systemd/system/slurmd.service.d/conf-server.conf", NodeFile(text=options))
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "enable", "--quiet", "--now", "slurmd")

    def _legacy_file(self) -> bytes | None:
        """Return the file of the legacy topology, which HyperPod copies from any group's scripts."""
        return next((bundle[LEGACY_FILE] for bundle in self._bundles.values() if LEGACY_FILE in bundle), None)


def bundle_directory(source: str) -> PurePosixPath:
    """Return where HyperPod downloads ``s3://<bucket>/<prefix>`` to: ``/tmp/<bucket>/<prefix>``."""
    parts = urlsplit(source)
    return PurePosixPath("/tmp", parts.netloc, parts.path.strip("/"))  # noqa: S108  HyperPod's choice


def resource_config(cluster: Cluster) -> dict[str, object]:
    """Return the content of ``resource_config.json``: every group with its instances, null for a group without."""
    controllers = [str(node.address) for node in cluster.with_role("controller")]
    slurm = {"PrimaryControllerIp": controllers[0], "SecondaryControllerIps": controllers[1:]} if controllers else {}
    return {
        "ClusterConfig": {
            "ClusterArn": cluster.arn,
            "ClusterName": cluster.name,
            "ClusterType": "Slurm",
            "SlurmConfig": slurm,
        },
        "InstanceGroups": [
            {
                "Name": group.name,
                "InstanceType": group.instance_type,
                "Instances": [_instance(node) for node in cluster.nodes if node.group == group.name] or None,
            }
            for group in cluster.groups
        ],
    }


def _instance(node: Node) -> dict[str, str]:
    tail = ".".join(str(node.address).split(".")[2:])
    return {
        "InstanceName": node.name,
        "AgentIpAddress": f"{_SERVICE_ADDRESS}{tail}",
        "CustomerIpAddress": str(node.address),
        "InstanceId": node.instance_id,
    }


def merge_slurm_conf(present: str, fresh: str) -> str:
    """Return ``present`` with the lines that HyperPod owns taken from ``fresh``; unchanged when they are the same."""
    taken, _ = _split_owned(fresh)
    owned, kept = _split_owned(present)
    if owned == taken:
        return present
    return "\n".join([*taken[:1], *kept, *taken[1:]]) + "\n"


def _split_owned(conf: str) -> tuple[list[str], list[str]]:
    """Return the lines that HyperPod owns, and the others."""
    owned = ("ClusterName=", "SlurmctldHost=", "NodeName=", "PartitionName=", "GresTypes=")
    lines = conf.splitlines()
    return [line for line in lines if line.startswith(owned)], [line for line in lines if not line.startswith(owned)]
