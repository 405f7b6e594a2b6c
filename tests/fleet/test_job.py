"""The job example, from the master: hosts of the hostfile, logs and checkpoints on shared storage, resume."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import scripts_folder

pytestmark = pytest.mark.programs

JOB = scripts_folder() / "jobs/fleet-ddp"
# ssh HOST COMMAND runs it here, unless the host is down; as the program of each node stands a small one that counts
# steps in its checkpoint and may be told to die once
SSH = r"""#!/bin/bash
host='' command=''
while (($# > 0)); do
  case $1 in
    -o) shift ;;
    --) host=$2 command=$3; break ;;
  esac
  shift
done
echo "${host}: ${command}" >>"${STATE}/ssh"
[[ ! -e ${STATE}/down-${host} ]] || exit 255
NODE=${host} exec bash -c "${command}"
"""
PYTHON = r"""#!/bin/bash
echo "$*" >>"${STATE}/python"
while (($# > 0)); do
  [[ $1 != --directory ]] || directory=$2
  shift
done
step=$(cat "${directory}/step-${NODE}" 2>/dev/null || echo 0)
echo "starts at ${step}"
for ((; step < 4; step++)); do
  echo "$((step + 1))" >"${directory}/step-${NODE}"
  if ((step == 1)) && [[ -e ${STATE}/dies-${NODE} ]]; then
    until [[ -s ${directory}/step-10.1.0.9 ]]; do sleep 0.1; done # the other has a checkpoint too
    mv "${STATE}/dies-${NODE}" "${STATE}/down-${NODE}"
    printf '10.1.0.9 slots=8\n10.1.0.77 slots=8\n' >"${TRAINYARD_HOSTFILE}"
    exit 7
  fi
done
echo done
"""
MPIRUN = '#!/bin/bash\necho "$*" >>"${STATE}/mpirun"\n'


class Master:
    """A master with stand-ins."""

    def __init__(self, directory: Path) -> None:
        self.shared, self.state, self.bin = directory / "fsx", directory / "state", directory / "bin"
        self.hostfile = directory / "hostfile"
        for folder in (self.shared, self.state, self.bin):
            folder.mkdir()
        for name, text in (("ssh", SSH), ("python", PYTHON), ("mpirun", MPIRUN)):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        for name in ("bash", "mkdir", "dirname", "sleep", "cat", "mv"):
            found = shutil.which(name)
            assert found
            (self.bin / name).symlink_to(found)
        self.hostfile.write_text("10.1.0.9 slots=8\n10.1.0.10 slots=8\n10.1.0.11 slots=8\n")

    def launch(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(JOB / "launch.sh"), *arguments],
            env={
                "PATH": str(self.bin),
                "STATE": str(self.state),
                "PYTHON": str(self.bin / "python"),
                "TRAINYARD_HOSTFILE": str(self.hostfile),
                "TRAINYARD_SHARED": str(self.shared),
                "NODE_WAIT": "0",
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def said(self, program: str) -> list[str]:
        path = self.state / program
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def master(tmp_path: Path) -> Master:
    """A master of a fleet of three."""
    return Master(tmp_path)


def test_two_nodes_of_the_hostfile_run_the_program_and_keep_logs_and_checkpoints(master: Master) -> None:
    done = master.launch("bert", "train.py", "--steps", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = sorted(master.said("python"))
    assert "-m torch.distributed.run --nnodes=2 --node-rank=0 --nproc-per-node=8" in first
    assert "--rdzv-endpoint=10.1.0.9:29500" in first
    assert "--node-rank=1" in second
    assert first.endswith(f"train.py --directory {master.shared}/checkpoints/bert --steps 4")
    logs = master.shared / "logs/bert/attempt-0"
    assert {path.name for path in logs.iterdir()} == {"10.1.0.9.log", "10.1.0.10.log"}
    assert (logs / "10.1.0.9.log").read_text() == "starts at 0\ndone\n"


def test_a_lost_node_is_replaced_and_the_job_goes_on_from_its_checkpoint(master: Master) -> None:
    (master.state / "dies-10.1.0.10").touch()
    done = master.launch("bert", "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attempt 0 ended with code 7" in done.stdout
    assert "attempt 1 with torchrun on 10.1.0.9 10.1.0.77" in done.stdout
    first = (master.shared / "logs/bert/attempt-1/10.1.0.9.log").read_text()
    assert first.startswith("starts at")
    assert first != "starts at 0\ndone\n"


def test_a_failure_is_not_overlooked_when_all_nodes_end_at_once(master: Master) -> None:
    (master.bin / "python").write_text("#!/bin/bash\n[[ ${NODE} != 10.1.0.10 ]]\n")
    done = master.launch("bert", "train.py", MAX_RESTARTS="0")
    assert done.returncode == 1
    assert "attempt 0 ended with code 1" in done.stdout


def test_a_node_that_does_not_answer_is_passed_over(master: Master) -> None:
    (master.state / "down-10.1.0.9").touch()
    done = master.launch("bert", "train.py")
    assert done.returncode == 0
    assert "on 10.1.0.10 10.1.0.11" in done.stdout


def test_a_second_launch_resumes_and_writes_over_no_log(master: Master) -> None:
    assert master.launch("bert", "train.py").returncode == 0
    assert master.launch("bert", "train.py").returncode == 0
    assert (master.shared / "logs/bert/attempt-1/10.1.0.9.log").read_text() == "starts at 4\ndone\n"


def test_mpirun_gets_hosts_slots_and_the_meeting_point(master: Master) -> None:
    done = master.launch("bert", "train.py", LAUNCHER="mpirun", PROCESSES_PER_NODE="4")
    assert done.returncode == 0, done.stdout + done.stderr
    (call,) = master.said("mpirun")
    assert "--host 10.1.0.9:4,10.1.0.10:4 -np 8" in call
    assert "-x MASTER_ADDR=10.1.0.9 -x MASTER_PORT=29500" in call
    assert f"{JOB}/rank.sh {master.bin}/python train.py --directory {master.shared}/checkpoints/bert" in call


def test_a_process_of_mpirun_gets_the_variables_of_torch() -> None:
    environment = {
        "PATH": "/usr/bin:/bin", "OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8",
        "OMPI_COMM_WORLD_LOCAL_RANK": "1", "MASTER_ADDR": "10.1.0.9", "MASTER_PORT": "29500",
    }  # fmt: skip
    show = ["bash", "-c", "echo ${RANK} ${WORLD_SIZE} ${LOCAL_RANK}"]
    done = subprocess.run([str(JOB / "rank.sh"), *show], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "5 8 1\n"


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "words"),
    [
        (["bert"], {}, 2, "usage:"),
        (["bert", "train.py"], {"LAUNCHER": "srun"}, 2, "LAUNCHER must be torchrun or mpirun, got srun"),
        (["bert", "train.py"], {"NODES": "4"}, 1, "waited in vain for 4 nodes"),
        (["bert", "train.py"], {"TRAINYARD_SHARED": ""}, 1, "set where there is a shared file system"),
    ],
)
def test_fails_with_a_sentence(
    master: Master, arguments: list[str], environment: dict[str, str], code: int, words: str
) -> None:
    done = master.launch(*arguments, **environment)
    assert done.returncode == code
    assert words in done.stdout + done.stderr


def test_fails_after_the_last_restart(master: Master) -> None:
    (master.bin / "mpirun").write_text("#!/bin/bash\nexit 3\n")
    done = master.launch("bert", "train.py", LAUNCHER="mpirun", MAX_RESTARTS="1")
    assert done.returncode == 1
    assert "given up after 2 attempts" in done.stdout
