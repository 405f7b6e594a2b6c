"""Real nodes: what a script finds on them, what can be done to them, and that nothing is left of them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import HyperPodMachines, Machine, RehearsalError
from cdk_trainyard.rehearsal._process import alive, run, wait_for
from cdk_trainyard.rehearsal.nodes import NodeFile
from tests.rehearsal.clusters import MOUNT, PATIENCE_SECONDS, SYSTEM, make_cluster

CGROUPS = Path("/sys/fs/cgroup")
pytestmark = pytest.mark.nodes

ASK_METADATA = (
    "token=$(curl -sf -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' http://169.254.169.254/latest/api/token);"
    'curl -sf -H "X-aws-ec2-metadata-token: $token" http://169.254.169.254/latest/'
)
SOURCE = f"{SYSTEM.dns_name}@tcp:/{SYSTEM.mount_name}"


def shell(machine: Machine, script: str) -> str:
    return machine.run("sh", "-c", script).out.strip()


@pytest.fixture
def controller(machines: HyperPodMachines) -> Machine:
    return machines.machine("controller-group-1")


@pytest.fixture
def worker(machines: HyperPodMachines) -> Iterator[Machine]:
    yield machines.machine("worker-group-1")
    machines.set_mount_fault(None)
    machines.set_name_service(up=True)


# ---------------------------------------------------------------- what a script finds
def test_every_unit_of_every_node_is_fine(machines: HyperPodMachines) -> None:
    states = {name: shell(machine, "systemctl is-system-running") for name, machine in machines.by_name.items()}
    assert set(states.values()) == {"running"}


def test_a_job_runs_on_two_nodes(controller: Machine) -> None:
    assert sorted(controller.run("srun", "-N2", "hostname").out.split()) == ["ip-10-1-128-11", "ip-10-1-128-12"]


def test_plain_slurm_offers_no_auto_resume(controller: Machine) -> None:
    assert "--auto-resume" not in controller.run("srun", "--help").out


def test_the_metadata_service_is_version_2_only_and_answers_who_asks(controller: Machine, worker: Machine) -> None:
    assert shell(worker, f"{ASK_METADATA}meta-data/instance-id") == worker.node.instance_id
    assert shell(controller, f"{ASK_METADATA}meta-data/instance-id") == controller.node.instance_id
    assert shell(controller, f"{ASK_METADATA}meta-data/placement/availability-zone") == "us-east-1d"
    ask = "curl -s -o /dev/null -w '%{http_code}' http://169.254.169.254/latest/meta-data/"
    assert shell(controller, ask) == "401"


def test_names_are_found_and_unknown_ones_refused_at_once(worker: Machine) -> None:
    assert shell(worker, "getent hosts ip-10-1-128-10").startswith("10.1.128.10 ")
    assert shell(worker, f"getent ahostsv4 {SYSTEM.dns_name}").startswith("10.1.128.1 ")
    ask = "import socket; socket.getaddrinfo('nowhere.example', None)"
    assert "Name or service not known" in worker.run("python3", "-c", ask, check=False).err  # silence is another error


def test_there_is_no_way_out(worker: Machine) -> None:
    assert worker.run("ping", "-c1", "-W1", "192.0.2.1", check=False).code != 0


def test_the_image_holds_no_secret(image: Path) -> None:
    found = [*image.glob("etc/munge/*"), *image.glob("etc/ssh/ssh_host_*"), *image.glob("etc/apt/apt.conf.d/*mmdeb*")]
    assert found == []
    assert (image / "etc/machine-id").read_text() == ""


def test_storage_is_shared(machines: HyperPodMachines) -> None:
    first, second = (machines.machine(f"worker-group-{number}") for number in (1, 2))
    shell(first, "echo hello >/fsx/file")
    assert shell(second, "cat /fsx/file") == "hello"
    assert (machines.shared(SYSTEM) / "file").read_text() == "hello\n"


# ---------------------------------------------------------------- the stand-in of Lustre's mount helper
@pytest.mark.parametrize(
    ("source", "options", "code", "message"),
    [
        ("fs-9.fsx.us-east-1.amazonaws.com@tcp:/abcdefgh", "flock", 19, "can't parse NID"),
        (f"{SYSTEM.dns_name}@tcp:/wrongnam", "flock", 110, "Connection timed out"),
        (f"{SYSTEM.dns_name}:/abcdefgh", "flock", 1, "malformed mount source"),
        (SOURCE, "flok", 22, "Invalid argument (option flok)"),
    ],
)
def test_a_wrong_mount_fails_as_on_lustre(worker: Machine, source: str, options: str, code: int, message: str) -> None:
    worker.run("mkdir", "-p", "/other")
    done = worker.run("mount", "-t", "lustre", "-o", options, source, "/other", check=False)
    assert (done.code, message in done.err) == (code, True), done.err


def test_a_mount_can_be_refused_and_slow(machines: HyperPodMachines, worker: Machine) -> None:
    worker.run("mkdir", "-p", "/other")
    machines.set_mount_fault("110 Connection timed out")
    assert worker.run("mount", "-t", "lustre", SOURCE, "/other", check=False).code == 110
    machines.set_mount_fault("sleep 1")
    worker.run("mount", "-t", "lustre", SOURCE, "/other")
    worker.run("umount", "/other")


def test_fstab_and_automount_lead_to_it(worker: Machine) -> None:
    options = "noatime,flock,_netdev,x-systemd.automount"
    worker.write("/etc/fstab", NodeFile(text=f"{SOURCE} /auto lustre {options} 0 0\n"))
    shell(worker, "mkdir -p /auto; systemctl daemon-reload; systemctl start auto.automount; ls /auto >/dev/null")
    assert shell(worker, "findmnt --noheadings --output=SOURCE /auto | tail -n1").endswith(f"/{SYSTEM.mount_name}]")
    shell(worker, "systemctl stop auto.automount auto.mount")


# ---------------------------------------------------------------- what can be done to a node
def test_the_name_service_can_be_down_for_a_while(machines: HyperPodMachines, worker: Machine) -> None:
    machines.set_name_service(up=False)
    assert worker.run("timeout", "1", "getent", "hosts", SYSTEM.dns_name, check=False).code != 0
    machines.set_name_service(up=True)
    assert worker.run("getent", "ahostsv4", SYSTEM.dns_name).out


def test_a_cable_can_be_pulled_and_put_back(machines: HyperPodMachines, worker: Machine, controller: Machine) -> None:
    ping = ["ping", "-c1", "-W1", str(worker.node.address)]
    machines.cut(worker.node)
    assert controller.run(*ping, check=False).code != 0
    machines.heal(worker.node)
    # less than the 30 s for which nodes with a stale idea of who has which address are silent
    wait_for("the cable", lambda: controller.run(*ping, check=False).code == 0, seconds=25)


def test_links_of_the_node_do_not_lead_out_of_it(worker: Machine) -> None:
    with pytest.raises(RehearsalError, match="must be written without the link etc"):
        worker.write("/opt/slurm/etc/slurm.conf", NodeFile(text=""))


def test_fails_with_the_names_that_there_are(machines: HyperPodMachines) -> None:
    with pytest.raises(RehearsalError, match="no node is named 'nobody'; there are controller-group-1, worker-group-1"):
        machines.machine("nobody")


@pytest.fixture(scope="module")
def lonely(image: Path) -> Iterator[HyperPodMachines]:
    """Machines of one node that a test may break, and mends."""
    with HyperPodMachines(make_cluster(workers=0), image=image) as made:
        made.boot()
        yield made


def test_a_power_cut_ends_everything_and_keeps_the_disk(lonely: HyperPodMachines) -> None:
    machine = lonely.machine("controller-group-1")
    shell(machine, "echo kept >/root/file; systemd-run --quiet sleep 1000")
    machine.crash()
    assert not machine.alive
    with pytest.raises(RehearsalError, match="node controller-group-1 is not running"):
        machine.run("true")
    lonely.boot()
    assert shell(machine, "cat /root/file") == "kept"
    assert machine.run("pgrep", "sleep", check=False).code == 1


def test_a_disk_can_be_full_for_a_while(lonely: HyperPodMachines) -> None:
    machine = lonely.machine("controller-group-1")
    write = ["sh", "-c", "head -c 1000000 /dev/zero >/root/file"]
    machine.set_disk_full(full=True)
    assert "No space left on device" in machine.run(*write, check=False).err
    machine.set_disk_full(full=False)
    machine.run(*write)


def test_a_shutdown_lets_services_end(lonely: HyperPodMachines) -> None:
    machine = lonely.machine("controller-group-1")
    last_words = "ExecStop=/bin/sh -c 'echo ended >/root/last'\nExecStart=/bin/true\nRemainAfterExit=yes"
    machine.write("/etc/systemd/system/words.service", NodeFile(text=f"[Service]\nType=oneshot\n{last_words}\n"))
    shell(machine, "systemctl start words")
    machine.stop()
    assert not machine.alive
    lonely.boot()
    assert shell(machine, "cat /root/last") == "ended"


def test_a_replaced_node_is_new_with_the_old_name(lonely: HyperPodMachines) -> None:
    machine = lonely.machine("controller-group-1")
    shell(machine, "touch /root/file")
    fresh = lonely.replace(machine.node)
    assert (fresh.name, fresh.address) == (machine.node.name, machine.node.address)
    assert fresh.instance_id != machine.node.instance_id
    new = lonely.machine(fresh.name)
    assert new.run("test", "-e", "/root/file", check=False).code == 1
    assert shell(new, f"{ASK_METADATA}meta-data/instance-id") == fresh.instance_id


# ---------------------------------------------------------------- nothing is left
def on_the_host() -> dict[str, str]:
    mounts = Path("/proc/self/mounts").read_text()
    groups = sorted(str(path) for path in CGROUPS.glob(f"trainyard-{os.getpid()}-*"))
    groups += sorted(str(path) for path in CGROUPS.glob(f"*/trainyard-{os.getpid()}-*"))
    return {
        "links": run(["ip", "-brief", "link"]).out,
        "namespaces": run(["ip", "netns"]).out,
        "mounts": "\n".join(line for line in mounts.splitlines() if "machines" in line or "/run/netns" in line),
        "groups": "\n".join(groups),
    }


def test_two_clusters_with_the_same_addresses_know_nothing_of_each_other(image: Path) -> None:
    before = on_the_host()
    with (
        HyperPodMachines(make_cluster(workers=0), image=image) as one,
        HyperPodMachines(make_cluster(workers=0), image=image) as other,
    ):
        one.boot()
        other.boot()
        shell(one.machine("controller-group-1"), "echo one >/root/file")
        assert other.machine("controller-group-1").run("test", "-e", "/root/file", check=False).code == 1
        during = on_the_host()
        assert {name: during[name] for name in ("links", "namespaces", "mounts")} == {
            name: before[name] for name in ("links", "namespaces", "mounts")
        }
    assert on_the_host() == before


PROGRAM = """
import sys
from pathlib import Path
from cdk_trainyard.rehearsal import HyperPodMachines
from tests.rehearsal.clusters import make_cluster

