"""What goes wrong on real nodes: the project's own scripts, and after every fault, or row of them, all is right."""

import json
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle.settings import SETTINGS_FILE
from cdk_trainyard.rehearsal import Cluster, HyperPodMachines, LifecycleConfig, Machine, Node
from cdk_trainyard.rehearsal.hyperpod.agent import RESOURCE_CONFIG, UNIT
from cdk_trainyard.rehearsal.nodes import NodeFile
from tests.rehearsal.clusters import PATIENCE_SECONDS, SYSTEM, wait_until_idle
from tests.rehearsal.script_cluster import (
    AT_ONCE,
    CONTROLLER,
    ENTRY,
    ENTRY_AFTER_IMAGE,
    FIRST,
    REFUSED,
    SCRIPTS,
    SECOND,
    SOURCE,
    STEPS,
    assert_right,
    bundle,
    cluster_of,
    fresh,
    log_of,
    mounts_tried,
    run,
    run_changed,
    running,
    shell,
    steps_of,
    text,
    until,
    until_slurmd_answers,
    worked,
)

pytestmark = pytest.mark.nodes


WORKED: dict[str, list[str]] = {}
"""The steps that had something to do, by node. In each of them a run is killed, and before each the disk is full."""

SHARED = {"user_keys"}
"""Steps that whichever node comes first does for all of them."""
# Nothing to do on nodes without OpenZFS, EFA or an accelerator, and without being asked for: tested elsewhere.
IDLE = {
    "openzfs", "lustre_efa", "lustre_io", "kernel", "clock", "devices", "containers", "neuron_environment", "exporters",
    "s3_mounts", "pam_slurm_adopt", "metrics_agent",
}  # fmt: skip


@pytest.fixture(scope="module")
def machines(image: Path) -> Iterator[HyperPodMachines]:
    """A cluster that the scripts have configured; every test leaves it right."""
    with HyperPodMachines(cluster_of(2), image=image, bundles={SOURCE: bundle()}) as made:
        made.boot()
        assert [run.code for run in made.provision()] == [0, 0, 0]
        assert_right(made)
        done = {machine.node.name: worked(machine) for machine in made.by_name.values()}
        shared = SHARED & {step for steps in done.values() for step in steps}
        WORKED.update({name: [step for step in STEPS if step in {*steps, *shared}] for name, steps in done.items()})
        yield made


@pytest.fixture(autouse=True)
def no_fault_is_left(machines: HyperPodMachines) -> Iterator[None]:
    yield
    machines.set_mount_fault(None)
    machines.set_name_service(up=True)
    machines.boot([machine.node for machine in machines.by_name.values() if not machine.alive])


@pytest.fixture
def worker(machines: HyperPodMachines) -> Machine:
    """A new instance in the place of the first worker: up, with the scripts, not configured."""
    return fresh(machines, FIRST)


# ---------------------------------------------------------------- killed anywhere, run again
NOTE = "/root/killed"
MOMENTS = ("begin", "middle", "end")


def killed_when(step: str, moment: str) -> str:
    """Return what to append to a step's file, so that the run is killed at a moment of the step."""
    die = f"echo {step} {moment} >{NOTE}; kill -KILL 0"  # the script and all that it started
    if moment == "begin":
        return f"step_{step}_done() {{ {die}; }}\n"
    after = {"middle": "3", "end": "1000"}[moment]
    return (
        f"step_{step}_done() {{ false; }}\n"
        f'eval "whole_$(declare -f step_{step}_run)"\n'
        f"step_{step}_run() {{\n"
        f"  commands=0\n  set -T\n  trap '((++commands < {after})) || {{ {die}; }}' DEBUG\n"
        f"  whole_step_{step}_run\n  {die}\n}}\n"
    )


def run_and_kill(machines: HyperPodMachines, machine: Machine, step: str, moment: str) -> None:
    """What other runs have brought to its end by then is not looked at again: the whole run that comes last does."""
    source = (SCRIPTS / "steps" / f"{step}.sh").read_text()
    ended = "".join(f"step_{other}_done() {{ true; }}\n" for other in worked(machine) if other not in {"network", step})
    done = run_changed(machines, machine, f"steps/{step}.sh", source + ended + killed_when(step, moment))
    assert (done.code != 0, text(machine, NOTE)) == (True, f"{step} {moment}\n"), done.output


