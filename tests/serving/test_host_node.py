"""The real user data on a machine with systemd: first boot, reboot, a mount that is refused, an empty bucket."""

import shlex
import textwrap
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import Machine, Node
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.namespaces import Namespaces
from cdk_trainyard.rehearsal.nodes import NodeFile
from cdk_trainyard.rehearsal.switch import Switch
from cdk_trainyard.serving.catalogue import Server, engine_image
from cdk_trainyard.serving.host_script import MOUNT_PATH, HostSettings, render
from cdk_trainyard.serving.model_layout import layout
from tests.rehearsal.clusters import PATIENCE_SECONDS
from tests.serving import model_folder
from tests.serving.parts import model

pytestmark = pytest.mark.nodes

SUBNET = IPv4Network("10.1.128.0/24")
LOG = "/var/log/provision/provisioning.log"
SETTINGS = HostSettings(
    cluster_name="serving",
    bucket_name="some-models",
    folder="models/llama/3f9a0c51d7e2/",
    layout=layout(model(presharded=True), engine_image(None, Server.TGI)),
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
}
BUCKET = {
    f"/srv/bucket/{name}": NodeFile(text=text)
    for name, text in {
        **model_folder.COMPILED,
        model_folder.MANIFEST: model_folder.manifest(model_folder.COMPILED),
    }.items()
}
SEEN = "".join(f"{name}\n" for name in sorted({path.split("/")[3] for path in BUCKET}))


@pytest.fixture
def machine(image: Path) -> Iterator[Machine]:
    """A machine of the right image, that was never booted."""
    node = Node(group="serving", number=1, address=SUBNET[10], instance_id="i-00000000000000001")
    namespaces = Namespaces()
    try:
        yield Machine(node, namespaces=namespaces, switch=Switch(namespaces, SUBNET), image=image)
    finally:
        namespaces.close()


def boot(machine: Machine, files: dict[str, NodeFile] | None = None) -> None:
    """Boot it with files; at its first boot, do what an AMI has done already."""
    machine.boot({**FILES, **BUCKET} if files is None else files)
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


def put(machine: Machine, path: str) -> None:
    """Upload one object."""
    machine.run("bash", "-c", f"printf %s {shlex.quote(str(BUCKET[path].text))} >{path}")


def host_failed(machine: Machine) -> str:
    """Wait for a run that has failed; return the log."""

    def log() -> str | None:
        path = machine.root / LOG.strip("/")
        text = path.read_text() if path.exists() else ""
        return text if "FAILED" in text else None

    return wait_for("a failed run", log, seconds=PATIENCE_SECONDS)


# deadlines that end at once, and a second try after two seconds
IMPATIENT = {
    "/etc/systemd/system/trainyard-host.service.d/impatient.conf": unit("""
        [Service]
        RestartSec=2
        Environment=TRAINYARD_DEADLINE=0
    """),
}


def test_the_weights_are_mounted_before_the_agent_at_every_boot(machine: Machine) -> None:
    boot(machine)
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == SEEN
    assert machine.run("touch", f"{MOUNT_PATH}/x", check=False).code != 0  # read-only
    mounts = machine.run("cat", "/var/log/mounts").out.splitlines()
    assert len(mounts) == 1
    assert "s3://some-models/models/llama/3f9a0c51d7e2/ /mnt/trainyard/model" in mounts[0]

    machine.stop()
    boot(machine)  # user data does not run again
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == SEEN
    assert machine.run("grep", "-c", "all steps are done", LOG).out.strip() == "2"
    assert machine.run("cat", "/etc/ecs/ecs.config").out.startswith("ECS_ENABLE_INF_SUPPORT=true\n")


def test_a_power_cut_is_a_boot_like_any_other(machine: Machine) -> None:
    boot(machine)
    agent_runs(machine)
    machine.crash()
    boot(machine)
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == SEEN


def test_a_refused_mount_keeps_the_agent_down_and_says_why_until_it_is_granted(machine: Machine) -> None:
    boot(machine, {**FILES, **BUCKET, **IMPATIENT, "/srv/refused": NodeFile(text="")})
    assert "AccessDenied: s3:ListBucket" in host_failed(machine)
    assert state(machine, "ecs") in {"inactive", "failed"}
    machine.run("rm", "/srv/refused")
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == SEEN


def test_an_upload_that_has_not_ended_keeps_the_agent_down_until_it_has(machine: Machine) -> None:
    manifest, graphs = f"/srv/bucket/{model_folder.MANIFEST}", "/srv/bucket/model.pt"
    without = {name: file for name, file in BUCKET.items() if name != manifest}
    boot(machine, {**FILES, **IMPATIENT, **without, graphs: NodeFile(text="gr")})
    assert f"there is no {model_folder.MANIFEST}" in host_failed(machine)
    assert state(machine, "ecs") in {"inactive", "activating", "failed"}
    put(machine, manifest)
    log = machine.root / LOG.strip("/")
    wait_for(
        "the next look", lambda: "model.pt has not the 6 bytes" in log.read_text() or None, seconds=PATIENCE_SECONDS
    )
    assert state(machine, "ecs") in {"inactive", "activating", "failed"}
    put(machine, graphs)
    agent_runs(machine)
    assert machine.run("cat", "/run/agent-saw").out == SEEN


def test_running_it_twice_changes_nothing(machine: Machine) -> None:
    boot(machine)
    agent_runs(machine)
    before = machine.run("cat", "/etc/fstab", "/etc/ecs/ecs.config").out
    machine.run("/opt/trainyard/boot.sh")
    assert machine.run("cat", "/etc/fstab", "/etc/ecs/ecs.config").out == before
    assert machine.run("wc", "-l", "/var/log/mounts").out.split()[0] == "1"
