"""The whole: a deployment file, the real cdk CLI, the local AWS, nodes, scripts, a job, a power cut."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.nodes, pytest.mark.cli]

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "cdk_trainyard.rehearsal"]
ENVIRONMENT = os.environ | {"PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}


ON_CREATE = {"lifecycle": {"on_create": "on_create.sh"}}


def deployment(directory: Path, cluster: Mapping[str, object]) -> Path:
    """Return the default deployment with another lifecycle, and what else ``cluster`` says."""
    content = yaml.safe_load((ROOT / "deployments" / "hyperpod-cpu-ddp.yaml").read_text())
    del content["cluster"]["lifecycle"]
    path = directory / "deployment.yaml"
    path.write_text(yaml.safe_dump(content | {"cluster": content["cluster"] | cluster}))
    return path


def rehearse(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *words], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def assert_went_on(done: "subprocess.CompletedProcess[str]", said: str) -> None:
    """The job went on from a snapshot: the one of step 20, or a later one that was written before the power was cut."""
    found = re.search(said, done.stdout)
    assert found, done.stdout
    step = int(found[1])
    assert step >= 20
    assert step % 5 == 0


@pytest.mark.usefixtures("image", "torch_environment")
def test_a_power_cut_in_mid_training_changes_no_bit(tmp_path: Path) -> None:
    done = rehearse(str(deployment(tmp_path, ON_CREATE)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout
    assert "both runs learned the same, to the bit" in done.stdout
    assert_went_on(done, r"went on at step (\d+), requeued 1 times")


@pytest.mark.usefixtures("image", "torch_environment")
@pytest.mark.parametrize(
    "cluster",
    [
        {},
        {"lifecycle": {"on_init_complete": "on_init_complete.sh"}},
        ON_CREATE | {"topology": "legacy"},
    ],
    ids=["image", "on_init_complete", "legacy"],
)
def test_every_way_to_configure_nodes_ends_with_idle_nodes(tmp_path: Path, cluster: dict[str, object]) -> None:
    done = rehearse(str(deployment(tmp_path, cluster)), "--no-job")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every node idle in Slurm" in done.stdout


@pytest.mark.usefixtures("image", "torch_environment")
def test_nodes_with_accelerators_are_booted_as_many_as_asked() -> None:
    done = rehearse("deployments/hyperpod-trn1-llama2.yaml", "--no-job", "--max-nodes", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the cluster has 5 nodes: 3 are booted (--max-nodes)" in done.stderr


@pytest.mark.usefixtures("image", "torch_environment")
def test_a_script_that_fails_is_told_with_its_log(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    log = "mkdir -p /var/log/provision; echo 'the disk is on fire' >/var/log/provision/provisioning.log"
    (scripts / "on_create.sh").write_text(f"#!/bin/sh\n{log}\nexit 3\n")
    file = deployment(tmp_path, ON_CREATE)
    done = rehearse(str(file), "--scripts", str(scripts))
    assert done.returncode == 1
    assert "the disk is on fire" in done.stderr
    assert "FAILED: the scripts failed on controller-machine-1, worker-group-1-1" in done.stderr


@pytest.mark.usefixtures("image", "torch_environment")
def test_parallelcluster_starts_the_nodes_that_a_job_asks_for() -> None:
    done = rehearse("deployments/parallelcluster-trn1.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trn1-dy-trn1-32xlarge-1 trn1-dy-trn1-32xlarge-2" in done.stdout
    assert "2 nodes, 256 of 256 CPUs" in done.stdout
    assert "the bucket's neuron_node.sh trusts the test key" in done.stderr
    assert "Neuron's key: a test key signed the stubs" in done.stdout


@pytest.mark.usefixtures("image", "torch_environment")
def test_parallelcluster_on_amazon_linux_installs_neuron(tmp_path: Path) -> None:
    content = yaml.safe_load((ROOT / "deployments" / "parallelcluster-trn1.yaml").read_text())
    (queue,) = content["cluster"]["queues"]
    queue["compute"][0]["min_count"] = 1
    for section in (content["cluster"]["head_node"], queue):
        section["on_configured"] = [{"script": "neuron.sh"}]
    content["cluster"]["operating_system"] = "alinux2023"
    file = tmp_path / "deployment.yaml"
    file.write_text(yaml.safe_dump(content))
    done = rehearse(str(file), "--no-job", "--max-nodes", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trn1-st-trn1-32xlarge-1: done" in done.stderr
    assert "the bucket's neuron_node.sh trusts the test key" in done.stderr
    assert "will fail" not in done.stderr


@pytest.mark.usefixtures("image", "torch_environment")
@pytest.mark.parametrize(("file", "nodes"), [("fleet-p3dn-bert", 9), ("fleet-p5-capacity-block", 16)])
def test_a_fleet_replaces_a_lost_node_and_its_job_goes_on(file: str, nodes: int) -> None:
    done = rehearse(f"deployments/{file}.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the cluster has {nodes} nodes: 3 are booted (--max-nodes)" in done.stderr
    assert "9 of 9 pairs" in done.stdout
    assert_went_on(done, r"started at steps 0, (\d+), ")
    assert "both runs learned the same, to the bit" in done.stdout


@pytest.fixture
def kept(image: Path, torch_environment: Path, tmp_path: Path) -> Iterator[str]:
    """A rehearsal that runs until it is told to end: its process id."""
    del image, torch_environment
    file = deployment(tmp_path, ON_CREATE)
    with (tmp_path / "log").open("w+") as log:
        words = [*PROGRAM, str(file), "--no-job", "--keep"]
        with subprocess.Popen(words, cwd=ROOT, env=ENVIRONMENT, stdout=log, stderr=log) as program:
            try:
                deadline = time.monotonic() + 600
                while "the nodes are kept" not in (said := (tmp_path / "log").read_text()):
                    assert program.poll() is None, said
                    assert time.monotonic() < deadline, said
                    time.sleep(0.2)
                yield subprocess.run(
                    ["pgrep", "--parent", str(program.pid), "--full", "cdk_trainyard.rehearsal"],  # noqa: S607
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.strip()
            finally:
                program.send_signal(signal.SIGTERM)


def test_a_rehearsal_that_runs_can_be_played_with(kept: str) -> None:
    def ask(*words: str) -> str:
        done = rehearse(*words, "--rehearsal", kept)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert len(ask("nodes").splitlines()) == 3
    assert "all steps are done" in ask("logs", "worker-group-1-1")
    ask("crash", "worker-group-1-2")
    assert [line.split()[3] for line in ask("nodes").splitlines()] == ["up", "up", "down"]
    replaced = ask("replace", "worker-group-1-2").split()[-1]
    assert ask("scale", "worker-group-1", "4") == "3 nodes became 5\n"
    states = [line.split()[2:] for line in ask("nodes").splitlines()]
    assert states[2] == [replaced, "up", "idle"]
    assert [row[1:] for row in states[3:]] == [["up", "idle"], ["up", "idle"]]
    assert ask("scale", "worker-group-1", "2") == "5 nodes became 3\n"
    shell = subprocess.run(
        [*PROGRAM, "shell", "controller-machine-1", "--rehearsal", kept],
        input="srun -N2 hostname | wc -l\n",
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout.strip() == "2"
