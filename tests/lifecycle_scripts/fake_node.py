"""A node without root: a directory for its root, and stand-ins for every program that would touch the machine."""

import atexit
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.lifecycle import GroupRole, NodeGroup, NodeLustre, NodeSettings, SlurmTopology
from cdk_trainyard.lifecycle.bundle import default_folders, read_bundle
from cdk_trainyard.lifecycle.settings import SETTINGS_FILE, USERS_FILE

STUB = Path(__file__).parent / "stub.sh"
STUB_EXTRAS = STUB.with_name("stub_extras.sh")
STUB_LIB = STUB.with_name("stub_lib.sh")
STUBBED = [
    "hostname", "sync", "chown", "getent", "id", "groupadd", "useradd", "usermod",
    "mountpoint", "mount", "umount", "systemctl", "journalctl", "ss", "ssh-keygen", "runuser", "logrotate", "mysql",
    "mariadb-install-db",
    "apt-get", "aws", "curl", "dpkg", "dpkg-query", "make",
]  # fmt: skip
# The only other programs that the scripts find: a new one that changes the machine is "command not found" in the tests.
REAL = [
    "awk", "basename", "bash", "cat", "chmod", "cp", "cut", "df", "dirname", "find", "flock", "grep", "gzip",
    "ln", "ls", "mkdir", "mv", "readlink", "rm", "sed", "sha256sum", "sleep", "tail", "tar", "tee", "timeout", "touch",
    "tr", "uname",
]  # fmt: skip
# Stands in for python3: asks forking_python.py to be it, with this output, and to write its exit code into a pipe.
_PYTHON = """\
exec 8>&1 9<> <(:)
echo $$ >/proc/{}/fd/0
read -r -u 9 code
exit "${{code}}"
"""
ENTRY = """\
#!/bin/bash
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${{BASH_SOURCE[0]}}")" && pwd -P)
source "${{here}}/lib/steps.sh"
provision "${{here}}" {}
"""
# Stands in an entry script before its steps are run: a program of a step knows which step it is of, the disk is kept as
# it is at the end of each step that changes something, and the power is cut at the end of one.
WATCHED = """\
export CURRENT_STEP
eval "whole_$(declare -f run_step)"
run_step() {
  whole_run_step "$1"
  if [[ -n ${STUB_KEEP:-} ]] && grep -sqxF -- "$1" "${TRAINYARD_ROOT}/state/steps"; then
    mkdir "${STUB_KEEP}/$1" && cp -a -- "${TRAINYARD_ROOT}" "${STUB_KEEP}/$1/root"
  fi
  [[ $1 != "${STUB_KILL_AFTER_STEP:-}" ]] || kill -KILL 0
}
"""
ADDRESSES = {"controller": "10.1.0.5", "login": "10.1.0.6", "worker": "10.1.0.7"}
USERS = "ada,2001,/fsx/ada,research:3001\nbob,2002,/fsx/bob  # the second\n"
UNIT = "[Service]\nExecStart=/opt/slurm/sbin/{0} -D ${1}_OPTIONS\n"
SLURM_CONF = (
    "ClusterName=Llama\nSlurmctldHost=ip-10-1-0-5(10.1.0.5)\nTaskPlugin = task/none\n"
    "SchedulerParameters = a,permit_job_expansion\nSlurmUser=slurm\nInclude accounting.conf\n"
    "NodeName=ip-10-1-0-7 CPUs=1\nNodeName=ip-10-1-0-8 CPUs=1\n"
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


class Clock:
    """A time service that answers from a thread.

    Attributes:
        ahead: How many seconds it is ahead of this machine; with None it does not answer.
        address: Where it is.
    """

    def __init__(self) -> None:
        self.ahead: float | None = 0.0
        self._link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._link.bind(("127.0.0.1", 0))
        self.address: str = f"127.0.0.1:{self._link.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            _, asker = self._link.recvfrom(512)
            if self.ahead is not None:
                whole, fraction = divmod(time.time() + self.ahead + 2208988800, 1)
                self._link.sendto(bytes(40) + struct.pack("!II", int(whole), int(fraction * 2**32)), asker)


CLOCK = Clock()


@dataclass
class FakeNode:
    """A node to run scripts on.

    Attributes:
        directory: Where everything of it is.
        environment: What its scripts are started with, beside what all are.
    """

    directory: Path
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

    def cuts(self, *, after: int = 0) -> list[int]:
        """After which changes to cut the power: each of a row of equal ones stands for the others."""
        names = ["", *self.changes]
        return [number for number in range(after + 1, len(names)) if names[number] != names[number - 1]]

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def program(self, name: str, text: str, *, interpreter: str = "/bin/bash") -> Path:
        """Write a program of the node, in the place of a stand-in too."""
        path = self.directory / "bin" / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!{interpreter}\n{text}\n")
        path.chmod(0o755)
        return path

    def fill_path(self, stub: Path, stubbed: Sequence[str], real: Sequence[str]) -> None:
        """Fill the node's PATH: with a stand-in under many names, and with programs of this machine."""
        (self.directory / "bin").mkdir(parents=True)
        for link in filled_path(stub, tuple(stubbed), tuple(real)).iterdir():
            os.link(link, self.directory / "bin" / link.name, follow_symlinks=False)

    def write_entry(self, name: str, steps: Sequence[str]) -> str:
        """Write an entry script of some steps, for tests of what the others have no part in."""
        path = self.bundle / name
        path.write_text(ENTRY.format(" ".join(steps)))
        path.chmod(0o755)
        return name

    def run(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bundle / script), *arguments],
            cwd=self.bundle,
            env={
                "PATH": str(self.directory / "bin"),
                "TRAINYARD_ROOT": str(self.root),
                "TRAINYARD_DEADLINE": "0",
                "TRAINYARD_LOG_GRACE": "0",
                "TRAINYARD_AT_ONCE": "1",
                **self.environment,
                **environment,
            },
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )

    def snapshot(self) -> dict[str, str]:
        """Everything on the node but what was written down about the way there, and locks, which no boot survives."""
        journal = {
            "state/calls",
            "state/changes",
            "state/steps",
            "state/failures",
            "var/log/provision/provisioning.log",
        }
        files = {str(path.relative_to(self.root)): path for path in self.root.rglob("*") if path.is_file()}
        kept = {name: path for name, path in sorted(files.items()) if not name.startswith("run/lock/")}
        return {name: path.read_text(errors="replace") for name, path in kept.items() if name not in journal}


