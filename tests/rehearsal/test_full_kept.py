"""A rehearsal that is kept: what can be done to its nodes from another terminal."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal._process import wait_for
from tests.rehearsal.clusters import PATIENCE_SECONDS
from tests.rehearsal.whole import ENVIRONMENT, ON_CREATE, PROGRAM, ROOT, deployment, rehearse

pytestmark = [pytest.mark.nodes, pytest.mark.cli]


@pytest.fixture
def kept(image: Path, torch_environment: Path, tmp_path: Path) -> Iterator[str]:
    """A rehearsal that runs until it is told to end: its process id."""
    del image, torch_environment
    file = deployment(tmp_path, ON_CREATE)
    with (tmp_path / "log").open("w+") as log:
        words = [*PROGRAM, str(file), "--no-job", "--keep"]
        with subprocess.Popen(words, cwd=ROOT, env=ENVIRONMENT, stdout=log, stderr=log) as program:
            try:
                deadline = time.monotonic() + 1800
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

    def states() -> list[list[str]]:
        return [line.split()[2:] for line in ask("nodes").splitlines()]

    # Slurm may miss a node for a moment where much else runs
    wait_for("idle nodes", lambda: [row[1:] for row in states()[2:]] == [["up", "idle"]] * 3, seconds=PATIENCE_SECONDS)
    assert states()[2][0] == replaced
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
