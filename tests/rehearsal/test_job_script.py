"""The job's shell files, with programs in the place of Slurm's that record how they were called."""

import os
import subprocess
from pathlib import Path

import pytest

JOB = Path(__file__).parents[2] / "lifecycle_scripts" / "jobs" / "cpu-ddp"


class Stage:
    """A directory of recording programs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.calls = directory / "calls"
        self.environment = {
            "PATH": f"{directory}:/usr/bin:/bin",
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_NODELIST": "n[1-2]",
            "SLURM_SUBMIT_DIR": str(JOB),
        }

    def program(self, name: str, script: str) -> None:
        path = self.directory / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >>"{self.calls}"\n{script}\n')
        path.chmod(0o755)

    def run(self, script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/bash", str(JOB / script), *arguments],
            env=self.environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def called(self, name: str) -> list[str]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path)
    for name in ("scontrol", "sleep"):
        made.program(name, "")
    return made


def srun(stage: Stage, *, offers_auto_resume: bool, code: int) -> None:
    offer = "echo '  --auto-resume=[0|1]'" if offers_auto_resume else "true"
    stage.program("srun", f'if [[ $1 == --help ]]; then {offer}; exit; fi\nenv >"{stage.directory}/env"\nexit {code}')


def step(stage: Stage) -> str:
    (call,) = [call for call in stage.called("srun") if call != "--help"]
    return call


def test_auto_resume_is_asked_for_where_srun_offers_it(stage: Stage) -> None:
    srun(stage, offers_auto_resume=True, code=5)
    assert stage.run("job.sbatch", "--steps", "3").returncode == 5
    assert step(stage) == f"--label --kill-on-bad-exit=1 --auto-resume=1 bash {JOB}/launch.sh --steps 3"
    assert stage.called("scontrol") == []  # the plugin has tried again already


def test_plain_slurm_never_sees_the_option(stage: Stage) -> None:
    srun(stage, offers_auto_resume=False, code=0)
    assert stage.run("job.sbatch").returncode == 0
    assert step(stage) == f"--label --kill-on-bad-exit=1 bash {JOB}/launch.sh"
    assert stage.called("scontrol") == []


@pytest.mark.parametrize(("count", "requeued"), [("", True), ("2", True), ("3", False)])
def test_a_step_that_failed_is_requeued_a_bounded_number_of_times(stage: Stage, count: str, requeued: bool) -> None:
    srun(stage, offers_auto_resume=False, code=9)
    assert stage.run("job.sbatch", SLURM_RESTART_COUNT=count).returncode == 9
    assert stage.called("scontrol") == (["requeue 7"] if requeued else [])


def test_the_job_has_defaults_and_takes_settings(stage: Stage) -> None:
    srun(stage, offers_auto_resume=False, code=0)
    stage.run("job.sbatch")
    defaults = (stage.directory / "env").read_text().splitlines()
    assert {"PYTHON=python3", "PROCESSES_PER_NODE=4", f"TRAIN_DIRECTORY={JOB}/run-7"} <= set(defaults)
    stage.run("job.sbatch", PYTHON="/venv/python", TRAIN_DIRECTORY="/fsx/run")
    chosen = (stage.directory / "env").read_text().splitlines()
    assert {"PYTHON=/venv/python", "TRAIN_DIRECTORY=/fsx/run"} <= set(chosen)


LAUNCH = {
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NODELIST": "n[1-2]",
    "SLURM_STEP_NUM_NODES": "2",
    "PROCESSES_PER_NODE": "4",
    "TRAIN_DIRECTORY": "/fsx/run",
}


def test_the_processes_meet_on_the_first_node_of_the_step(stage: Stage) -> None:
    stage.program("scontrol", "printf 'n1\\nn2\\n'")
    stage.program("ip", "echo 'default via 10.0.0.1 dev ens5 proto dhcp'")
    stage.program("python", f'env >"{stage.directory}/env"')
    done = stage.run("launch.sh", "--steps", "3", PYTHON=str(stage.directory / "python"), **LAUNCH)
    assert done.returncode == 0, done.stderr
    (call,) = stage.called("python")
    assert "--rdzv-endpoint=n1:29500 --rdzv-id=7.0.0" in call
    assert "--nnodes=2 --nproc-per-node=4" in call
    assert call.endswith(f"{JOB}/train.py --directory /fsx/run --steps 3")
    assert stage.called("scontrol") == ["show hostnames n[1-2]"]
    assert "GLOO_SOCKET_IFNAME=ens5" in (stage.directory / "env").read_text()


def test_place_and_interface_can_be_given(stage: Stage) -> None:
    stage.program("python", f'env >"{stage.directory}/env"')
    given = {"RENDEZVOUS_HOST": "127.0.0.1", "RENDEZVOUS_PORT": "4000", "GLOO_SOCKET_IFNAME": "lo"}
    stage.run("launch.sh", PYTHON=str(stage.directory / "python"), SLURM_RESTART_COUNT="2", **LAUNCH, **given)
    (call,) = stage.called("python")
    assert "--rdzv-endpoint=127.0.0.1:4000 --rdzv-id=7.0.2" in call


@pytest.mark.parametrize("name", sorted(LAUNCH))
def test_fails_outside_a_job_step(stage: Stage, name: str) -> None:
    left = {key: value for key, value in LAUNCH.items() if key != name}
    done = stage.run("launch.sh", PYTHON="python", **left)
    assert done.returncode != 0
    assert name in done.stderr


def test_every_file_that_is_started_can_be_executed() -> None:
    assert all(os.access(JOB / name, os.X_OK) for name in ("launch.sh", "train.py"))
