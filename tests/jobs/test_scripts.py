"""The shell files of neuron-llama, with stand-ins of Slurm's and Neuron's programs that record how they were called."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.jobs.parts import LLAMA, write_tiny, write_tokens
from tests.jobs.stage import JobStage
from tests.shown import lacking, promised

pytestmark = pytest.mark.programs


class Stage(JobStage):
    """Programs of Slurm, and shared storage with a dataset."""

    def __init__(self, directory: Path) -> None:
        super().__init__(LLAMA, directory)
        self.run_directory, self.cache = directory / "run", directory / "cache"
        self.device_root = directory / "root"
        (self.device_root / "dev").mkdir(parents=True)
        for number in range(2):
            (self.device_root / "dev" / f"neuron{number}").touch()
        write_tiny(directory)
        write_tokens(directory)
        self.words = [
            f"--dataset={directory}/tokens", f"--model={directory}/tiny.json", "--tensor-parallel=2",
            "--sequence-length=16", "--global-batch=8", "--attention=plain",
        ]  # fmt: skip
        (self.bin / "python").symlink_to(sys.executable)
        self.environment |= {
            "PYTHON": sys.executable,
            "RUN_DIRECTORY": str(self.run_directory),
            "CACHE_DIRECTORY": str(self.cache),
            "CORES_PER_NODE": "4",
            "NODES": "2",
            "ALLOW_LOCAL_STORAGE": "1",
        }
        self.program("scancel", "")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


# ---------------------------------------------------------------- submit.sh
def sbatch(stage: Stage, *, refuses_training: bool = False) -> None:
    refusal = "if [[ $* == *train.sbatch* ]]; then echo 'sbatch: error: no' >&2; exit 1; fi" if refuses_training else ""
    stage.program("sbatch", f'env >"{stage.bin}/env"\n{refusal}\n[[ $* == *train.sbatch* ]] && echo 42 || echo "41;c"')


def test_two_jobs_are_submitted_and_the_second_waits_for_the_first(stage: Stage) -> None:
    sbatch(stage)
    done = stage.run("submit.sh", *stage.words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["compile 41", "train 42 after 41", f"output {stage.run_directory}"]
    compiles, trains = stage.called("sbatch")
    common = f"--parsable --nodes=2 --chdir={stage.run_directory} --output={stage.run_directory}/%x-%j.out"
    arguments = " ".join(stage.words)
    assert compiles == f"{common} {LLAMA}/compile.sbatch {arguments}"
    assert trains == f"{common} --dependency=afterok:41 --kill-on-invalid-dep=yes {LLAMA}/train.sbatch {arguments}"
    handed_on = {"JOB_FOLDER": str(LLAMA), "RUN_DIRECTORY": str(stage.run_directory), "CORES_PER_NODE": "4"}
    assert handed_on.items() <= stage.passed_on().items()
    assert stage.run_directory.is_dir()
    assert stage.cache.is_dir()


def test_the_page_shows_what_is_said(stage: Stage) -> None:
    sbatch(stage)
    described = json.loads((stage.run_directory.parent / "tokens" / "dataset.json").read_text())
    (first, *_) = described["shards"]
    described["vocabulary"], described["shards"] = 32_000, [first | {"tokens": 1024 * 4096 + 1}]
    (stage.run_directory.parent / "tokens" / "dataset.json").write_text(json.dumps(described))
    os.truncate(stage.run_directory.parent / "tokens" / first["file"], 2 * (1024 * 4096 + 1))
    words = [f"--dataset={stage.run_directory.parent}/tokens", "--steps", "10000"]
    done = stage.run("submit.sh", *words, NODES="4", CORES_PER_NODE="32")
    shown = promised("examples/neuron-llama/README.md", "./submit.sh --dataset /fsx/datasets/books --steps 10000")
    said = done.stdout.replace(str(stage.run_directory), "/fsx/ubuntu/neuron-llama")
    assert lacking(shown, said) == [], done.stderr


def test_nothing_is_left_in_the_queue_when_the_second_is_refused(stage: Stage) -> None:
    sbatch(stage, refuses_training=True)
    done = stage.run("submit.sh", *stage.words)
    assert done.returncode == 2
    assert "the job that trains was refused, so job 41, which compiles for it, is cancelled" in done.stderr
    assert stage.called("scancel") == ["41"]


@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        (["--steps=0"], {}, "train.py: '--steps' must be above 0, got 0"),
        (["--typo"], {}, "unrecognized arguments: --typo"),
        (["--directory=/x"], {}, "'--directory' is set from RUN_DIRECTORY; set that"),
        (["--stop-after", "3"], {}, "'--stop-after' is set from COMPILE_STEPS, in the job that compiles"),
        ([], {"NODES": "two"}, "'NODES' must be a whole number from 1 up, got 'two'"),
        ([], {"NODES": "0"}, "'NODES' must be a whole number from 1 up, got '0'"),
        ([], {"MAX_REQUEUES": "-1"}, "'MAX_REQUEUES' must be a whole number from 0 up, got '-1'"),
        ([], {"COMPILE_STEPS": "0"}, "'COMPILE_STEPS' must be a whole number from 1 up, got '0'"),
        ([], {"CORES_PER_NODE": "3"}, "'--tensor-parallel' must divide the 3 NeuronCores of a node, got 2"),
        ([], {"PYTHON": "/none/python"}, "'PYTHON' must be a program, got '/none/python'; make the environment"),
        ([], {"PYTHON": "/bin/false"}, "'PYTHON' must be Python 3.10 or newer, got '/bin/false'"),
        ([], {"RUN_DIRECTORY": "run"}, "'RUN_DIRECTORY' must be an absolute path, got 'run'"),
    ],
)
def test_fails_before_anything_is_submitted(
    stage: Stage, words: list[str], variables: dict[str, str], message: str
) -> None:
    sbatch(stage)
    done = stage.run("submit.sh", *stage.words, *words, **variables)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert stage.called("sbatch") == []


def test_fails_on_a_disk_that_the_other_nodes_do_not_see(stage: Stage) -> None:
    sbatch(stage)
    stage.program("stat", "echo 42")
    done = stage.run("submit.sh", *stage.words, ALLOW_LOCAL_STORAGE="")
    assert done.returncode == 2
    assert f"'RUN_DIRECTORY' must be on shared storage, got {stage.run_directory}" in done.stderr
    assert stage.called("sbatch") == []


# ---------------------------------------------------------------- the jobs
JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_CPUS_ON_NODE": "128",
       "JOB_FOLDER": str(LLAMA)}  # fmt: skip


def test_the_step_has_every_processor_of_every_node(stage: Stage) -> None:
    stage.srun(offers_auto_resume=False, code=0)
    done = stage.run("train.sbatch", *stage.words, **JOB)
    assert done.returncode == 0, done.stderr
    arguments = " ".join(stage.words)
    expected = f"--kill-on-bad-exit=1 --cpus-per-task=128 bash {LLAMA}/launch.sh train {arguments}"
    assert stage.step() == expected


def test_the_job_that_compiles_does_a_few_steps_and_is_not_tried_again(stage: Stage) -> None:
    stage.srun(offers_auto_resume=True, code=4)
    done = stage.run("compile.sbatch", *stage.words, **JOB, COMPILE_STEPS="5")
    assert done.returncode == 4
    assert stage.step().endswith(f"launch.sh compile {' '.join(stage.words)} --stop-after 5")
    assert "--auto-resume" not in stage.step()
    assert stage.called("scontrol") == []


def test_auto_resume_is_asked_for_where_srun_offers_it(stage: Stage) -> None:
    stage.srun(offers_auto_resume=True, code=5)
    assert stage.run("train.sbatch", *stage.words, **JOB).returncode == 5
    assert "--auto-resume=1 bash" in stage.step()
    assert stage.called("scontrol") == []  # the plugin has tried again already


@pytest.mark.parametrize(("count", "requeued"), [("", True), ("2", True), ("3", False)])
def test_a_step_that_failed_is_requeued_a_bounded_number_of_times(stage: Stage, count: str, requeued: bool) -> None:
    stage.srun(offers_auto_resume=False, code=9)
    assert stage.run("train.sbatch", *stage.words, **JOB, SLURM_RESTART_COUNT=count).returncode == 9
    assert stage.called("scontrol") == (["requeue 7"] if requeued else [])


@pytest.mark.parametrize("offered", [False, True])
def test_a_job_that_slurm_has_struck_a_node_from_is_requeued_for_as_many_as_at_first(
    stage: Stage, *, offered: bool
) -> None:
    stage.run_directory.mkdir()
    stage.srun(offers_auto_resume=offered, code=0)
    assert stage.run("train.sbatch", *stage.words, **JOB).returncode == 0
    stage.srun(offers_auto_resume=offered, code=75)
    struck = JOB | {"SLURM_JOB_NUM_NODES": "1", "SLURM_RESTART_COUNT": "1"}
    assert stage.run("train.sbatch", *stage.words, **struck).returncode == 75
    assert stage.passed_on()["JOB_NODES"] == "2"
    assert stage.called("scontrol") == ["requeue 7"]


def test_fails_without_a_requeue_when_the_arguments_are_wrong(stage: Stage) -> None:
    stage.srun(offers_auto_resume=False, code=0)
    done = stage.run("train.sbatch", *stage.words, "--keep=0", **JOB)
    assert done.returncode == 2
    assert "'--keep' must be 2 or more, got 0" in done.stderr
    assert stage.called("srun") == stage.called("scontrol") == []


@pytest.mark.parametrize("name", ["compile.sbatch", "train.sbatch"])
def test_what_is_asked_of_slurm(name: str) -> None:
    asked = {line.removeprefix("#SBATCH ") for line in (LLAMA / name).read_text().splitlines() if "#SBATCH" in line}
    assert {"--nodes=4", "--ntasks-per-node=1", "--exclusive", "--mem=0", "--requeue", "--open-mode=append"} < asked


# ---------------------------------------------------------------- launch.sh
ULIMIT = "BASH_FUNC_ulimit%%"  # as bash exports a function: what this machine allows is not the question
STEP = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "n[1-2]", "SLURM_STEP_NUM_NODES": "2",
        "JOB_NODES": "2"}  # fmt: skip


@pytest.fixture
def node(stage: Stage) -> Stage:
    """A node inside a step, with a Python and a neuron_parallel_compile that record how they were called."""
    stage.program("scontrol", "printf 'n1\\nn2\\n'")
    stage.program("ip", "echo 'default via 10.0.0.1 dev ens5 proto dhcp'")
    venv = stage.bin.parent / "venv" / "bin"
    venv.mkdir(parents=True)
    for name in ("python3", "neuron_parallel_compile"):
        (venv / name).write_text(f'#!/bin/bash\necho "{name} $*" >>"{stage.calls}"\nenv >"{stage.bin}/env"\n')
        (venv / name).chmod(0o755)
    stage.environment |= {"PYTHON": str(venv / "python3"), "TRAINYARD_ROOT": str(stage.device_root), **STEP}
    stage.environment[ULIMIT] = f'() {{ echo "ulimit $*" >>"{stage.calls}"; [[ "$*" != "-H -n" ]] || echo 1048576; }}'
    for directory in (stage.run_directory, stage.cache):
        directory.mkdir()
    return stage


def test_the_processes_meet_on_the_first_node_of_the_step(node: Stage) -> None:
    done = node.run("launch.sh", "train", "--steps=3")
    assert done.returncode == 0, done.stderr
    (call,) = node.called("python3")
    assert call == (
        "-m torch.distributed.run --nnodes=2 --nproc-per-node=4 --rdzv-backend=c10d --rdzv-endpoint=n1:29500 "
        f"--rdzv-id=7.0.0 --rdzv-conf=timeout=600 {LLAMA}/train.py --directory {node.run_directory} --steps=3"
    )
    assert node.called("scontrol") == ["show hostnames n[1-2]"]


def test_a_step_on_fewer_nodes_than_the_job_is_refused(node: Stage) -> None:
    done = node.run("launch.sh", "train", SLURM_STEP_NUM_NODES="1")
    assert (done.returncode, "the step has 1 of the 2 nodes of the job" in done.stderr) == (75, True), done.stderr


def test_the_environment_is_that_of_neuron_and_efa(node: Stage) -> None:
    node.run("launch.sh", "train")
    found = node.passed_on()
    expected = {
        "FI_PROVIDER": "efa", "CCOM_SOCKET_IFNAME": "ens5",
        "NEURON_RT_NUM_CORES": "4", "TPU_NUM_DEVICES": "4", "TPU_CHIPS_PER_HOST_BOUNDS": "4",
        "NEURON_RT_STOCHASTIC_ROUNDING_EN": "0", "NEURON_RT_EXEC_TIMEOUT": "600", "NEURON_FUSE_SOFTMAX": "1",
        "XLA_DISABLE_FUNCTIONALIZATION": "0", "MALLOC_ARENA_MAX": "64", "OMP_NUM_THREADS": "1",
        "NEURON_COMPILE_CACHE_URL": str(node.cache),
        "NEURON_CC_FLAGS": "--model-type transformer --retry_failed_compilation",
    }  # fmt: skip
    assert {name: found.get(name) for name in expected} == expected
    assert found["PATH"].startswith(f"{node.bin.parent}/venv/bin:")
    assert node.called("ulimit") == ["-l unlimited", "-H -n", "-S -n 65535"]


def test_the_compiler_sees_the_same_in_both_jobs(node: Stage) -> None:
    """What the key of the cache is made of: flags, precision and the command but for the number of steps."""
    node.run("launch.sh", "train", "--steps=9")
    trained = node.passed_on()
    done = node.run("launch.sh", "compile", "--steps=9", "--stop-after", "3")
    assert done.returncode == 0, done.stderr
    compiled = node.passed_on()
    assert {name: value for name, value in compiled.items() if name != "_"} == {
        name: value for name, value in trained.items() if name != "_"
    }
    (command,) = node.called("neuron_parallel_compile")
    (other,) = node.called("python3")
    assert command == f"{node.environment['PYTHON']} {other} --stop-after 3"


def test_place_and_provider_can_be_given(node: Stage) -> None:
    given = {
        "RENDEZVOUS_HOST": "127.0.0.1",
        "RENDEZVOUS_PORT": "4000",
        "CCOM_SOCKET_IFNAME": "lo",
        "FI_PROVIDER": "tcp",
    }
    node.run("launch.sh", "train", SLURM_RESTART_COUNT="2", **given)
    (call,) = node.called("python3")
    assert "--rdzv-endpoint=127.0.0.1:4000 --rdzv-id=7.0.2" in call
    assert node.passed_on()["FI_PROVIDER"] == "tcp"
    assert "-l unlimited" not in node.called("ulimit")  # EFA alone locks memory


def test_fails_on_a_node_without_the_file_system(node: Stage) -> None:
    node.run_directory.rmdir()
    done = node.run("launch.sh", "train", SLURMD_NODENAME="n2")
    assert done.returncode == 2
    assert f"launch.sh on n2: 'RUN_DIRECTORY' must be a directory that every node sees, got {node.run_directory}" in (
        done.stderr
    )
    assert not node.run_directory.exists()  # made here, it would be this node's own


def test_fails_on_a_node_with_too_few_devices(node: Stage) -> None:
    (node.device_root / "dev" / "neuron1").unlink()
    done = node.run("launch.sh", "train")
    assert done.returncode == 2
    assert "must have 2 Neuron devices for 4 NeuronCores, has 1" in done.stderr


@pytest.mark.parametrize("name", ["XLA_USE_BF16", "XLA_DOWNCAST_BF16"])
def test_fails_when_the_master_weights_would_be_rounded(node: Stage, name: str) -> None:
    done = node.run("launch.sh", "train", **{name: "1"})
    assert done.returncode == 2
    assert f"'{name}' must not be set" in done.stderr


def test_fails_when_the_environment_cannot_compile(node: Stage) -> None:
    (node.bin.parent / "venv" / "bin" / "neuron_parallel_compile").unlink()
    done = node.run("launch.sh", "compile")
    assert done.returncode == 2
    assert "neuron_parallel_compile must be beside" in done.stderr


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("() { [[ $1 != -l ]]; }", "slurmd needs LimitMEMLOCK=infinity"),
        ("() { [[ $1 != -H ]] || echo 4096; }", "this node allows 4096: slurmd needs LimitNOFILE=65535"),
    ],
)
def test_fails_when_slurmd_gives_too_little(node: Stage, function: str, message: str) -> None:
    done = node.run("launch.sh", "train", **{ULIMIT: function})
    assert done.returncode == 2
    assert message in done.stderr
    assert node.called("python3") == []


@pytest.mark.parametrize("name", sorted(STEP))
def test_fails_outside_a_step(node: Stage, name: str) -> None:
    done = node.run("launch.sh", "train", **{name: ""})
    assert done.returncode != 0
    assert name in done.stderr


def test_every_file_that_is_started_can_be_executed() -> None:
    started = ("submit.sh", "run.sh", "launch.sh", "train.py", "prepare.py")
    assert all(os.access(LLAMA / name, os.X_OK) for name in started)