def forget_homes(machines: HyperPodMachines) -> None:
    """Let the next run make the homes, not only find them."""
    for home in ("ada", "bob"):
        shutil.rmtree(machines.shared(SYSTEM) / home)


def run_with_full_disk(machines: HyperPodMachines, machine: Machine, step: str) -> None:
    """A run that has this step before it, and no space: it says so."""
    folder = machines.agent.place_bundle(machine)
    machine.set_disk_full(full=True)
    failed = machines.agent.run_script(machine, folder, ENTRY, AT_ONCE)
    machine.set_disk_full(full=False)
    assert failed.code != 0, (step, failed.output)
    assert "likely cause: no space is left on /" in failed.output, (step, failed.output)


@pytest.mark.parametrize("name", [CONTROLLER, FIRST])
def test_a_node_that_is_killed_in_every_step_and_run_again_is_right(machines: HyperPodMachines, name: str) -> None:
    """And a worker whose disk is full before every step, too."""
    machine = fresh(machines, name)
    forget_homes(machines)
    shutil.rmtree(machines.shared(SYSTEM) / "ubuntu")
    for step in WORKED[name]:
        for moment in MOMENTS:
            run_and_kill(machines, machine, step, moment)
            if (name, moment) == (FIRST, "begin"):
                run_with_full_disk(machines, machine, step)
    done = run(machines, machine)
    assert done.code == 0, done.output
    assert_right(machines)


def test_no_step_is_forgotten_here(machines: HyperPodMachines) -> None:
    del machines
    assert set(STEPS) - set(WORKED[CONTROLLER]) - set(WORKED[FIRST]) == IDLE


@pytest.fixture
def configured_by_image(machines: HyperPodMachines) -> Iterator[Machine]:
    """A new first worker of a cluster that its image configures: the construct leaves hooks of jobs out."""
    controller = machines.machine(CONTROLLER)
    without = {name: value for name, value in json.loads(bundle()[SETTINGS_FILE]).items() if name != "job_hooks"}
    assert run_changed(machines, controller, SETTINGS_FILE, json.dumps(without)).code == 0
    lifecycle = LifecycleConfig(source=SOURCE, on_init_complete=ENTRY_AFTER_IMAGE)
    groups = machines.cluster.groups
    machines.change(replace(machines.cluster, groups=[replace(group, lifecycle=lifecycle) for group in groups]))
    machine = fresh(machines, FIRST)
    machines.agent._configure_from_image(machine, machines.cluster.group_of(machine.node))
    yield machine
    machines.change(replace(machines.cluster, groups=groups))
    assert [run(machines, left).code for left in (controller, machine)] == [0, 0]


def test_on_init_complete_that_is_killed_in_every_step_and_run_again_is_right(
    machines: HyperPodMachines, configured_by_image: Machine
) -> None:
    forget_homes(machines)
    for step in [step for step in steps_of(ENTRY_AFTER_IMAGE) if step in WORKED[FIRST]]:
        for moment in MOMENTS:
            run_and_kill(machines, configured_by_image, step, moment)
    done = run(machines, configured_by_image)
    assert done.code == 0, done.output
    assert run(machines, machines.machine(SECOND)).code == 0
    assert_right(machines)


def state(machine: Machine) -> dict[str, tuple[int, str]]:
    """Everything that is on the node's disk and not in the image; not what daemons and the log write by themselves."""
    upper = machine.root.parent / "disk" / "upper"
    daemons = ("var/log/", "var/spool/", "var/lib/mysql/", "var/lib/systemd/", "tmp/", "run/", "root/")
    files = (path for path in upper.rglob("*") if path.is_file() and not path.is_symlink())
    known = {str(path.relative_to(upper)): path for path in files}
    return {
        name: (path.stat().st_mtime_ns, sha256(path.read_bytes()).hexdigest())
        for name, path in known.items()
        if not name.startswith(daemons)
    }


