"""Slurm's daemons: when a node is right, when it waits for others, and when it has failed."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lifecycle_scripts.fake_node import FakeNode, make_node, resource_config

pytestmark = pytest.mark.programs

TAKEN = "var/spool/slurmd/conf-cache/slurm.conf"
UNKNOWN = "fatal: Unable to determine this slurmd's NodeName"


@pytest.fixture
def door() -> Iterator[str]:
    """The port of a controller that answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


@pytest.fixture
def closed_door() -> str:
    """A port at which nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


@pytest.fixture
def worker(node: FakeNode) -> FakeNode:
    """A worker whose controller would be on this machine."""
    config = resource_config()
    config["InstanceGroups"][0]["Instances"][0]["CustomerIpAddress"] = "127.0.0.1"
    node.write("opt/ml/config/resource_config.json", json.dumps(config))
    node.write_entry("slurm.sh", ["network", "slurm"])
    return node


def told(node: FakeNode, **environment: str) -> tuple[bool, str]:
    done = node.run("slurm.sh", **environment)
    assert done.returncode in {0, 1}, done.stdout
    return done.returncode == 0, done.stdout


def test_a_worker_that_has_registered_is_done_and_stays_so(worker: FakeNode, closed_door: str) -> None:
    assert told(worker, TRAINYARD_SLURMCTLD_PORT=closed_door)[0]
    restarts = worker.calls.count("systemctl restart slurmd")
    ended, said = told(worker, TRAINYARD_SLURMCTLD_PORT=closed_door)
    assert (ended, "[slurm] start Slurm: nothing to do" in said) == (True, True)
    assert worker.calls.count("systemctl restart slurmd") == restarts


def test_a_worker_does_not_wait_for_a_controller_that_is_late(worker: FakeNode, closed_door: str) -> None:
    worker.write("state/journal", "error: fetch_config: failed\n")
    ended, said = told(worker, STUB_LATE="slurmd", TRAINYARD_SLURMCTLD_PORT=closed_door)
    assert ended, said
    assert "slurmd does not run yet; it tries every 10 s until the controller (127.0.0.1) answers" in said


@pytest.mark.parametrize("sign", ["journal", "file"])
def test_a_node_that_slurm_conf_does_not_name_yet_waits_for_its_line(worker: FakeNode, door: str, sign: str) -> None:
    if sign == "journal":
        worker.write("state/journal", f"slurmd: {UNKNOWN}\n")
    else:
        worker.write(TAKEN, "NodeName=ip-10-1-0-50 NodeAddr=10.1.0.70\nNodeName=ip-10-1-0-8\n")
    ended, said = told(worker, STUB_LATE="slurmd", TRAINYARD_SLURMCTLD_PORT=door)
    assert ended, said
    assert "until the controller (127.0.0.1) knows this node" in said


def test_a_slurmd_that_takes_nothing_from_a_controller_that_answers_has_failed(worker: FakeNode, door: str) -> None:
    worker.write("state/journal", "slurmd: unrecognized option '--conf-server 10.1.0.5'\n")
    ended, said = told(worker, STUB_LATE="slurmd", TRAINYARD_SLURMCTLD_PORT=door)
    assert not ended
    assert "ERROR: slurmd did not register with the controller (127.0.0.1): slurmd: unrecognized option" in said


@pytest.mark.parametrize("state", ["UNKNOWN+NOT_RESPONDING", "DOWN*", "IDLE+DRAIN+NOT_RESPONDING"])
@pytest.mark.parametrize("line", ["NodeName=ip-10-1-0-5 CPUs=1", "NodeName=w1 NodeAddr=10.1.0.7 CPUs=1"])
def test_a_slurmd_that_slurmctld_does_not_hear_has_failed(worker: FakeNode, door: str, state: str, line: str) -> None:
    worker.write(TAKEN, f"NodeName=ip-10-1-0-8\n{line}\n")
    ended, said = told(worker, STUB_NODE_STATE=state, TRAINYARD_SLURMCTLD_PORT=door)
    assert not ended
    assert "slurmd did not register" in said
    assert told(worker, TRAINYARD_SLURMCTLD_PORT=door)[0]  # once it has


@pytest.mark.parametrize(("nodes", "ends"), [("", True), ("NodeName=ip-10-1-0-7\n", False)], ids=["none", "some"])
def test_a_slurmctld_without_nodes_may_come_later_and_one_with_nodes_may_not(
    tmp_path: Path, nodes: str, *, ends: bool
) -> None:
    controller = make_node(tmp_path / "node", "controller")
    controller.write_entry("slurm.sh", ["network", "slurm"])
    controller.write("opt/slurm/etc/slurm.conf", f"TopologyPlugin=topology/tree\n{nodes}")
    controller.write("state/journal", "slurmctld: fatal: no topology\n")
    scontrol = controller.root / "opt/slurm/bin/scontrol"
    scontrol.unlink()
    scontrol.write_text("#!/bin/bash\nexit 1\n")
    scontrol.chmod(0o755)
    ended, said = told(controller)
    assert (ended, "slurm.conf names no node; it is started again every 5 s until it does" in said) == (ends, ends)
    assert ("ERROR: slurmctld does not answer: slurmctld: fatal: no topology" in said) is not ends
    unit = controller.root / "etc/systemd/system/slurmctld.service.d/trainyard.conf"
    assert unit.read_text() == "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestart=on-failure\nRestartSec=5\n"