@cache
def filled_path(stub: Path, stubbed: Sequence[str], real: Sequence[str]) -> Path:
    """A directory of links for the PATH of nodes: making them anew for each takes longer than most steps run."""
    path = Path(tempfile.mkdtemp(prefix="node-path-"))
    atexit.register(shutil.rmtree, path)
    (path / STUB_LIB.name).symlink_to(STUB_LIB)
    for name in stubbed:
        (path / name).symlink_to(stub)
    for name in real:
        found = shutil.which(name)
        assert found, name
        (path / name).symlink_to(found)
    return path


@cache
def python() -> str:
    """The text of the node's python3: most of a start is what scripts import, so one process does that for all."""
    words = [sys.executable, "-ISB", str(STUB.with_name("forking_python.py"))]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
    atexit.register(process.communicate)
    return _PYTHON.format(process.pid)


def make_root(node: FakeNode) -> None:
    """Write what the machine image and HyperPod's agent put on a node."""
    (node.root / "state").mkdir(parents=True)
    node.write("etc/fstab", "UUID=1 / ext4 defaults 0 1\nold@tcp:/x /fsx lustre defaults 0 0\n")
    node.write("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nubuntu:x:1000:1000::/home/ubuntu:/bin/bash\n")
    node.write("etc/ssh/ssh_host_ed25519_key.pub", "ssh-ed25519 HOSTKEY root@ip-10-1-0-5\n")
    node.write("etc/group", "root:x:0:\nubuntu:x:1000:\n")
    node.write("etc/skel/.bashrc", "# skel\n")
    node.write("home/ubuntu/.bashrc", "# ubuntu's\n")
    node.write("opt/ml/config/resource_config.json", json.dumps(resource_config()))
    node.write("opt/slurm/etc/slurm.conf", SLURM_CONF)
    node.write("etc/systemd/system/slurmd.service", UNIT.format("slurmd", "SLURMD"))
    node.write("etc/systemd/system/slurmctld.service", UNIT.format("slurmctld", "SLURMCTLD"))
    for path in ("opt/slurm/bin/scontrol", "opt/slurm/bin/sacctmgr", "opt/amazon/efa/bin/fi_info"):
        (node.root / path).parent.mkdir(parents=True, exist_ok=True)
        (node.root / path).symlink_to(STUB)
    for number in range(16):
        node.write(f"dev/neuron{number}", "")


