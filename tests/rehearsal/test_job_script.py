"""The job's shell files, with programs in the place of Slurm's that record how they were called."""

import os
from pathlib import Path

import pytest

from tests.jobs.stage import JobStage

pytestmark = pytest.mark.programs

JOB = Path(__file__).parents[2] / "lifecycle_scripts" / "jobs" / "cpu-ddp"


@pytest.fixture
def stage(tmp_path: Path) -> JobStage:
    made = JobStage(JOB, tmp_path)
    made.environment |= {
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_SUBMIT_DIR": str(tmp_path),
    }
    return made


def test_auto_resume_is_asked_for_where_srun_offers_it(stage: JobStage, tmp_path: Path) -> None:
    stage.srun(offers_auto_resume=True, code=5)
    assert stage.run("job.sbatch", "--steps", "3").returncode == 5
    assert stage.step() == f"--label --kill-on-bad-exit=1 --auto-resume=1 bash {tmp_path}/launch.sh --steps 3"
    assert stage.called("scontrol") == []  # the plugin has tried again already


def test_plain_slurm_never_sees_the_option(stage: JobStage, tmp_path: Path) -> None:
    stage.srun(offers_auto_resume=False, code=0)
    assert stage.run("job.sbatch").returncode == 0
    assert stage.step() == f"--label --kill-on-bad-exit=1 bash {tmp_path}/launch.sh"
    assert stage.called("scontrol") == []


@pytest.mark.parametrize(("count", "requeued"), [("", True), ("2", True), ("3", False)])
def test_a_step_that_failed_is_requeued_a_bounded_number_of_times(stage: JobStage, count: str, requeued: bool) -> None:
    stage.srun(offers_auto_resume=False, code=9)
    assert stage.run("job.sbatch", SLURM_RESTART_COUNT=count).returncode == 9
    assert stage.called("scontrol") == (["requeue 7"] if requeued else [])


@pytest.mark.parametrize("offered", [False, True])
def test_a_job_that_slurm_has_struck_a_node_from_is_requeued_for_as_many_as_at_first(
    stage: JobStage, *, offered: bool
) -> None:
    stage.srun(offers_auto_resume=offered, code=0)
    assert stage.run("job.sbatch").returncode == 0
    stage.srun(offers_auto_resume=offered, code=75)
    for count, requeued in (("1", ["requeue 7"]), ("3", ["requeue 7"])):
        assert stage.run("job.sbatch", SLURM_RESTART_COUNT=count, SLURM_JOB_NUM_NODES="1").returncode == 75
        assert stage.passed_on()["JOB_NODES"] == "2"
        assert stage.called("scontrol") == requeued


def test_a_step_on_fewer_nodes_than_the_job_is_refused(stage: JobStage) -> None:
    done = stage.run("launch.sh", PYTHON="python", **LAUNCH | {"SLURM_STEP_NUM_NODES": "1"})
    assert (done.returncode, "the step has 1 of the 2 nodes of the job" in done.stderr) == (75, True), done.stderr


def test_the_job_has_defaults_and_takes_settings(stage: JobStage, tmp_path: Path) -> None:
    stage.srun(offers_auto_resume=False, code=0)
    stage.run("job.sbatch")
    defaults = {
        "PYTHON": "python3",
        "PROCESSES_PER_NODE": "4",
        "TRAIN_DIRECTORY": f"{tmp_path}/run-7",
    }
    assert defaults.items() <= stage.passed_on().items()
    chosen = {"PYTHON": "/venv/python", "TRAIN_DIRECTORY": f"{tmp_path}/x/run"}
    stage.run("job.sbatch", **chosen)
    assert chosen.items() <= stage.passed_on().items()


LAUNCH = {
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NODELIST": "n[1-2]",
    "SLURM_STEP_NUM_NODES": "2",
    "JOB_NODES": "2",
    "PROCESSES_PER_NODE": "4",
    "TRAIN_DIRECTORY": "/fsx/run",
}


def test_the_processes_meet_on_the_first_node_of_the_step(stage: JobStage) -> None:
    stage.program("scontrol", "printf 'n1\\nn2\\n'")
    stage.program("ip", "echo 'default via 10.0.0.1 dev ens5 proto dhcp'")
    stage.program("python", f'env >"{stage.bin}/env"')
    done = stage.run("launch.sh", "--steps", "3", PYTHON=str(stage.bin / "python"), **LAUNCH)
    assert done.returncode == 0, done.stderr
    (call,) = stage.called("python")
    assert "--rdzv-endpoint=n1:29500 --rdzv-id=7.0.0" in call
    assert "--nnodes=2 --nproc-per-node=4" in call
    assert call.endswith(f"{JOB}/train.py --directory /fsx/run --steps 3")
    assert stage.called("scontrol") == ["show hostnames n[1-2]"]
    assert stage.passed_on()["GLOO_SOCKET_IFNAME"] == "ens5"


def test_place_and_interface_can_be_given(stage: JobStage) -> None:
    stage.program("python", f'env >"{stage.bin}/env"')
    given = {"RENDEZVOUS_HOST": "127.0.0.1", "RENDEZVOUS_PORT": "4000", "GLOO_SOCKET_IFNAME": "lo"}
    stage.run("launch.sh", PYTHON=str(stage.bin / "python"), SLURM_RESTART_COUNT="2", **LAUNCH, **given)
    (call,) = stage.called("python")
    assert "--rdzv-endpoint=127.0.0.1:4000 --rdzv-id=7.0.2" in call


@pytest.mark.parametrize("name", sorted(LAUNCH))
def test_fails_outside_a_job_step(stage: JobStage, name: str) -> None:
    left = {key: value for key, value in LAUNCH.items() if key != name}
    done = stage.run("launch.sh", PYTHON="python", **left)
    assert done.returncode != 0
    assert name in done.stderr


def test_every_file_that_is_started_can_be_executed() -> None:
    assert all(os.access(JOB / name, os.X_OK) for name in ("launch.sh", "train.py"))
