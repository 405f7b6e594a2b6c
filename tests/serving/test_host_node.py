"""The real user data on a machine with systemd: first boot, reboot, a mount that is refused, an empty bucket."""

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import Machine, Node
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.capsule import Capsule
from cdk_trainyard.rehearsal.nodes import NodeFile
from cdk_trainyard.rehearsal.switch import Switch
from cdk_trainyard.serving.catalogue import Server, engine_image
from cdk_trainyard.serving.host_script import MOUNT_PATH, HostSettings, render
from tests.rehearsal.clusters import PATIENCE_SECONDS

pytestmark = pytest.mark.nodes

SUBNET = IPv4Network("10.1.128.0/24")
LOG = "/var/log/provision/provisioning.log"
WEIGHTS = "/srv/bucket/model.safetensors"
SETTINGS = HostSettings(
    cluster_name="serving",
    bucket_name="some-models",
    folder="models/llama/",
    region="us-west-2",
    devices=1,
    image=engine_image(None, Server.TGI),
)


def program(text: str) -> NodeFile:
    return NodeFile(text=f"#!/bin/bash\n{textwrap.dedent(text)}", mode=0o755)


def unit(text: str) -> NodeFile:
    return NodeFile(text=textwrap.dedent(text))


FILES = {
    "/var/lib/cloud/user-data": NodeFile(text=render(SETTINGS), mode=0o700),
    # cloud-init: user data once, in its last stage, which the agent's own unit is ordered after
    "/etc/systemd/system/cloud-final.service": unit("""
        [Unit]
        ConditionPathExists=!/var/lib/cloud/done
        [Service]
        Type=oneshot
        ExecStart=/bin/bash /var/lib/cloud/user-data
        ExecStartPost=/usr/bin/touch /var/lib/cloud/done
        [Install]
        WantedBy=multi-user.target
    """),
    # the agent: notes what it finds when it starts
    "/etc/systemd/system/ecs.service": unit("""
        [Unit]
        After=cloud-final.service
        [Service]
        Type=notify
        NotifyAccess=all
        ExecStart=/bin/bash -c 'ls /mnt/trainyard/model >/run/agent-saw; systemd-notify --ready; exec sleep infinity'
        [Install]
        WantedBy=multi-user.target
    """),
    # the driver: a module's version and a device file, at every boot
    "/etc/systemd/system/neuron-driver.service": unit("""
        [Unit]
        Before=cloud-final.service trainyard-host.service
        [Service]
        Type=oneshot
        ExecStart=mount -t tmpfs none /sys/module
        ExecStart=mkdir /sys/module/neuron
        ExecStart=bash -c 'echo 2.28.0 >/sys/module/neuron/version'
        ExecStart=touch /dev/neuron0
        [Install]
        WantedBy=multi-user.target
    """),
    "/opt/aws/neuron/bin/neuron-ls": program("echo '[]'\n"),
    "/usr/bin/mount-s3": program("echo mount-s3 1.21.0\n"),
    # what mount(8) calls for the type mount-s3; the directory stands for the bucket's prefix
    "/usr/sbin/mount.mount-s3": program("""
        [[ ! -e /srv/refused ]] || { echo 'AccessDenied: s3:ListBucket' >&2; exit 1; }
        mount --bind /srv/bucket "$2" && mount -o remount,bind,ro "$2"
        echo "$*" >>/var/log/mounts
    """),
    "/etc/ecs/ecs.config": NodeFile(text="ECS_ENABLE_INF_SUPPORT=true\n"),
    WEIGHTS: NodeFile(text="0" * 4096),
}


@pytest.fixture
def machine(image: Path) -> Iterator[Machine]:
    """A machine of the right image, that was never booted."""
    node = Node(group="serving", number=1, address=SUBNET[10], instance_id="i-00000000000000001")
    capsule = Capsule()
    try:
        yield Machine(node, capsule=capsule, switch=Switch(capsule, SUBNET), image=image)
    finally:
        capsule.close()