def make_node(directory: Path, group: str = "worker", *, users: str | None = USERS) -> FakeNode:
    """Make a node that has booted, and has downloaded the project's own scripts."""
    environment = {"STUB_EFA": "8", "TRAINYARD_CLOCK": CLOCK.address, "TRAINYARD_ADDRESS": ADDRESSES[group]}
    node = FakeNode(directory, environment)
    node.fill_path(STUB, STUBBED, REAL)
    node.program("python3", python())
    (directory / "bin" / STUB_EXTRAS.name).symlink_to(STUB_EXTRAS)
    make_root(node)
    read_bundle(*default_folders()).write(node.bundle)
    if users is not None:
        (node.bundle / USERS_FILE).write_text(users)
    rendered = SETTINGS.render(topology=SlurmTopology.API_DRIVEN, users_file=USERS_FILE if users else None)
    (node.bundle / SETTINGS_FILE).write_text(json.dumps(rendered))
    return node


def some_or_all(*steps: str) -> pytest.MarkDecorator:
    """Run a test with the steps that it is about, and among the slow tests with the whole set-up."""
    return pytest.mark.parametrize("steps", [steps, pytest.param((), marks=pytest.mark.slow)], ids=["some", "all"])


def entry_of(node: FakeNode, steps: Sequence[str]) -> str:
    """Return the script of some steps, or the whole one."""
    return node.write_entry("some_steps.sh", ["network", *steps]) if steps else "on_create.sh"


def astray(node: FakeNode, script: str, *, at_least: int = 1, after: int = 0) -> list[tuple[int, str, str]]:
    """Return the cuts of the power after which the next run fails, or ends where an undisturbed one does not.

    A cut is the disk as it was right after a change, kept while one run goes on to its end. In the middle a run is
    killed indeed, and leaves that very disk; from there the next one goes to its end. From every other cut it goes to
    the end of the step that was cut: with the disk that the undisturbed one had there, it goes on as that one did.
    There are ``at_least`` so many cuts, all of them after change ``after``.
    """
    kept = node.directory / "kept"
    entry = node.bundle / script
    entry.write_text(entry.read_text().replace("\nprovision ", f"\n{WATCHED}provision "))
    for part in ("root", "bin"):
        shutil.copytree(node.directory / part, kept / "0" / part, symlinks=True)
    done = node.run(script, STUB_KEEP=str(kept))
    assert done.returncode == 0, done.stdout
    changes, cuts, wanted = node.changes, node.cuts(after=after), node.snapshot()
    steps = (node.root / "state/steps").read_text().splitlines()
    assert len(cuts) >= at_least

    def boot_as_after(number: int) -> None:
        for part in ("root", "bin"):
            shutil.rmtree(node.directory / part)
            # as young as after a cut: what is old is not served
            shutil.copytree(kept / str(number) / part, node.directory / part, symlinks=True, copy_function=shutil.copy)

    middle = cuts[len(cuts) // 2]
    boot_as_after(0)
    assert node.run(script, STUB_KILL_AFTER=str(middle)).returncode == -9
    left = node.snapshot()
    boot_as_after(middle)
    assert node.snapshot() == left
    done = node.run(script)
    assert (done.returncode, node.snapshot()) == (0, wanted), done.stdout
    found = []
    for cut in sorted({*cuts} - {middle}):
        boot_as_after(cut)
        done = node.run(script, STUB_KILL_AFTER_STEP=(step := steps[cut - 1]))
        if done.returncode != -9 or node.snapshot() != FakeNode(kept / step).snapshot():
            found.append((cut, changes[cut - 1], done.stdout[-300:]))
    return found


def change_settings(node: FakeNode, **fields: Any) -> None:
    """Change fields of what the construct has rendered for a node."""
    path = node.bundle / SETTINGS_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
