"""A cluster with a log-in node: HyperPod's partition `dev` has it too, so jobs may run there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import Group, HyperPodMachines, Node
from cdk_trainyard.rehearsal.nodes import NodeFile
from tests.rehearsal.clusters import MOUNT, SUBNET, SYSTEM, wait_until_idle
from tests.rehearsal.script_cluster import (
    CONTROLLER,
    FIRST,
    SOURCE,
    bundle,
    cluster_of,
    fresh,
    run,
    shell,
    text,
    until,
    until_slurmd_answers,
)

pytestmark = pytest.mark.nodes

LOGIN = "login-group-1"
OPTIONS_IN_BRACES = """\
[Service]
ExecStart=
ExecStart=/opt/slurm/sbin/slurmd -D ${SLURMD_OPTIONS}
"""


@pytest.fixture(scope="module")
def machines(image: Path) -> Iterator[HyperPodMachines]:
    """A controller, a worker and a log-in node."""
    made = cluster_of(1)
    door = Group(
        name="login-group", role="login", instance_type="ml.m5.large", lifecycle=made.groups[0].lifecycle, lustre=MOUNT
    )
    node = Node(group="login-group", number=1, address=SUBNET[40], instance_id="i-0123456789abcdef0")
    cluster = replace(made, groups=[*made.groups, door], nodes=[*made.nodes, node])
    with HyperPodMachines(cluster, image=image, bundles={SOURCE: bundle()}) as booted:
        booted.boot()
        # as a unit may have it: the options are one argument, whatever blanks are in them
        for machine in booted.by_name.values():
            machine.write("/etc/systemd/system/slurmd.service.d/braces.conf", NodeFile(text=OPTIONS_IN_BRACES))
        ended = booted.provision()
        assert [done.code for done in ended] == [0, 0, 0], [done.output for done in ended]
        wait_until_idle(booted, booted.cluster.with_role("compute", "login"))
        yield booted


def as_user(machines: HyperPodMachines, *words: str) -> str:
    return machines.machine(CONTROLLER).run("runuser", "--user", "ubuntu", "--", *words).out.strip()


def test_a_job_of_dev_runs_on_the_login_node_and_leaves_it_idle(machines: HyperPodMachines) -> None:
    door = machines.machine(LOGIN).node
    said = as_user(machines, "srun", "--partition=dev", "--nodelist", door.host, "sh", "-c", "echo $TMPDIR")
    assert said.startswith("/tmp/job-")  # noqa: S108  the prolog ran there
    wait_until_idle(machines, [door])


def test_a_partition_of_a_group_and_the_hostfile_leave_it_out(machines: HyperPodMachines) -> None:
    worker = machines.machine(FIRST).node.host
    assert as_user(machines, "sinfo", "--noheader", "--partition=workers", "--Node", "--format=%N") == worker
    until("the hostfile", lambda: (machines.shared(SYSTEM) / "trainyard/hostfile").read_text() == f"{worker}\n")


def test_a_node_whose_slurmd_cannot_start_or_is_not_let_in_fails(machines: HyperPodMachines) -> None:
    """It does not take its options, and then it has another key than slurmctld: without both it joins."""
    machine = fresh(machines, FIRST)
    deaf = OPTIONS_IN_BRACES.replace("${SLURMD_OPTIONS}", "--conf-serverr=${SLURMD_OPTIONS}")
    machine.write("/etc/systemd/system/slurmd.service.d/zz-deaf.conf", NodeFile(text=deaf))
    failed = run(machines, machine, TRAINYARD_DEADLINE="5", TRAINYARD_LOG_GRACE="0")
    assert failed.code != 0, failed.output
    assert "ERROR: slurmd did not register with the controller (10.1.128.10): " in failed.output
    shell(machine, "rm /etc/systemd/system/slurmd.service.d/zz-deaf.conf; systemctl daemon-reload")

    key = (machine.root / "etc/munge/munge.key").read_bytes()
    machine.write("/etc/munge/munge.key", NodeFile(text=bytes(reversed(key)), mode=0o400, owner="munge"))
    shell(machine, "systemctl restart munge")
    failed = run(machines, machine, TRAINYARD_DEADLINE="5", TRAINYARD_LOG_GRACE="0")
    assert failed.code != 0, failed.output
    assert "slurmd did not register" in failed.output
    machine.write("/etc/munge/munge.key", NodeFile(text=key, mode=0o400, owner="munge"))
    shell(machine, "systemctl restart munge")
    done = run(machines, machine)
    assert done.code == 0, done.output
    assert "WARNING: slurmd" not in done.output
    until_slurmd_answers(machine)
    wait_until_idle(machines, [machine.node])
    assert "SLURMD_OPTIONS" in text(machine, "/etc/systemd/system/slurmd.service.d/trainyard.env")
