"""The job script of export-for-serving, with stand-ins of Slurm's programs that record how they were called."""

import sys
from pathlib import Path

import pytest

from tests.jobs.parts import EXPORT
from tests.jobs.stage import JobStage


@pytest.fixture
def stage(tmp_path: Path) -> JobStage:
    made = JobStage(EXPORT, tmp_path)
    made.srun(offers_auto_resume=False, code=0)
    made.environment |= {"SLURM_JOB_ID": "7", "JOB_FOLDER": str(EXPORT), "PYTHON": sys.executable}
    return made


def test_the_export_is_one_task(stage: JobStage) -> None:
    done = stage.run("job.sbatch", "--checkpoint=x")
    assert done.returncode == 0, done.stderr
    assert stage.step() == f"--ntasks=1 --cpus-per-task=1 {sys.executable} {EXPORT}/export.py --checkpoint=x"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"PYTHON": "/none/python"}, "needs 'PYTHON' to be a program, got '/none/python'"),
        ({"PYTHON": "/bin/false"}, "needs 'PYTHON' to be Python 3.10 or newer, got '/bin/false'"),
        ({"JOB_FOLDER": "/none"}, "must be submitted from its own folder, got /none without export.py"),
    ],
)
def test_what_cannot_run_is_told_and_not_requeued(stage: JobStage, variables: dict[str, str], message: str) -> None:
    done = stage.run("job.sbatch", "--checkpoint=x", **variables)
    assert done.returncode == 2, done.stdout
    assert f"job.sbatch {message}" in done.stderr
    assert stage.called("srun") == stage.called("scontrol") == []
