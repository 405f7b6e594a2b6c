"""Jobs against the local AWS, without nodes: what arrives, by sessions and by the deployment's bucket."""

import hashlib
import os
from pathlib import Path

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.local import Fault, LocalAws
from cdk_trainyard.operations.transfers import MOST_BY_SESSIONS_BYTES
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.operations.pages import PAGE, permissions
from tests.operations.plugins import plugin_that_runs_here
from tests.operations.stages import PARALLELCLUSTER, queue_node

pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.programs]
HYPERPOD = "hyperpod-cpu-ddp"
SLURM = {
    "sbatch": '#!/bin/sh\nfor script; do :; done\n./"$script" >out 2>&1; echo $? >code; pwd >~/where; echo 7\n',
    "scontrol": '#!/bin/sh\ncd "$(cat ~/where)"; code=$(cat code); [ $code = 0 ] && state=COMPLETED || state=FAILED\n'
    'printf "JobId=7\\n   JobState=%s Reason=None\\n   ExitCode=%s:0\\n   StdOut=%s/out\\n" $state $code "$PWD"\n',
}
"""A Slurm that has run a job when sbatch ends."""


@pytest.fixture(scope="module", params=[HYPERPOD, PARALLELCLUSTER])
def name(request: pytest.FixtureRequest, here: LocalAws) -> str:
    deploy(here, request.param)
    if request.param == PARALLELCLUSTER:
        queue_node(here, "trn1-st-trn1-32xlarge-1")
    return str(request.param)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "plugin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return plugin_that_runs_here(folder, SLURM)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "train"
    folder.mkdir()
    (folder / "job.sbatch").write_text("#!/bin/sh\nsha256sum noise\nexit 3\n")
    (folder / "job.sbatch").chmod(0o755)
    return folder


def noise(job: Path, size: int) -> str:
    data = os.urandom(size)
    (job / "noise").write_bytes(data)
    return f"{hashlib.sha256(data).hexdigest()}  noise\n"


@pytest.mark.parametrize("size", [70_000, MOST_BY_SESSIONS_BYTES + 1])
def test_files_arrive_whole(
    here: LocalAws, name: str, home: Path, job: Path, size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = noise(job, size)
    with asked() as kept:
        assert main(["submit", f"deployments/{name}.yaml", str(job), "--follow"]) == 3
    shown = capsys.readouterr()
    assert shown.out == wanted
    assert "FAILED" in shown.err
    assert [path.name for path in home.iterdir() if path.name.startswith(".trainyard")] == []
    (folder,) = (home / "trainyard-jobs").iterdir()
    assert folder.name.startswith("train-")
    by_bucket = {"s3:PutObject", "s3:DeleteObject"} if size > MOST_BY_SESSIONS_BYTES else set()
    assert kept.permissions == permissions("submit", name) | by_bucket
    line = next(line for line in PAGE.splitlines() if line.startswith("`submit` of more than 2 MiB"))
    assert [each for each in (*by_bucket, "s3:GetObject", "kms:") if each not in line] == []
    for call in kept.calls:
        if call.operation == "PutObject":
            bucket = call.parameters["Bucket"]
            assert "datasets" in bucket
            left = here.client("s3").list_objects_v2(Bucket=bucket, Prefix="trainyard-jobs/")
            assert left["KeyCount"] == 0


@pytest.mark.usefixtures("home")
def test_a_bucket_that_takes_nothing(here: LocalAws, name: str, job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise(job, MOST_BY_SESSIONS_BYTES + 1)
    denied = Fault(call="s3 PutObject", code="AccessDenied", message="not you")
    with here.faults(denied):
        assert main(["submit", f"deployments/{name}.yaml", str(job)]) == 1
    shown = capsys.readouterr().err
    assert "not allowed: not you; more than 2 MiB go by this bucket, which needs s3:PutObject" in shown


def test_what_was_changed_on_its_way_is_not_submitted(
    name: str, home: Path, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noise(job, MOST_BY_SESSIONS_BYTES + 1)
    curl = home.parent / "tools" / "curl"
    curl.write_text('#!/bin/sh\nwhile [ "$1" != --output ]; do shift; done; echo other >"$2"\n')
    curl.chmod(0o755)
    assert main(["submit", f"deployments/{name}.yaml", str(job)]) == 1
    assert "FAILED" in capsys.readouterr().err
    assert not (home / "where").exists()