def boot(machine: Machine, files: dict[str, NodeFile] | None = None) -> None:
    """Boot it with files; at its first boot, do what an AMI has done already."""
    machine.boot(FILES if files is None else files)
    machine.wait_until_up()
    if not (machine.root / "etc/systemd/system/multi-user.target.wants/ecs.service").is_symlink():
        machine.run("systemctl", "start", "neuron-driver")
        machine.run("systemctl", "enable", "neuron-driver", "cloud-final", "ecs")
        # a boot starts both at once; here the agent is asked for second, or it would not wait for what is not started
        machine.run("systemctl", "start", "--no-block", "cloud-final", "ecs")


def state(machine: Machine, name: str) -> str:
    return machine.run("systemctl", "is-active", name, check=False).out.strip()


def agent_runs(machine: Machine) -> None:
    wait_for("the agent", lambda: state(machine, "ecs") == "active" or None, seconds=PATIENCE_SECONDS)


def host_failed(machine: Machine) -> str:
    """Wait for a run that has failed; return the log."""

    def log() -> str | None:
        path = machine.root / LOG.strip("/")
        text = path.read_text() if path.exists() else ""
        return text if "FAILED" in text else None

    return wait_for("a failed run", log, seconds=PATIENCE_SECONDS)


def impatient(files: dict[str, NodeFile]) -> dict[str, NodeFile]:
    """The same, with deadlines that end at once and a second try after two seconds."""
    user_data = files["/var/lib/cloud/user-data"]
    text = str(user_data.text).replace("RestartSec=60", "RestartSec=2")
    text = text.replace("TRAINYARD_LOG_GRACE=0", "TRAINYARD_LOG_GRACE=0 TRAINYARD_DEADLINE=0")
    return {**files, "/var/lib/cloud/user-data": replace(user_data, text=text)}


def test_the_weights_are_mounted_before_the_agent_at_every_boot(machine: Machine) -> None:
    boot(machine)
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == "model.safetensors\n"
    assert machine.run("touch", f"{MOUNT_PATH}/x", check=False).code != 0  # read-only
    mounts = machine.run("cat", "/var/log/mounts").out.splitlines()
    assert len(mounts) == 1
    assert "s3://some-models/models/llama/ /mnt/trainyard/model" in mounts[0]

    machine.stop()
    boot(machine)  # user data does not run again
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == "model.safetensors\n"
    assert machine.run("grep", "-c", "all steps are done", LOG).out.strip() == "2"
    assert machine.run("cat", "/etc/ecs/ecs.config").out.startswith("ECS_ENABLE_INF_SUPPORT=true\n")


def test_a_power_cut_is_a_boot_like_any_other(machine: Machine) -> None:
    boot(machine)
    agent_runs(machine)
    machine.crash()
    boot(machine)
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == "model.safetensors\n"


def test_a_refused_mount_keeps_the_agent_down_and_says_why_until_it_is_granted(machine: Machine) -> None:
    boot(machine, impatient({**FILES, "/srv/refused": NodeFile(text="")}))
    assert "AccessDenied: s3:ListBucket" in host_failed(machine)
    assert state(machine, "ecs") in {"inactive", "failed"}
    machine.run("rm", "/srv/refused")
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == "model.safetensors\n"


def test_an_empty_prefix_keeps_the_agent_down_and_says_why(machine: Machine) -> None:
    files = {name: file for name, file in FILES.items() if name != WEIGHTS}
    boot(machine, impatient({**files, "/usr/sbin/mount.mount-s3": program('mount -t tmpfs none "$2"\n')}))
    assert "s3://some-models/models/llama/ is empty" in host_failed(machine)
    assert state(machine, "ecs") in {"inactive", "failed"}


def test_running_it_twice_changes_nothing(machine: Machine) -> None:
    boot(machine)
    agent_runs(machine)
    before = machine.run("cat", "/etc/fstab", "/etc/ecs/ecs.config").out
    machine.run("/opt/trainyard/boot.sh")
    assert machine.run("cat", "/etc/fstab", "/etc/ecs/ecs.config").out == before
    assert machine.run("wc", "-l", "/var/log/mounts").out.split()[0] == "1"
