"""A node without root: a directory for its root, and stand-ins for every program that would touch the machine."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdk_trainyard.lifecycle import GroupRole, NodeGroup, NodeLustre, NodeSettings, SlurmTopology
from cdk_trainyard.lifecycle.bundle import default_folders, read_bundle
from cdk_trainyard.lifecycle.settings import SETTINGS_FILE, USERS_FILE

STUB = Path(__file__).parent / "stub.sh"
STUBBED = [
    "hostname", "sync", "chown", "getent", "id", "groupadd", "useradd", "usermod",
    "mountpoint", "mount", "systemctl",
]  # fmt: skip
# The only other programs that the scripts find: a new one that changes the machine is "command not found" in the tests.
REAL = [
    "awk", "basename", "bash", "cat", "chmod", "cp", "cut", "df", "dirname", "grep", "mkdir", "mv", "rm", "sleep",
    "tee", "timeout", "touch",
]  # fmt: skip
ADDRESSES = {"controller": "10.1.0.5", "login": "10.1.0.6", "worker": "10.1.0.7"}
USERS = "ada,2001,/fsx/ada,research:3001\nbob,2002,/fsx/bob  # the second\n"
UNIT = "[Service]\nExecStart=/opt/slurm/sbin/{0} -D ${1}_OPTIONS\n"
SLURM_CONF = (
    "SlurmctldHost=ip-10-1-0-5(10.1.0.5)\nTaskPlugin = task/none\nSchedulerParameters = a,permit_job_expansion\n"
)
SETTINGS = NodeSettings(
    groups=[
        NodeGroup(name="controller", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"]),
        NodeGroup(name="login", role=GroupRole.LOGIN, instance_types=["ml.m5.large"]),
        NodeGroup(name="worker", role=GroupRole.COMPUTE, instance_types=["ml.trn1.32xlarge"]),
    ],
    lustre=NodeLustre(dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", mount_name="a1b2c3d4"),
)


def instance_group(name: str, instance_type: str, addresses: Sequence[str] | None) -> dict[str, Any]:
    """An instance group as HyperPod writes it; with null for one that has no instance."""
    instances = addresses and [
        {
            "InstanceName": f"{name}-{number}",
            "InstanceId": f"i-{name}{number}",
            "AgentIpAddress": f"172.16.0.{number}",
            "CustomerIpAddress": address,
        }
        for number, address in enumerate(addresses, start=1)
    ]
    return {"Name": name, "InstanceType": instance_type, "Instances": instances}


def resource_config() -> dict[str, Any]:
    """The resource configuration of a cluster of three groups and an empty one."""
    return {
        "ClusterConfig": {
            "ClusterArn": "arn:aws:sagemaker:us-west-2:111111111111:cluster/abcd",
            "ClusterName": "llama",
        },
        "InstanceGroups": [
            instance_group("controller", "ml.m5.large", [ADDRESSES["controller"]]),
            instance_group("login", "ml.m5.large", [ADDRESSES["login"]]),
            instance_group("empty", "ml.c5.large", None),
            instance_group("worker", "ml.trn1.32xlarge", [ADDRESSES["worker"], "10.1.0.8"]),
        ],
    }


@dataclass
class FakeNode:
    """A node to run scripts on.

    Attributes:
        directory: Where everything of it is.
        address: Its address, which says what it is.
    """

    directory: Path
    address: str = ADDRESSES["worker"]
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.directory / "root"

    @property
    def bundle(self) -> Path:
        return self.directory / "bundle"

    @property
    def log(self) -> str:
        return (self.root / "var/log/provision/provisioning.log").read_text()

    @property
    def calls(self) -> list[str]:
        path = self.root / "state/calls"
        return path.read_text().replace(str(self.root), "").splitlines() if path.exists() else []

    @property
    def changes(self) -> list[str]:
        path = self.root / "state/changes"
        return path.read_text().splitlines() if path.exists() else []

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bundle / script)],
            cwd=self.bundle,
            env={
                "PATH": str(self.directory / "bin"),
                "TRAINYARD_ROOT": str(self.root),
                "TRAINYARD_ADDRESS": self.address,
                "TRAINYARD_DEADLINE": "0",
                "TRAINYARD_LOG_GRACE": "0",
                **self.environment,
                **environment,
            },
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )

    def snapshot(self) -> dict[str, str]:
        """Everything on the node but what was written down about the way there."""
        journal = {"state/calls", "state/changes", "state/failures", "var/log/provision/provisioning.log"}
        files = {str(path.relative_to(self.root)): path for path in self.root.rglob("*") if path.is_file()}
        return {name: path.read_text() for name, path in sorted(files.items()) if name not in journal}


def make_programs(directory: Path) -> None:
    """Fill the node's PATH."""
    (directory / "bin").mkdir(parents=True)
    for name in STUBBED:
        (directory / "bin" / name).symlink_to(STUB)
    for name in REAL:
        found = shutil.which(name)
        assert found, name
        (directory / "bin" / name).symlink_to(found)
    (directory / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))


def make_root(node: FakeNode) -> None:
    """Write what the machine image and HyperPod's agent put on a node."""
    (node.root / "state").mkdir(parents=True)
    node.write("etc/fstab", "UUID=1 / ext4 defaults 0 1\nold@tcp:/x /fsx lustre defaults 0 0\n")
    node.write("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nubuntu:x:1000:1000::/home/ubuntu:/bin/bash\n")
    node.write("etc/group", "root:x:0:\nubuntu:x:1000:\n")
    node.write("etc/skel/.bashrc", "# skel\n")
    node.write("home/ubuntu/.bashrc", "# ubuntu's\n")
    node.write("opt/ml/config/resource_config.json", json.dumps(resource_config()))
    node.write("opt/slurm/etc/slurm.conf", SLURM_CONF)
    node.write("etc/systemd/system/slurmd.service", UNIT.format("slurmd", "SLURMD"))
    node.write("etc/systemd/system/slurmctld.service", UNIT.format("slurmctld", "SLURMCTLD"))
    for path in ("opt/slurm/bin/scontrol", "opt/amazon/efa/bin/fi_info"):
        (node.root / path).parent.mkdir(parents=True)
        (node.root / path).symlink_to(STUB)
    for number in range(16):
        node.write(f"dev/neuron{number}", "")


def make_node(directory: Path, group: str = "worker", *, users: str | None = USERS) -> FakeNode:
    """Make a node that has booted, and has downloaded the project's own scripts."""
    node = FakeNode(directory, ADDRESSES[group], {"STUB_EFA": "8"})
    make_programs(node.directory)
    make_root(node)
    read_bundle(*default_folders()).write(node.bundle)
    if users is not None:
        (node.bundle / USERS_FILE).write_text(users)
    rendered = SETTINGS.render(topology=SlurmTopology.API_DRIVEN, users_file=USERS_FILE if users else None)
    (node.bundle / SETTINGS_FILE).write_text(json.dumps(rendered))
    return node
