"""A job's files, what is refused of them, and an output that is followed through sessions that end."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.operations import Node, OperationError
from cdk_trainyard.operations.commands import Ended, Heard
from cdk_trainyard.operations.jobs import Job, Jobs, _following, packed
from cdk_trainyard.operations.transfers import MOST_BY_SESSIONS_BYTES

NODE = Node(id="i-1", group="head", type="m5.large", state="Running", target="i-1")
SCRIPT = "#!/bin/sh\ntrue\n"


class Told:
    """Commands that answer as they are told, and keep the lines that they were given."""

    def __init__(self, *answers: tuple[int | None, list[str]]) -> None:
        self.answers = list(answers)
        self.lines: list[str] = []

    def one(self, node: Node, line: str, heard: Heard, *, user: str) -> Ended:
        assert user == "ubuntu"
        self.lines.append(line)
        code, output = self.answers.pop(0)
        for text in output:
            heard(node, text)
        return Ended(node=node, code=code, why="" if code is not None else "it broke")


def jobs(*answers: tuple[int | None, list[str]]) -> tuple[Jobs, Told]:
    told = Told(*answers)
    return Jobs(told, NODE, "ubuntu"), told


def names(job: Job) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(job.data)) as archive:
        return {member.name.removeprefix("./") for member in archive if member.isfile()}


def test_a_script_goes_alone_and_a_folder_whole(tmp_path: Path) -> None:
    for name in ("run.sbatch", "data/x", ".git/config", "a/__pycache__/y", "big one"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SCRIPT)
    alone = packed(tmp_path / "run.sbatch")
    assert (alone.name, alone.script, names(alone)) == ("run", "run.sbatch", {"run.sbatch"})
    whole = packed(tmp_path)
    assert (whole.script, names(whole)) == ("run.sbatch", {"run.sbatch", "data/x", "big one"})
    (tmp_path / "job.sbatch").write_text(SCRIPT)
    assert packed(tmp_path).script == "job.sbatch"


@pytest.mark.parametrize(
    ("files", "path", "said"),
    [
        ({}, "x", "there is no such script or folder"),
        ({"x": SCRIPT}, "", "it has no job.sbatch"),
        ({"a.sbatch": SCRIPT, "b.sbatch": SCRIPT}, "", "which script is the job? It has a.sbatch, b.sbatch"),
        ({"a.sbatch": "echo x"}, "", "whose first line is its program, as #!/bin/bash"),
        ({"a.sh": "#!/bin/sh\r\ntrue\r\n"}, "a.sh", "its lines end as those of DOS"),
    ],
)
def test_what_sbatch_would_refuse(
    files: dict[str, str], path: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, newline="")
    assert main(["submit", "deployments/hyperpod-cpu-ddp.yaml", str(tmp_path / path)]) == 1
    assert said in capsys.readouterr().err


def test_what_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(name="mine", script="x.sh", data=b"x" * (MOST_BY_SESSIONS_BYTES + 1))
    made, told = jobs()
    with pytest.raises(OperationError, match=r"mine: 2.0 MiB, packed, and sessions carry 2 MiB, where .* no bucket"):
        made.submit(job)
    assert told.lines == []
    monkeypatch.setattr("cdk_trainyard.operations.jobs.MOST_BY_BUCKET_BYTES", 100)
    (tmp_path / "job.sbatch").write_text(SCRIPT)
    with pytest.raises(OperationError, match="packed, and a job's folder may have 0 MiB at most"):
        packed(tmp_path)


def test_a_fleet_has_no_slurm_and_an_array_is_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x").write_text(SCRIPT)
    assert main(["submit", "deployments/fleet-p3dn-bert.yaml", str(tmp_path / "x")]) == 1
    assert "it has no Slurm: 'trainyard exec' runs a command on nodes" in capsys.readouterr().err
    words = ["submit", "deployments/hyperpod-cpu-ddp.yaml", str(tmp_path / "x"), "--follow", "--", "--array=1-3"]
    assert main(words) == 2


def test_what_sbatch_says_is_passed_on() -> None:
    job = Job(name="x", script="x.sh", data=b"x" * 40_000)
    made, told = jobs((0, []), (0, []), (0, ["/home/me/trainyard-jobs/x", "12;cluster"]))
    assert made.submit(job, ["--comment", "a b"]).number == "12"
    assert told.lines[-1].endswith("sbatch --parsable --comment 'a b' x.sh")
    for answers, said in (
        ([(None, [])], "head i-1: it broke"),
        ([(0, []), (0, []), (1, ["sbatch: error: no such partition"])], "sbatch: error: no such partition"),
        ([(0, []), (0, []), (3, [])], "head i-1: exit code 3"),
        ([(0, []), (0, []), (0, ["what?"])], "sbatch named no job: what"),
    ):
        with pytest.raises(OperationError, match=said):
            jobs(*answers)[0].submit(job)


def test_a_session_that_ends_is_followed_by_another() -> None:
    heard: list[str] = []
    states: list[str] = []
    made, told = jobs(
        (None, ["trainyard-state PENDING Resources", "trainyard-state RUNNING None", "a", "b"]),
        (None, ["trainyard-state RUNNING None", "c"]),
        (None, ["trainyard-state again", "a"]),
        (4, ["b", "trainyard-state FAILED NonZeroExitCode"]),
    )
    assert made.follow("12", heard.append, states.append) == 4
    assert heard == ["a", "b", "c", "a", "b"]
    assert states == ["PENDING Resources", "RUNNING None", "FAILED NonZeroExitCode"]
    assert [line.split(";")[0].strip() for line in told.lines] == ["seen=0", "seen=2", "seen=3", "seen=1"]


def test_following_gives_up_and_says_so() -> None:
    made, told = jobs(*[(None, [])] * 5)
    with pytest.raises(OperationError, match="job 12 goes on, but its output is not followed: it broke"):
        made.follow("12", print, print)
    assert told.answers == []
    with pytest.raises(OperationError, match="Slurm knows nothing of job 12 any more"):
        jobs((75, []))[0].follow("12", print, print)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("shown", "seen", "code", "lines"),
    [
        ("JobState=COMPLETED Reason=None\n ExitCode=0:0", 1, 0, ["two", "end"]),
        ("JobState=FAILED Reason=NonZeroExitCode\n ExitCode=3:0", 0, 3, ["one", "two", "end"]),
        ("JobState=CANCELLED Reason=None\n ExitCode=0:15", 2, 143, ["end"]),
        ("JobState=TIMEOUT Reason=TimeLimit\n ExitCode=0:0", 9, 1, ["trainyard-state again", "one", "two", "end"]),
    ],
)
def test_the_line_that_follows(shown: str, seen: int, code: int, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "out put").write_text("one\ntwo\nend")
    text = f"JobId=7 JobName=x\n   {shown}\n   StdOut={tmp_path}/out put"
    (tmp_path / "scontrol").write_text(f"#!/bin/sh\ncat <<'E'\n{text}\nE\n")
    (tmp_path / "scontrol").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", _following("7", seen)],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    *output, state = done.stdout.splitlines()
    assert (done.returncode, output, done.stderr) == (code, lines, "")
    words = dict(word.split("=") for word in shown.split())
    assert state == f"trainyard-state {words['JobState']} {words['Reason']}"