machines = HyperPodMachines(make_cluster(workers=0), image=Path(sys.argv[1]))
machines.boot()
print(machines.machine("controller-group-1").leader, flush=True)
input()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_rehearsal_that_is_killed_takes_its_nodes_with_it(image: Path, number: signal.Signals) -> None:
    root = Path(__file__).parents[2]
    words = [sys.executable, "-c", PROGRAM, str(image)]
    with subprocess.Popen(
        words,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout
        leader = int(program.stdout.readline())
        assert alive(leader)
        program.send_signal(number)
        program.wait()
        wait_for("the end of the node", lambda: not alive(leader), seconds=PATIENCE_SECONDS)


def test_machines_that_cannot_be_made_leave_nothing(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = on_the_host()

    def refuse(*_: object) -> None:
        raise RehearsalError("no")

    monkeypatch.setattr(HyperPodMachines, "_start_subnet_services", refuse)
    with pytest.raises(RehearsalError, match="no"):
        HyperPodMachines(make_cluster(), image=image)
    assert on_the_host() == before


def test_a_node_that_does_not_come_up_tells_what_it_waits_for(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cdk_trainyard.rehearsal.nodes._BOOT_SECONDS", 3)
    monkeypatch.setattr(Machine, "_is_up", lambda _: False)
    with (
        HyperPodMachines(make_cluster(workers=0), image=image) as made,
        pytest.raises(RehearsalError, match=r"did not come up: waited 3 s in vain .*\nprocess 1 is \d+ here; .*jobs"),
    ):
        made.boot()


def test_slurm_loads_an_ultracluster_and_schedules_on_all_of_it(image: Path) -> None:
    """1,875 trn1.32xlarge are 30,000 chips. One node boots; slurmctld reads the other lines all the same.

    Slurm schedules on nodes that have registered. As an administrator would, the test says of the others that they are
    idle; nothing of the configuration is changed for it.
    """
    cluster = make_cluster(workers=1875)
    controller, workers = cluster.groups
    big = replace(cluster, groups=[controller, replace(workers, instance_type="ml.trn1.32xlarge")])
    with HyperPodMachines(big, image=image) as machines:
        machines.boot(big.nodes[:1])
        machines.provision(big.nodes[:1])
        states = wait_for("an answer of slurmctld", lambda: machines.slurm.states() or None, seconds=PATIENCE_SECONDS)
        assert len(states) == 1875
        head = machines.slurm.controller
        hosts = ",".join(node.host for node in big.with_role("compute"))
        on_paper = ["sbatch", "--test-only", "--exclusive", "--wrap=hostname"]

        def takes_all() -> bool:
            """At once: 10 s later Slurm notices that they do not answer, and would not take them for idle."""
            machines.slurm.mark(hosts, "down", "not here")
            machines.slurm.mark(hosts, "idle")
            done = head.run(*on_paper, "--nodes=1875", check=False)
            return "using 240000 processors on nodes" in done.err

        wait_for("a place for a job on all of them", takes_all, seconds=PATIENCE_SECONDS)
        memory = shell(head, "awk '/VmHWM/ { print $2 }' /proc/$(pidof slurmctld)/status")
        assert int(memory) < 100_000  # KiB
        refused = head.run(*on_paper, "--nodes=1876", check=False)
        assert "Requested node configuration is not available" in refused.err


def test_home_is_on_shared_storage(worker: Machine) -> None:
    assert shell(worker, "getent passwd ubuntu | cut -d: -f6") == f"{MOUNT[2]}/ubuntu"
