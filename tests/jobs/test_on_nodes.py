"""The jobs on two nodes with real Slurm: submitted together, compiled, cut off, gone on with, exported.

Slurm is the nodes' own (22.05). Stand-ins: the Neuron devices, neuron_parallel_compile, torch_xla and
neuronx-distributed. torchrun, its rendezvous and the training are real, on CPUs. TCP stands for EFA.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import HyperPodMachines
from tests.jobs.parts import ARGUMENTS, EXPORT, LLAMA, STAND_INS, events, write_tiny, write_tokenizer, write_tokens
from tests.jobs.warm import Warm
from tests.rehearsal.clusters import SYSTEM, make_cluster, wait_until_idle

pytestmark = pytest.mark.nodes

HOME = "/fsx/ubuntu"
SECONDS = 1200
PYTHON = f"""\
#!/bin/sh
export PYTHONPATH={HOME}/stand_ins${{PYTHONPATH:+:${{PYTHONPATH}}}}
exec /opt/job-environment/bin/python "$@"
"""
COMPILE = f"""\
#!/bin/bash
printf '%s %s\\n' "${{SLURMD_NODENAME}}" "$*" >>{HOME}/compiled
[[ -z ${{COMPILER_FAILS:-}} ]] || exit 7
NEURON_EXTRACT_GRAPHS_ONLY=1 "$@" || exit
touch "${{NEURON_COMPILE_CACHE_URL}}/MODULE_${{SLURMD_NODENAME}}.neff"
"""


class Cluster:
    """Two trn1.32xlarge, with the jobs, an environment and the data on their file system."""

    def __init__(self, machines: HyperPodMachines, folder: Path) -> None:
        self.machines, self.home = machines, machines.shared(SYSTEM) / "ubuntu"
        bin_ = folder / "venv" / "bin"
        bin_.mkdir(parents=True)
        for name, text in (("python", PYTHON), ("neuron_parallel_compile", COMPILE)):
            (bin_ / name).write_text(text)
            (bin_ / name).chmod(0o755)
        write_tiny(folder)
        write_tokens(folder)
        write_tokenizer(folder)
        machines.share(folder, self.home)
        for source, name in ((LLAMA, "neuron-llama"), (EXPORT, "export-for-serving"), (STAND_INS, "stand_ins")):
            machines.share(source, self.home / name)

    def words(self) -> list[str]:
        return [f"--dataset={HOME}/tokens", f"--model={HOME}/tiny.json", *ARGUMENTS]

    def run(self, folder: str, *words: str, **variables: str) -> str:
        """Run a program as the user ubuntu, on the controller; return what it wrote."""
        settings = {
            "PYTHON": f"{HOME}/venv/bin/python", "CACHE_DIRECTORY": f"{HOME}/cache", "NODES": "2",
            "CORES_PER_NODE": "2", "FI_PROVIDER": "tcp", "OPEN_FILES": "4096", **variables,
        }  # fmt: skip
        shown = [f"{name}={value}" for name, value in settings.items()]
        command = ["runuser", "--user", "ubuntu", "--", "env", f"--chdir={HOME}/{folder}", *shown, *words]
        return self.machines.slurm.controller.run(*command).out

    def wait(self, number: str) -> str:
        """Wait for the end of a job, and return its state."""
        deadline = time.monotonic() + SECONDS
        while not (state := self.machines.slurm.is_over(number)):
            assert time.monotonic() < deadline, self.machines.slurm.job(number)
            time.sleep(1)
        return state

    def text(self, name: str) -> str:
        return (self.home / name).read_text()


@pytest.fixture(scope="module")
def cluster(image: Path, torch_environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    plain = make_cluster()
    controller, workers = plain.groups
    trainium = replace(plain, groups=[controller, replace(workers, instance_type="ml.trn1.32xlarge")])
    with HyperPodMachines(trainium, image=image, job_environment=torch_environment) as machines:
        machines.boot()
        assert [run.code for run in machines.provision()] == [0, 0, 0]
        wait_until_idle(machines)
        yield Cluster(machines, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def calm(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The files of a model that was trained and exported on this machine, with their sums."""
    folder = tmp_path_factory.mktemp("calm")
    model, _, tokenizer = write_tiny(folder), write_tokens(folder), write_tokenizer(folder)
    done = warm.train(folder, "run")
    assert done.returncode == 0, done.stderr
    assert events(done.stdout)[0]["step"] == 0
    checkpoint = folder / "run" / "checkpoints" / "step_00000012"
    words = [f"--checkpoint={checkpoint}", f"--model={model}", f"--tokenizer={tokenizer}", f"--staging={folder}/model"]
    done = warm.run(EXPORT / "export.py", *words, PYTHONPATH="")
    assert done.returncode == 0, done.stderr
    return dict(json.loads((folder / "model" / "export.json").read_text())["files"])