@pytest.mark.parametrize("name", [CONTROLLER, FIRST])
def test_a_second_run_changes_nothing(machines: HyperPodMachines, name: str) -> None:
    machine = machines.machine(name)
    daemons = "pgrep --exact 'slurmctld|slurmd|munged'"
    before, processes = state(machine), shell(machine, daemons)
    assert "etc/fstab" in before
    done = run(machines, machine)
    assert (done.code, done.output.count("nothing to do")) == (0, len(STEPS) - 1), done.output
    assert state(machine) == before
    assert shell(machine, daemons) == processes
    assert_right(machines)


# ---------------------------------------------------------------- names and storage
def test_what_does_not_come_is_named_and_the_next_run_goes_on(machines: HyperPodMachines, worker: Machine) -> None:
    machines.set_name_service(up=False)
    failed = run(machines, worker, **AT_ONCE)
    assert failed.code != 0
    assert f"waited in vain for the name {SYSTEM.dns_name}" in failed.output
    assert "likely cause: the subnet has no route out or no DNS" in log_of(worker)
    machines.set_name_service(up=True)

    settings = json.loads(bundle()[SETTINGS_FILE])
    settings["lustre"]["mount_name"] = "wrongnam"
    failed = run_changed(machines, worker, SETTINGS_FILE, json.dumps(settings), **AT_ONCE)
    assert failed.code != 0
    assert "waited in vain for the mount of /fsx" in failed.output
    assert "wrongnam at /fsx failed: Connection timed out" in failed.output
    assert "the mount name is another file system's" in log_of(worker)

    assert run(machines, worker).code == 0
    assert_right(machines)


def test_what_comes_late_is_waited_for(machines: HyperPodMachines, worker: Machine) -> None:
    """The agent's list with this node in it, the name service, the right to mount, and a mount that is slow."""
    listed = text(worker, RESOURCE_CONFIG)
    worker.write(RESOURCE_CONFIG, NodeFile(text=listed.replace(str(worker.node.address), "10.1.128.99")))
    machines.set_name_service(up=False)
    machines.set_mount_fault(REFUSED)
    with running(machines, worker) as ending:
        until("the first step", lambda: "[network] find out" in log_of(worker))
        assert not ending.done()
        worker.write(RESOURCE_CONFIG, NodeFile(text=listed))
        until("the node in the list", lambda: "[network] cluster" in log_of(worker))
        assert (ending.done(), mounts_tried(worker)) == (False, 0)
        machines.set_name_service(up=True)
        until("a second try", lambda: mounts_tried(worker) > 1)
        assert not ending.done()
        machines.set_mount_fault("sleep 3")
        tried = mounts_tried(worker)
    assert mounts_tried(worker) <= tried + 1  # the slow one, after a refused one that had begun
    assert_right(machines)


@contextmanager
def mounting(machines: HyperPodMachines, machine: Machine, fault: str) -> Iterator[None]:
    """The scripts are at the mount while the block runs, and it ends them."""
    tried = mounts_tried(machine)
    machines.set_mount_fault(fault)
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(run, machines, machine)
        until("the mount", lambda: mounts_tried(machine) > tried)
        yield
        assert ending.result(timeout=PATIENCE_SECONDS).code != 0
    machines.set_mount_fault(None)


def test_a_power_cut_in_the_middle_of_the_scripts_and_a_kill_by_hand(
    machines: HyperPodMachines, worker: Machine
) -> None:
    """The unit of a script is the one that can be killed: the way to do it by hand, as the rehearsal's README says."""
    with mounting(machines, worker, "sleep 60"):
        worker.crash()
    machines.boot([worker.node])
    with mounting(machines, worker, REFUSED):
        worker.run("systemctl", "kill", "--signal=KILL", UNIT)
    assert run(machines, worker).code == 0
    assert_right(machines)


# ---------------------------------------------------------------- Slurm's nodes come and go
def submit(machines: HyperPodMachines, name: str, script: str) -> str:
    """A job that runs on a worker."""
    wanted = ["--nodelist", machines.machine(name).node.host, f"--wrap={script}"]
    number = machines.slurm.submit("/fsx/ubuntu", *wanted, environment={})
    until("the job to run", lambda: machines.slurm.job(number).get("JobState") == "RUNNING")
    return number


