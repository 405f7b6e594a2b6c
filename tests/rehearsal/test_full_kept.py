"""A rehearsal that is kept: what can be done to its nodes from another terminal."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal._process import wait_for
from tests.rehearsal.clusters import PATIENCE_SECONDS
from tests.rehearsal.whole import ENVIRONMENT, ON_CREATE, PROGRAM, ROOT, Kept, deployment, keep, rehearse

pytestmark = [pytest.mark.nodes, pytest.mark.cli]


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


@pytest.fixture
def kept(image: Path, torch_environment: Path, tmp_path: Path) -> Iterator[Kept]:
    """A rehearsal that runs until it is told to end."""
    del image, torch_environment
    with keep(deployment(tmp_path, ON_CREATE), tmp_path, "--no-job") as rehearsal:
        yield rehearsal


def test_a_rehearsal_that_runs_can_be_played_with(kept: Kept) -> None:
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
    wait_for("idle nodes", lambda: [row[1:] for row in states()[2:]] == [["up", "idle"]] * 3, seconds=PATIENCE_SECONDS)
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
