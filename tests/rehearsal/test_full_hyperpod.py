"""The whole rehearsal of a HyperPod cluster: every way to configure nodes, a job, a power cut, another terminal."""

import json
import subprocess
from pathlib import Path

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.report import NEVER_PROVEN
from tests.rehearsal.clusters import PATIENCE_SECONDS
from tests.rehearsal.whole import (
    ENVIRONMENT,
    ON_CREATE,
    PROGRAM,
    README,
    ROOT,
    Kept,
    assert_went_on,
    deployment,
    keep,
    rehearse,
    rehearse_here,
)
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment", "empty_aws")]


CONNECTED = """
trainyard nodes "$FILE" worker-group-1
echo "cat /etc/hostname; exit" | trainyard connect "$FILE"
trainyard exec "$FILE" worker-group-1 -- 'echo "exec on $(hostname)"'
trainyard logs "$FILE" worker-group-1
ssh-keygen -q -t ed25519 -N "" -f key
trainyard exec "$FILE" controller-machine --user ubuntu -- \
  "mkdir -p ~/.ssh; echo $(cat key.pub) >>~/.ssh/authorized_keys"
trainyard ssh-config "$FILE" --file config --identity "$PWD/key"
ssh -F config -o UserKnownHostsFile=known hyperpod-cpu-ddp 'echo "ssh on $(hostname)"' </dev/null
printf '#!/bin/bash\nsrun --nodes=2 sh -c '"'"'echo "job on $(hostname)"'"'"'\n' >job.sbatch
trainyard submit "$FILE" job.sbatch --follow -- --nodes=2
"""
"""What the README says that another terminal does, and the other commands that open sessions."""


def play(kept: Kept) -> None:
    """Do to its nodes from another terminal what the README does."""

    def ask(*words: str) -> str:
        done = rehearse(*words, "--rehearsal", kept.number)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert len(ask("nodes").splitlines()) == 3
    assert "all steps are done" in ask("logs", "worker-group-1-1")

    controller, *workers = (line.split()[1:3] for line in ask("nodes").splitlines())
    said = kept.elsewhere(CONNECTED)
    assert controller[0] in said
    assert f"ssh on {controller[0]}" in said
    for host, instance in workers:
        assert any(line.startswith(instance) for line in said)
        assert any(line.startswith(host) and line.endswith(f"exec on {host}") for line in said)
        assert f"job on {host}" in said
    assert sum("all steps are done" in line for line in said) == len(workers)

    ask("crash", "worker-group-1-2")
    assert [line.split()[3] for line in ask("nodes").splitlines()] == ["up", "up", "down"]
    replaced = ask("replace", "worker-group-1-2").split()[-1]
    assert replaced != workers[1][1]
    assert f"{workers[1][0]}  {workers[1][0]}" in kept.elsewhere(f'trainyard exec "$FILE" {replaced} -- hostname')
    assert ask("scale", "worker-group-1", "4") == "3 nodes became 5\n"

    def states() -> list[list[str]]:
        nodes = json.loads(ask("nodes", "--json"))["nodes"]
        return [[node[key] for key in ("instance_id", "power", "state")] for node in nodes]

    # Slurm may miss a node for a moment where much else runs
    idle = [["up", "idle"]] * 3
    wait_for("idle nodes", lambda: [row[1:] for row in states()[2:]] == idle, seconds=PATIENCE_SECONDS, every=2)
    assert states()[2][0] == replaced
    assert ask("scale", "worker-group-1", "2") == "5 nodes became 3\n"
    shell = subprocess.run(
        [*PROGRAM, "shell", "controller-machine-1", "--rehearsal", kept.number],
        input="srun -N2 hostname | wc -l\n",
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shell.stdout.strip() == "2"


def test_a_power_cut_in_mid_training_changes_no_bit(tmp_path: Path) -> None:
    """And the nodes that are kept can be played with."""
    with keep(deployment(tmp_path, ON_CREATE), tmp_path) as kept:
        play(kept)
        done = kept.end()
    assert done.returncode == 0, done.stdout + done.stderr
    shown = promised(README, "trainyard rehearse deployments/hyperpod-cpu-ddp.yaml")
    assert lacking(shown, done.stdout) == [], done.stdout
    # where much else runs, Slurm may miss a node for longer than SlurmdTimeout, and requeue once more
    assert_went_on(done, r"went on at step (\d+), requeued [1-9] times")


@pytest.mark.parametrize(
    "cluster",
    [
        {},
        {"lifecycle": {"on_init_complete": "on_init_complete.sh"}},
        ON_CREATE | {"topology": "legacy"},
    ],
    ids=["image", "on_init_complete", "legacy"],
)
def test_every_way_to_configure_nodes_ends_with_idle_nodes(
    aws: LocalAws, tmp_path: Path, cluster: dict[str, object]
) -> None:
    done = rehearse_here(aws, deployment(tmp_path, cluster), "--no-job", "--max-nodes", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every node idle in Slurm" in done.stdout


def test_nodes_with_accelerators_are_booted_as_many_as_asked(aws: LocalAws) -> None:
    done = rehearse_here(
        aws, ROOT / "deployments" / "hyperpod-trn1-llama2.yaml", "--no-job", "--max-nodes", "2", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the cluster has 5 nodes: 2 are booted (--max-nodes)" in done.stderr
    report = json.loads(done.stdout)
    assert (report["passed"], report["not_proven"][-len(NEVER_PROVEN) :]) == (True, [*NEVER_PROVEN])
    assert {step["title"]: step["outcome"] for step in report["steps"]}["every node idle in Slurm"] == "passed"
    assert sum(step["seconds"] for step in report["steps"]) <= report["seconds"]


def test_a_script_that_fails_is_told_with_its_log(aws: LocalAws, tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    log = "mkdir -p /var/log/provision; echo 'the disk is on fire' >/var/log/provision/provisioning.log"
    (scripts / "on_create.sh").write_text(f"#!/bin/sh\n{log}\nexit 3\n")
    done = rehearse_here(aws, deployment(tmp_path, ON_CREATE), "--scripts", str(scripts), "--max-nodes", "2")
    assert done.returncode == 1
    assert "the disk is on fire" in done.stderr
    assert "FAILED: the scripts failed on controller-machine-1, worker-group-1-1" in done.stderr