def crash_controller(machines: HyperPodMachines) -> Machine:
    """A power cut, when slurmctld has saved what it knows: it does so every 5 s at most, whatever the scripts do."""
    controller = machines.machine(CONTROLLER)
    held = machines.slurm.submit("/", "--hold", "--wrap=true", environment={})
    controller.run("touch", "/root/mark")
    controller.run("scancel", held)
    until("the state to be saved", lambda: shell(controller, "find /var/spool/slurmctld/job_state -newer /root/mark"))
    controller.crash()
    return controller


def assert_ends(machines: HyperPodMachines, number: str, *, restarts: int = 0) -> None:
    until("the end of the job", lambda: machines.slurm.is_over(number))
    job = machines.slurm.job(number)
    assert (job["JobState"], job["Restarts"]) == ("COMPLETED", str(restarts))


def test_a_worker_before_its_controller_needs_nobody(machines: HyperPodMachines, worker: Machine) -> None:
    controller = crash_controller(machines)
    done = run(machines, worker, TRAINYARD_DEADLINE="10")
    assert done.code == 0, done.output
    machines.boot([controller.node])
    assert_right(machines)


def test_a_power_cut_of_the_controller_disturbs_no_job(machines: HyperPodMachines) -> None:
    number = submit(machines, SECOND, "sleep 12")
    controller = crash_controller(machines)
    machines.boot([controller.node])
    until("an answer of slurmctld", machines.slurm.states)
    assert_ends(machines, number)
    assert_right(machines)


def test_a_power_cut_of_a_worker_needs_nobody(machines: HyperPodMachines) -> None:
    machine = machines.machine(FIRST)
    machine.crash()
    machines.boot([machine.node])
    until_slurmd_answers(machine)
    assert_right(machines)


def test_a_replaced_worker_takes_the_old_name_and_the_old_job(machines: HyperPodMachines) -> None:
    old = machines.machine(FIRST).node
    number = submit(machines, FIRST, "[ ${SLURM_RESTART_COUNT:-0} -gt 0 ] || sleep 600")
    machines.machine(FIRST).crash()
    machines.slurm.wait_until("down*", [old.host], seconds=PATIENCE_SECONDS)
    machine = fresh(machines, FIRST)
    assert machine.node.instance_id != old.instance_id
    assert run(machines, machine).code == 0
    assert_ends(machines, number, restarts=1)
    assert_right(machines)


def test_a_cable_that_is_out_for_5_seconds_disturbs_no_job(machines: HyperPodMachines) -> None:
    node = machines.machine(SECOND).node
    number = submit(machines, SECOND, "sleep 7")
    machines.cut(node)
    time.sleep(5)  # the fault itself
    machines.heal(node)
    assert_ends(machines, number)
    assert_right(machines)


def with_workers(machines: HyperPodMachines, count: int) -> Cluster:
    """The cluster with the nodes that it has, as far as they are wanted, and new ones."""
    wanted: list[Node] = [machines.cluster.find(node.name) or node for node in cluster_of(count).nodes]
    return machines.cluster.with_nodes(wanted)


def test_the_cluster_grows_and_shrinks_under_a_running_job(machines: HyperPodMachines) -> None:
    number = submit(machines, SECOND, "sleep 15")
    machines.change(with_workers(machines, 4))
    added = machines.cluster.nodes[3:]
    machines.boot(added)
    assert [done.code for done in machines.provision(added)] == [0, 0]
    wait_until_idle(machines, added)
    machines.change(with_workers(machines, 2))
    assert_ends(machines, number)
    assert_right(machines)


def test_a_worker_that_slurm_conf_does_not_name_yet_joins_when_it_does(
    machines: HyperPodMachines, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as late:
        late.setattr(machines.agent, "tell", lambda _: None)
        machines.change(with_workers(machines, 3))
        joining = machines.cluster.nodes[3]
        machines.boot([joining])
        machine = machines.machine(joining.name)
        done = run(machines, machine, TRAINYARD_DEADLINE="10")
    assert done.code == 0, done.output
    assert "until the controller (10.1.128.10) knows this node" in done.output
    machines.change(machines.cluster)
    assert_right(machines)
    machines.change(with_workers(machines, 2))
    assert_right(machines)