@pytest.mark.parametrize("script", ["neuron-llama/compile.sbatch", "neuron-llama/train.sbatch"])
def test_slurm_would_take_the_jobs(cluster: Cluster, script: str) -> None:
    done = cluster.machines.slurm.controller.run(
        "runuser", "--user", "ubuntu", "--", "sbatch", "--test-only", "--nodes=2", f"{HOME}/{script}", "--dataset=x"
    )
    assert "to start at" in done.err
    assert "using 256 processors on nodes" in done.err  # both nodes, whole


def test_slurm_would_take_the_export(cluster: Cluster) -> None:
    script = f"{HOME}/export-for-serving/job.sbatch"
    done = cluster.machines.slurm.controller.run("runuser", "--user", "ubuntu", "--", "sbatch", "--test-only", script)
    assert "to start at" in done.err


def test_compiled_cut_off_gone_on_with_and_exported_it_is_the_model_of_a_calm_run(
    cluster: Cluster, calm: dict[str, object]
) -> None:
    told = cluster.run(
        "neuron-llama", f"{HOME}/neuron-llama/submit.sh", *cluster.words(),
        RUN_DIRECTORY=f"{HOME}/cut", STAND_IN_DIES_SAVING="step_00000010",
    ).splitlines()  # fmt: skip
    compiles, trains = told[1].split()[1], told[2].split()[1]
    assert told[1:] == [f"compile {compiles}", f"train {trains} after {compiles}", f"output {HOME}/cut"]
    waiting = cluster.machines.slurm.job(trains)
    assert (waiting["JobState"], waiting["Dependency"]) == ("PENDING", f"afterok:{compiles}(unfulfilled)")
    assert cluster.wait(compiles) == "COMPLETED", cluster.text(f"cut/neuron-llama-compile-{compiles}.out")
    assert cluster.wait(trains) == "COMPLETED", cluster.text(f"cut/neuron-llama-{trains}.out")

    # the first job ran neuron_parallel_compile on both nodes, for a few steps, and left nothing but the cache
    calls = dict(line.split(" ", 1) for line in cluster.text("compiled").splitlines())
    hosts = [node.host for node in cluster.machines.cluster.with_role("compute")]
    assert sorted(calls) == sorted(hosts)
    assert all(call.endswith(f"{' '.join(cluster.words())} --stop-after 3") for call in calls.values())
    assert all("--nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d" in call for call in calls.values())
    assert sorted(path.name for path in (cluster.home / "cache").iterdir()) == [
        f"MODULE_{host}.neff" for host in sorted(hosts)
    ]

    # the second one was cut off while it saved, was requeued, and went on from the checkpoint before
    output = cluster.text(f"cut/neuron-llama-{trains}.out")
    assert "requeue 1 of 3" in output
    said = events(output)
    assert [event["step"] for event in said if event["event"] == "start"] == [0, 5]
    assert [event["checkpoint"] for event in said if event["event"] == "ignored"] == ["step_00000010"]
    assert said[-1]["event"] == "done"

    # exported by the job that exports, it is what a run on this machine gives that nothing disturbs
    words = [f"--checkpoint={HOME}/cut/checkpoints/step_00000012", f"--model={HOME}/tiny.json",
             f"--tokenizer={HOME}/tokenizer"]  # fmt: skip
    number = cluster.run("export-for-serving", "sbatch", "--parsable", "job.sbatch", *words).strip()
    assert cluster.wait(number) == "COMPLETED", cluster.text(f"export-for-serving/export-for-serving-{number}.out")
    files = json.loads(cluster.text("cut/export-step_00000012/export.json"))["files"]
    assert files == calm
    assert "model-00001-of-00001.safetensors" in files


def test_nothing_is_trained_when_the_compiler_fails(cluster: Cluster) -> None:
    told = cluster.run(
        "neuron-llama", f"{HOME}/neuron-llama/submit.sh", *cluster.words(),
        RUN_DIRECTORY=f"{HOME}/refused", COMPILER_FAILS="1",
    )  # fmt: skip
    compiles, trains = (line.split()[1] for line in told.splitlines()[1:3])
    assert cluster.wait(compiles) == "FAILED"
    assert cluster.wait(trains) == "CANCELLED"
    assert not (cluster.home / "refused" / "checkpoints").exists()


def test_an_export_that_is_refused_is_not_tried_again(cluster: Cluster) -> None:
    words = [f"--checkpoint={HOME}/none", f"--model={HOME}/tiny.json", f"--tokenizer={HOME}/tokenizer"]
    number = cluster.run("export-for-serving", "sbatch", "--parsable", "job.sbatch", *words).strip()
    assert cluster.wait(number) == "FAILED"
    output = cluster.text(f"export-for-serving/export-for-serving-{number}.out")
    assert "'--checkpoint' must be a complete checkpoint" in output
    assert "requeue" not in output.replace("requeued 0 times", "")
