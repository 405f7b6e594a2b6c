"""What the project's own scripts set up beside mounts, users and Slurm, on real nodes."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import NodeSetup
from cdk_trainyard.rehearsal import HyperPodMachines, Machine
from cdk_trainyard.rehearsal.agent import PROVISIONING_LOG
from tests.rehearsal.clusters import SYSTEM
from tests.rehearsal.script_cluster import (
    AT_ONCE,
    CONTROLLER,
    FIRST,
    SECOND,
    SOURCE,
    assert_right,
    bundle,
    cluster_of,
    fresh,
    log_of,
    run,
    run_changed,
    running,
    shell,
    text,
    until,
)

pytestmark = pytest.mark.nodes

SETUP = NodeSetup(local_accounting=True)


@pytest.fixture(scope="module")
def machines(image: Path) -> Iterator[HyperPodMachines]:
    """A cluster with everything that the scripts set up by themselves, and accounting."""
    with HyperPodMachines(cluster_of(2), image=image, bundles={SOURCE: bundle(SETUP)}) as made:
        made.boot()
        runs = made.provision()
        assert [run.code for run in runs] == [0, 0, 0], [run.output for run in runs]
        assert_right(made)
        yield made


@pytest.fixture(autouse=True)
def no_fault_is_left(machines: HyperPodMachines) -> Iterator[None]:
    yield
    machines.set_time_service(seconds_ahead=0)


def as_ubuntu(machine: Machine, script: str) -> str:
    done = machine.run("runuser", "-u", "ubuntu", "--", "sh", "-c", script, check=False)
    return f"{done.code} {(done.out + done.err).strip()}"


# ---------------------------------------------------------------- SSH and hosts
def test_every_node_logs_in_to_every_other_by_name_and_address(machines: HyperPodMachines) -> None:
    for asking in machines.by_name.values():
        for asked in machines.by_name.values():
            names = [asked.node.host, str(asked.node.address)]
            for name in names[:1] if asked is asking else names:  # its own address is what step ssh verifies
                answer = as_ubuntu(asking, f"ssh -o BatchMode=yes {name} hostname")
                assert answer == f"0 {asked.node.host}", (asking.node.name, name)


def test_shared_users_log_in_from_node_to_node_by_keys_of_their_own(machines: HyperPodMachines) -> None:
    asking, asked = machines.machine(FIRST), machines.machine(SECOND)
    for user in ("ada", "bob"):
        words = ["runuser", "-u", user, "--", "ssh", "-o", "BatchMode=yes", asked.node.host, "id -un"]
        done = asking.run(*words, check=False)
        assert (done.code, done.out.strip()) == (0, user), done.err
    keys = "stat -c '%U %a' /fsx/ada/.ssh /fsx/ada/.ssh/id_ed25519; cat /fsx/ada/.ssh/authorized_keys | wc -l"
    assert shell(asked, keys).splitlines() == ["ada 700", "ada 600", "1"]


def test_a_link_in_a_users_home_leads_root_nowhere(machines: HyperPodMachines) -> None:
    machine = machines.machine(FIRST)
    shell(machine, "rm -r /fsx/bob/.ssh; mkdir -p -m 755 /srv/roots; runuser -u bob -- ln -s /srv/roots /fsx/bob/.ssh")
    done = run(machines, machine)
    assert done.code == 0, done.output
    assert "WARNING: bob has no key for log-ins from node to node: " in done.output
    assert shell(machine, "ls -A /srv/roots; stat -c '%U %a' /srv/roots") == "root 755"
    shell(machine, "rm /fsx/bob/.ssh; rmdir /srv/roots")
    assert run(machines, machine).code == 0
    assert_right(machines)


def test_a_host_that_is_not_who_it_says_is_refused(machines: HyperPodMachines) -> None:
    asked = machines.machine(SECOND)
    shell(asked, "rm /etc/ssh/ssh_host_ed25519_key*; ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key")
    refused = as_ubuntu(machines.machine(FIRST), f"ssh -o BatchMode=yes {asked.node.host} hostname")
    assert refused.startswith("255 ")
    assert "Host key verification failed" in refused
    assert run(machines, asked).code == 0
    assert as_ubuntu(machines.machine(FIRST), f"ssh -o BatchMode=yes {asked.node.host} hostname").startswith("0 ")


def test_only_root_may_publish_a_host_key(machines: HyperPodMachines) -> None:
    assert as_ubuntu(machines.machine(FIRST), "touch /fsx/trainyard/ssh-hosts/mine").startswith("1 ")


def test_the_hostfile_names_the_nodes_that_answer(machines: HyperPodMachines) -> None:
    hostfile = machines.shared(SYSTEM) / "trainyard/hostfile"
    hosts = sorted(node.host for node in machines.cluster.with_role("compute"))
    # a node that the test before has replaced may have been missing when it was written last
    until("the hostfile to be right", lambda: sorted(hostfile.read_text().split()) == hosts)
    hostfile.write_text("nobody\n")
    shell(machines.machine(CONTROLLER), "systemctl start trainyard-hostfile.service")
    until("the hostfile to be renewed", lambda: sorted(hostfile.read_text().split()) == hosts)


# ---------------------------------------------------------------- accounting
def test_jobs_are_accounted_for(machines: HyperPodMachines) -> None:
    number = machines.slurm.submit("/fsx/ubuntu", "--wrap=true", environment={})
    until("the end of the job", lambda: machines.slurm.is_over(number))
    ask = f"sacct --noheader --parsable2 --allocations --jobs={number} --format=state,cluster"
    until("its record", lambda: shell(machines.machine(CONTROLLER), ask) == "COMPLETED|demo")
    assert shell(machines.machine(FIRST), ask) == "COMPLETED|demo"  # from a node without a configuration of its own


def test_the_password_is_nowhere_but_in_its_file(machines: HyperPodMachines) -> None:
    controller = machines.machine(CONTROLLER)
    conf = text(controller, "/etc/slurm/slurmdbd.conf")
    (password,) = [line.partition("=")[2] for line in conf.splitlines() if line.startswith("StoragePass=")]
    assert len(password) >= 30
    assert shell(controller, "stat -c '%U %a' /etc/slurm/slurmdbd.conf") == "slurm 600"
    found = shell(controller, f"grep -rlF -e '{password}' /etc /var/log /tmp /opt /root /run/log 2>/dev/null")
    assert found.splitlines() == ["/etc/slurm/slurmdbd.conf"]
    assert password not in log_of(controller)


def test_a_database_that_is_down_at_the_start_is_waited_for(machines: HyperPodMachines) -> None:
    machine = fresh(machines, CONTROLLER)
    shell(machine, "mv /usr/sbin/mariadbd /usr/sbin/mariadbd.away")
    failed = run(machines, machine, **AT_ONCE)
    assert failed.code != 0
    assert "FAILED in step 'accounting'" in failed.output
    assert shell(machine, "systemctl is-active slurmctld") != "active"
    shell(machine, "mv /usr/sbin/mariadbd.away /usr/sbin/mariadbd; systemctl reset-failed mariadb")
    done = run(machines, machine)
    assert done.code == 0, done.output
    assert_right(machines)


# ---------------------------------------------------------------- prolog and epilog
def test_a_job_leaves_no_process_and_no_file(machines: HyperPodMachines) -> None:
    """On a new node: a fresh slurmctld counts jobs from 1 again, and slurmd runs no prolog for a number it has seen."""
    machine = fresh(machines, FIRST)
    assert run(machines, machine).code == 0
    assert_right(machines)
    leave = "setsid sleep 4321 >/dev/null 2>&1 & echo $TMPDIR; touch $TMPDIR/file"
    written = machines.slurm.controller.run("srun", "--ntasks=1", "--nodelist", machine.node.host, "sh", "-c", leave)
    directory = written.out.strip()
    assert directory.startswith("/tmp/job-")  # noqa: S108  on the node
    until("the epilog", lambda: not (machine.root / directory.lstrip("/")).exists())
    until("the end of what the job left", lambda: shell(machine, "pgrep -f 'sleep 432[1]'") == "")
    assert_right(machines)


def test_a_device_that_goes_drains_the_node_with_the_reason(machines: HyperPodMachines) -> None:
    machine = machines.machine(FIRST)
    devices = "/etc/slurm/scripts/devices"
    counted = text(machine, devices)
    shell(machine, f"echo neuron_devices=1 >>{devices}")
    ask = f"scontrol show node {machine.node.host}"
    numbers: list[str] = []

    def drained() -> bool:
        """A fresh slurmctld counts jobs from 1 again: slurmd runs no prolog for a number that it has just seen."""
        if not numbers or machines.slurm.is_over(numbers[-1]):
            words = ("--nodelist", machine.node.host, "--wrap=true")
            numbers.append(machines.slurm.submit("/", *words, environment={}))
        return "DRAIN" in shell(machines.machine(CONTROLLER), ask)

    until("the node to be drained", drained)
    assert "Reason=prolog: 0 of 1 neuron_devices" in shell(machines.machine(CONTROLLER), ask)
    (machine.root / devices.lstrip("/")).write_text(counted)
    shell(machines.machine(CONTROLLER), f"scancel {numbers[-1]}")

    def resumed() -> bool:
        """slurmd reports that the prolog failed, which drains the node once more: perhaps after the first time."""
        shell(machines.machine(CONTROLLER), f"scontrol update nodename={machine.node.host} state=resume")
        time.sleep(2)
        return machines.slurm.states()[machine.node.host] == "idle"

    until("the node to stay idle", resumed)
    assert_right(machines)


# ---------------------------------------------------------------- the clock
def test_a_clock_that_stays_wrong_is_the_cause_one_that_does_not_is_waited_for_and_a_replaced_node_is_known_at_once(
    machines: HyperPodMachines,
) -> None:
    """Ten minutes off, fast and then slow, on a new instance in the place of the first worker."""
    machine = fresh(machines, FIRST)
    machines.set_time_service(seconds_ahead=-600)
    failed = run(machines, machine, **AT_ONCE)
    assert failed.code != 0
    assert re.search(r"waited in vain for a clock that is right: the clock is (599|60\d) s fast", failed.output)
    assert "FAILED in step 'clock'" in failed.output
    assert shell(machine, "systemctl is-active slurmd") != "active"

    machines.set_time_service(seconds_ahead=600)
    (machine.root / PROVISIONING_LOG.lstrip("/")).write_text("")
    with running(machines, machine) as ending:
        until("the step", lambda: "[clock] compare the clock" in log_of(machine))
        assert not ending.done()
        machines.set_time_service(seconds_ahead=0)
    answer = as_ubuntu(machines.machine(CONTROLLER), f"ssh -o BatchMode=yes {machine.node.host} hostname")
    assert answer == f"0 {machine.node.host}"
    assert_right(machines)


# ---------------------------------------------------------------- Slurm's topology
def test_a_tree_without_a_topology_gets_one_and_jobs_run(machines: HyperPodMachines) -> None:
    controller = machines.machine(CONTROLLER)
    shell(controller, "sed -i '1a TopologyPlugin=topology/tree' /etc/slurm/slurm.conf")  # as HyperPod does
    hosts = ",".join(node.host for node in machines.cluster.with_role("compute"))
    until("the topology", lambda: f"SwitchName=all Nodes={hosts}" in text(controller, "/etc/slurm/topology.conf"))
    ask = "scontrol show config | grep TopologyPlugin"
    until("slurmctld to have it", lambda: "topology/tree" in shell(controller, ask))
    assert_right(machines)
    shell(controller, "sed -i '/TopologyPlugin/d' /etc/slurm/slurm.conf; rm /etc/slurm/topology.conf")
    shell(controller, "systemctl restart slurmctld")
    assert_right(machines)


# ---------------------------------------------------------------- logs and log-in
def test_logs_are_rotated_and_slurm_goes_on_writing(machines: HyperPodMachines) -> None:
    controller = machines.machine(CONTROLLER)
    assert shell(controller, "logrotate --force /etc/logrotate.d/trainyard; echo $?") == "0"
    assert shell(controller, "ls /var/log/slurm").split().count("slurmctld.log.1") == 1
    shell(controller, "scontrol reconfigure")
    until("the new log", lambda: text(controller, "/var/log/slurm/slurmctld.log"))
    assert_right(machines)


def test_a_log_in_says_where_one_is(machines: HyperPodMachines) -> None:
    shown = text(machines.machine(FIRST), "/etc/motd")
    assert f"HyperPod cluster demo: {FIRST} (compute, ml.c5.4xlarge)" in shown
    assert "/fsx/trainyard/hostfile" in shown


# ---------------------------------------------------------------- OpenZFS
MOUNT_NFS = """\
#!/bin/sh
# Stands in for mount.nfs, which the image lacks: mount.nfs SOURCE DIRECTORY -o OPTIONS
echo "$@" >>/var/log/mount.nfs.log
mkdir -p /run/lustre-backing/zfs
exec mount -i -n --bind /run/lustre-backing/zfs "$2"
"""


def test_homes_are_on_openzfs_when_it_is_mounted_at_home(machines: HyperPodMachines) -> None:
    machine = fresh(machines, FIRST)
    (machine.root / "sbin/mount.nfs").write_text(MOUNT_NFS)
    (machine.root / "sbin/mount.nfs").chmod(0o755)
    (machine.root / "home/ubuntu/.of-the-image").write_text("kept")
    settings = json.loads(bundle(SETUP)["settings.json"]) | {
        "openzfs": {"dns_name": SYSTEM.dns_name, "mount_path": "/home"},
        "home": "/home/ubuntu",
    }
    done = run_changed(machines, machine, "settings.json", json.dumps(settings))
    assert done.code == 0, done.output
    assert shell(machine, "getent passwd ubuntu | cut -d: -f6; cat /home/ubuntu/.of-the-image") == "/home/ubuntu\nkept"
    assert shell(machine, "mountpoint -q /home && stat -c %U /home/ubuntu") == "ubuntu"
    assert "nfsvers=4.2" in text(machine, "/var/log/mount.nfs.log")
    machine = fresh(machines, FIRST)
    assert run(machines, machine).code == 0
    assert_right(machines)
