"""A cluster that the project's own scripts configure: to run them on its nodes, and to tell whether it is right."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from cdk_trainyard.lifecycle import (
    GroupRole,
    NodeGroup,
    NodeLustre,
    NodeOpenZfs,
    NodeSettings,
    NodeSetup,
    SlurmTopology,
    scripts_folder,
)
from cdk_trainyard.lifecycle.bundle import default_folders, read_bundle
from cdk_trainyard.lifecycle.settings import SETTINGS_FILE, USERS_FILE
from cdk_trainyard.rehearsal import Cluster, HyperPodMachines, LifecycleConfig, Machine, ScriptRun
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.agent import PROVISIONING_LOG
from cdk_trainyard.rehearsal.nodes import NodeFile
from tests.rehearsal.clusters import PATIENCE_SECONDS, SYSTEM, make_cluster, wait_until_idle

SCRIPTS = scripts_folder() / "hyperpod"
ENTRY, ENTRY_AFTER_IMAGE = "on_create.sh", "on_init_complete.sh"
SOURCE = "s3://scripts/hyperpod/"


USERS = "ada,2001,/fsx/ada,research:3001\nbob,2002,/fsx/bob\n"
CONTROLLER, FIRST, SECOND = "controller-group-1", "worker-group-1", "worker-group-2"
AT_ONCE = {"TRAINYARD_DEADLINE": "1", "TRAINYARD_LOG_GRACE": "0"}
REFUSED = "110 Connection timed out"


def steps_of(entry: str) -> list[str]:
    """The steps that an entry script names: a new one is in every test below."""
    found = re.search(r"^steps=\(\n(.*?)^\)$", (SCRIPTS / entry).read_text(), re.MULTILINE | re.DOTALL)
    assert found, entry
    return found[1].split()


STEPS = steps_of(ENTRY)


def cluster_of(workers: int) -> Cluster:
    return make_cluster(workers, lifecycle=LifecycleConfig(source=SOURCE, on_create=ENTRY))


def bundle(setup: NodeSetup | None = None, openzfs: NodeOpenZfs | None = None) -> dict[str, bytes]:
    """What the construct uploads for this cluster."""
    settings = NodeSettings(
        groups=[
            NodeGroup(name="controller-group", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"]),
            NodeGroup(name="worker-group", role=GroupRole.COMPUTE, instance_types=["ml.c5.4xlarge"]),
            NodeGroup(name="login-group", role=GroupRole.LOGIN, instance_types=["ml.m5.large"]),
        ],
        lustre=NodeLustre(dns_name=SYSTEM.dns_name, mount_name=SYSTEM.mount_name),
        openzfs=openzfs,
        setup=setup or NodeSetup(local_accounting=True),
    )
    rendered = settings.render(topology=SlurmTopology.API_DRIVEN, users_file=USERS_FILE)
    files = {file.name: file.data for file in read_bundle(*default_folders()).files}
    return files | {SETTINGS_FILE: json.dumps(rendered).encode(), USERS_FILE: USERS.encode()}


def worked(machine: Machine) -> list[str]:
    """The steps that had something to do on a node; a step that is not asked for has not."""
    log = log_of(machine)
    return [step for step in STEPS if f"[{step}] done in" in log]


def fresh(machines: HyperPodMachines, name: str) -> Machine:
    machine = machines.machine(machines.replace(machines.machine(name).node).name)
    machines.agent.place_bundle(machine)
    return machine


def run(machines: HyperPodMachines, machine: Machine, **environment: str) -> ScriptRun:
    """The entry script, with the files that are on the node."""
    folder = machines.agent.place_bundle(machine)
    return machines.agent.run_script(machine, folder, entry_of(machines, machine), environment)


def run_changed(machines: HyperPodMachines, machine: Machine, name: str, text: str, **environment: str) -> ScriptRun:
    """The entry script, with another text in one file of the bundle."""
    folder = machines.agent.place_bundle(machine)
    machine.write(f"{folder}/{name}", NodeFile(text=text))
    return machines.agent.run_script(machine, folder, entry_of(machines, machine), environment)


def entry_of(machines: HyperPodMachines, machine: Machine) -> str:
    lifecycle = machines.cluster.group_of(machine.node).lifecycle
    assert lifecycle
    assert lifecycle.entry
    return lifecycle.entry


@contextmanager
def running(machines: HyperPodMachines, machine: Machine) -> Iterator[Future[ScriptRun]]:
    """The entry script runs while the block does, and ends well."""
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(run, machines, machine)
        yield ending
        ended = ending.result(timeout=PATIENCE_SECONDS)
        assert ended.code == 0, ended.output


def shell(machine: Machine, script: str) -> str:
    return machine.run("sh", "-c", script, check=False).out.strip()


def text(machine: Machine, path: str) -> str:
    file = machine.root / path.lstrip("/")
    return file.read_text() if file.exists() else ""


def until(what: str, question: Callable[[], object]) -> None:
    wait_for(what, lambda: bool(question()), seconds=PATIENCE_SECONDS)


def log_of(machine: Machine) -> str:
    return text(machine, PROVISIONING_LOG)


def mounts_tried(machine: Machine) -> int:
    return len(text(machine, "/var/log/mount.lustre.log").splitlines())


def until_slurmd_answers(machine: Machine) -> None:
    """Wait for a node that was down for a moment: until Slurm has noticed, it calls the node idle."""
    until("slurmd", lambda: machine.run("scontrol", "show", "slurmd", check=False).code == 0)


def assert_right(machines: HyperPodMachines) -> None:
    """Every node is as the scripts make it, idle, and a job runs on all of them."""
    hosts = [node.host for node in machines.cluster.with_role("compute")]
    wait_until_idle(machines)
    for machine in machines.by_name.values():
        assert_node_is_right(machine)
    left_over = [path.name for path in machines.shared(SYSTEM).iterdir() if ".new-" in path.name]
    assert left_over == []
    answered = machines.slurm.controller.run("srun", f"-N{len(hosts)}", "hostname").out.split()
    assert sorted(answered) == sorted(hosts)
    assert sorted(machines.slurm.states()) == sorted(hosts)
    wait_until_idle(machines)  # after the epilog


def assert_node_is_right(machine: Machine) -> None:
    asked = "mountpoint -q /fsx && echo mounted; getent passwd ubuntu ada bob | cut -d: -f1,3,6; id -nG ada"
    told = ["mounted", "ubuntu:1000:/fsx/ubuntu", "ada:2001:/fsx/ada", "bob:2002:/fsx/bob", "ada research"]
    assert shell(machine, f"ls /fsx >/dev/null; {asked}").splitlines() == told, machine.node.name
    entries = [line for line in text(machine, "/etc/fstab").splitlines() if " /fsx " in line]
    assert len(entries) == 1, machine.node.name
    assert shell(machine, "find /etc -name '*.trainyard-new' -o -name '*[a-z].lock' ! -name .pwd.lock") == ""
