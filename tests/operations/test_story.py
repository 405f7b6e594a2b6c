"""What the README tells, in one go: from a file to a job that ends although a node was lost.

The AWS is the local one and the nodes are rehearsed: real systemd, real Slurm, real files.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import HyperPodMachines
from tests.asking import asking
from tests.doctor.parts import changed, put_right
from tests.operations.nodes import HYPERPOD, rehearsed

pytestmark = [pytest.mark.cli, pytest.mark.nodes]
QUOTA = "ml.c5.4xlarge for cluster usage"
JOB = """#!/bin/bash
echo "attempt ${SLURM_RESTART_COUNT:-0}"
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || srun sleep 3600
srun hostname | sort
"""
TRAINYARD = [sys.executable, "-P", "-m", "cdk_trainyard"]
Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A deployment file; HyperPod tells events of clusters with continuous provisioning."""
    changed(tmp_path, HYPERPOD, ("cluster:\n", "cluster:\n  provisioning: Continuous\n"))
    return str(tmp_path / "x.yaml")


@pytest.fixture
def account(aws: LocalAws, file: str) -> Iterator[LocalAws]:
    """An account that was bootstrapped, and has every quota but one."""
    aws.reset()
    with asking(aws):
        put_right(aws, Deployment.load(Path(file)))
        aws.set_quota("sagemaker", QUOTA, 1, "us-east-1")
        yield aws
    aws.reset()


@contextmanager
def started(words: list[str], said: TextIO) -> Iterator["subprocess.Popen[str]"]:
    """Run a program until the block ends."""
    with subprocess.Popen(words, stdout=said, stderr=said, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until(text: str, log: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until a program has said something."""
    while text not in log.read_text():
        assert process.poll() is None, log.read_text()
        time.sleep(0.2)


def lost(machines: HyperPodMachines, account: LocalAws) -> str:
    """Cut the power of the last worker, as HyperPod's health agent finds it; return its instance id in AWS."""
    victim = machines.cluster.with_role("compute")[-1]
    machines.machine(victim.name).crash()
    machines.slurm.mark(victim.host, "down", "power cut")
    account.fail_node(victim.instance_id, "the node does not answer")
    return victim.instance_id


def test_from_a_file_to_a_job_that_ends(
    account: LocalAws, file: str, image: Path, tmp_path: Path, capsys: Capsys
) -> None:
    assert main(["check", file]) == 0

    assert main(["doctor", file]) == 1
    assert QUOTA in capsys.readouterr().out
    account.set_quota("sagemaker", QUOTA, 2, "us-east-1")
    assert main(["doctor", file]) == 0

    assert main(["deploy", file, "--yes"]) == 0
    assert "How to connect" in capsys.readouterr().out
    assert main(["status", file]) == 0
    assert "InService" in capsys.readouterr().out

    with rehearsed(account, image, tmp_path) as machines:
        words = [*TRAINYARD, "connect", file]
        done = subprocess.run(words, input="sinfo\nexit\n", capture_output=True, text=True, check=False)
        assert (done.returncode, "idle" in done.stdout) == (0, True), done.stderr

        job, log = tmp_path / "job.sh", tmp_path / "log"
        job.write_text(JOB)
        words = [*TRAINYARD, "submit", file, str(job), "--follow", "--", "--nodes=2", "--requeue"]
        with log.open("w") as said, started(words, said) as follower:
            until("attempt 0", log, follower)
            failed = lost(machines, account)

            assert main(["events", file]) == 0
            assert f"HyperPod, {failed}" in capsys.readouterr().out.partition("\n")[0]
            assert main(["replace", file, failed, "--yes"]) == 0
            victim = next(node for node in machines.cluster.nodes if node.instance_id == failed)
            fresh = machines.replace(victim)  # HyperPod does, and the rehearsal is HyperPod here
            assert [run.code for run in machines.provision([fresh])] == [0]
            assert follower.wait(1200) == 0, log.read_text()
        workers = [node.host for node in machines.cluster.with_role("compute")]
        assert log.read_text().count("\n".join(sorted(workers))) == 1
