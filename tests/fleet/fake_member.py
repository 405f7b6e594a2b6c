"""A member of a fleet without root: a directory for its root, and stand-ins for every program that asks the machine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cdk_trainyard.fleet.scripts import fleet_bundle
from tests.lifecycle_scripts.fake_node import FakeNode, python

STUB = Path(__file__).parent / "stub.sh"
STUBBED = [
    "hostname", "sync", "chown", "getent", "sysctl", "modprobe", "lsblk", "mdadm", "mkfs.xfs", "mountpoint", "mount",
    "install", "stat", "systemctl", "ssh-keygen", "runuser", "aws", "modinfo", "uname", "curl", "gpg", "apt-get",
    "apt-mark", "apt-cache", "dpkg-query", "dnf", "depmod",
]  # fmt: skip
# The only other programs that the scripts find: a new one that changes the machine is "command not found" in the tests.
REAL = [
    "awk", "basename", "bash", "cat", "chmod", "cp", "cut", "date", "dirname", "flock", "grep", "ln", "mkdir", "mv",
    "rm", "sleep", "sort", "tail", "tee", "timeout", "touch",
]  # fmt: skip
ADDRESS = "10.1.0.7"
INSTANCE = "i-0123456789abcdef0"
SETTINGS: dict[str, Any] = {
    "version": 1,
    "fleet": "bert",
    "role": "worker",
    "region": "us-west-2",
    "user": "ubuntu",
    "key_parameter": "/ec2/keypair/key-0123456789abcdef0",
    "log_group": "the-logs",
    "hook": "set-up",
    "failures": "the-failures",
    "instance_types": {
        "trn1.32xlarge": {"efa_interfaces": 8, "neuron_devices": 16, "neuron_cores": 32, "gpus": 0, "cores": 64},
        "p5.48xlarge": {"efa_interfaces": 32, "neuron_devices": 0, "neuron_cores": 0, "gpus": 8, "cores": 96},
        "c5n.18xlarge": {"efa_interfaces": 1, "neuron_devices": 0, "neuron_cores": 0, "gpus": 0, "cores": 36},
        "c5.4xlarge": {"efa_interfaces": 0, "neuron_devices": 0, "neuron_cores": 0, "gpus": 0, "cores": 8},
    },
    "lustre": {
        "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "mount_name": "a1b2c3d4",
        "mount_path": "/fsx",
    },
}


def instance(address: str, kind: str = "trn1.32xlarge", role: str = "worker") -> dict[str, Any]:
    """An instance as EC2 describes it."""
    return {
        "InstanceId": f"i-{address.replace('.', '')}",
        "InstanceType": kind,
        "PrivateIpAddress": address,
        "Tags": [{"Key": "trainyard:fleet", "Value": "bert"}, {"Key": "trainyard:role", "Value": role}],
    }


def answer(instances: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """EC2's answer, with one reservation for each instance."""
    return {"Reservations": [{"Instances": [one]} for one in instances]}


FELLOWS = [instance("10.1.0.10"), instance("10.1.0.9"), instance("10.1.0.5", "c5n.18xlarge", "master")]


def make_member(directory: Path, kind: str = "trn1.32xlarge", **changes: Any) -> FakeNode:
    """Make a node that has booted, and whose user data has written its settings and fetched the scripts."""
    efa = SETTINGS["instance_types"][kind]["efa_interfaces"]
    metadata = directory / "metadata/meta-data"
    node = FakeNode(directory, {"STUB_EFA": str(efa), "TRAINYARD_METADATA": (directory / "metadata").as_uri()})
    node.fill_path(STUB, STUBBED, REAL)
    node.program("python3", python())
    metadata.mkdir(parents=True)
    facts = {
        "instance-id": INSTANCE,
        "instance-type": kind,
        "local-ipv4": ADDRESS,
        "local-hostname": "ip-10-1-0-7.us-west-2.compute.internal",
    }
    for name, value in facts.items():
        (metadata / name).write_text(value)
    node.write("state/instances.json", json.dumps(answer(FELLOWS)))
    node.write("etc/fstab", "UUID=1 / ext4 defaults 0 1\n")
    node.write("etc/os-release", "ID=ubuntu\nVERSION_CODENAME=noble\n")
    for folder in ("etc/apt/sources.list.d", "usr/share/keyrings"):
        (node.root / folder).mkdir(parents=True)
    node.write("etc/trainyard/settings.json", json.dumps({**SETTINGS, **changes}))
    fi_info = node.root / "opt/amazon/efa/bin/fi_info"
    fi_info.parent.mkdir(parents=True)
    fi_info.symlink_to(STUB)
    for number in range(SETTINGS["instance_types"][kind]["neuron_devices"]):
        node.write(f"dev/neuron{number}", "")
    for number in range(SETTINGS["instance_types"][kind]["gpus"]):
        node.write(f"proc/driver/nvidia/gpus/{number}", "")
    fleet_bundle().write(node.bundle)
    for script in node.bundle.glob("*.sh"):
        script.chmod(0o755)
    return node
