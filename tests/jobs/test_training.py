"""The training program itself, on CPUs: stand-ins for torch_xla and neuronx-distributed, real tensor parallelism.

What the stand-ins stand for is said in their files; their functions have the arguments of the originals. Not shown:
that Neuron compiles and runs the graphs.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from neuron_llama import checkpoints

from tests.jobs.parts import ARGUMENTS, LLAMA, PROGRAMS, events, write_tiny, write_tokens
from tests.jobs.warm import Warm

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Run:
    """A finished training."""

    folder: Path
    events: list[dict[str, Any]]

    @property
    def losses(self) -> dict[int, float]:
        return {event["step"]: event["loss"] for event in self.events if event["event"] == "step"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("training")
    write_tiny(made)
    write_tokens(made)
    return made


@pytest.fixture(scope="module")
def calm(warm: Warm, folder: Path) -> Run:
    """A training that nothing disturbed: four processes, two models of two cores."""
    done = warm.train(folder, "calm")
    assert done.returncode == 0, done.stderr
    return Run(folder / "calm", events(done.stdout))


def weights(run: Path, step: int) -> dict[str, bytes]:
    """Every file of tensors in a checkpoint's model."""
    model = run / "checkpoints" / checkpoints.tag_of(step) / "model"
    return {str(path.relative_to(model)): path.read_bytes() for path in sorted(model.rglob("tensor_*.pt"))}


@pytest.mark.parametrize("processes", [1, 2])
def test_the_model_is_llama_however_many_cores_share_it(warm: Warm, folder: Path, processes: int) -> None:
    done = warm.run(PROGRAMS / "compare_model.py", str(LLAMA), str(folder / "tiny.json"), ranks=processes)
    assert done.returncode == 0, done.stderr
    (found,) = events(done.stdout)
    assert {result["parameters"] for result in found["results"]} == {found["expected"]}
    assert len({result["loss"] for result in found["results"]}) == 1


def test_it_learns_and_says_so_in_lines_of_json(calm: Run) -> None:
    kinds = [event["event"] for event in calm.events]
    assert kinds[0] == "start"
    assert kinds[-1] == "done"
    assert calm.events[0] | {"cores": 4, "data_parallel": 2, "accumulate": 4, "step": 0, "until": 12} == calm.events[0]
    assert sorted(calm.losses) == list(range(1, 13))
    assert calm.losses[12] < calm.losses[1] - 1
    (fifth,) = [event for event in calm.events if event["event"] == "step" and event["step"] == 5]
    assert {"loss", "learning_rate", "gradient_norm", "seconds_per_step", "tokens_per_second"} < set(fifth)


def test_the_last_checkpoints_are_kept_and_complete(calm: Run) -> None:
    saved = [event["checkpoint"] for event in calm.events if event["event"] == "checkpoint"]
    assert saved == ["step_00000005", "step_00000010", "step_00000012"]
    left = sorted(path.name for path in (calm.folder / "checkpoints").iterdir())
    assert left == saved[1:]
    assert [checkpoints.flaw(calm.folder / "checkpoints" / name) for name in left] == [None, None]


def test_cut_off_while_it_saves_it_goes_on_from_the_checkpoint_before_with_the_same_bits(
    warm: Warm, folder: Path, calm: Run
) -> None:
    first = warm.train(folder, "cut", STAND_IN_DIES_SAVING="step_00000010")
    assert first.returncode != 0
    assert (folder / "cut/checkpoints/step_00000010/checkpoint").exists()  # it had begun
    second = warm.train(folder, "cut")
    assert second.returncode == 0, second.stderr
    run = Run(folder / "cut", events(second.stdout))
    assert run.events[0]["event"] == "ignored"
    assert (run.events[0]["checkpoint"], run.events[0]["reason"]) == ("step_00000010", "it was not finished")
    assert run.events[1]["step"] == 5
    assert run.losses == {step: loss for step, loss in calm.losses.items() if step > 5}
    assert weights(run.folder, 12) == weights(calm.folder, 12)


def test_how_the_model_lies_on_the_cores_changes_nothing_but_rounding(warm: Warm, tmp_path: Path) -> None:
    write_tiny(tmp_path, torch_dtype="float32")
    write_tokens(tmp_path)
    losses = []
    for name, processes, words in (
        ("one", 1, ["--tensor-parallel=1", "--no-sequence-parallel"]),
        ("data", 2, ["--tensor-parallel=1", "--micro-batch=2"]),
        ("tensor", 2, ["--tensor-parallel=2", "--recompute=nothing"]),
    ):
        done = warm.train(tmp_path, name, [*ARGUMENTS, *words, "--steps=5"], processes=processes)
        assert done.returncode == 0, done.stderr
        losses.append(list(Run(tmp_path, events(done.stdout)).losses.values()))
    assert losses[1] == pytest.approx(losses[0], abs=2e-4)
    assert losses[2] == pytest.approx(losses[0], abs=2e-4)


def test_while_graphs_are_extracted_nothing_is_loaded_saved_or_said(warm: Warm, folder: Path) -> None:
    words = [*ARGUMENTS, "--save-every=1", "--stop-after=2"]
    done = warm.train(folder, "extract", words, processes=2, NEURON_EXTRACT_GRAPHS_ONLY="1")
    assert done.returncode == 0, done.stderr
    assert events(done.stdout) == []
    assert not (folder / "extract" / "checkpoints").exists()


def test_a_loss_that_is_no_number_ends_the_training(warm: Warm, folder: Path) -> None:
    words = [*ARGUMENTS, "--learning-rate=1e30", "--final-learning-rate=0", "--clip=1e30"]
    done = warm.train(folder, "nan", words, processes=2)
    assert done.returncode != 0
    assert "is nan: a lower '--learning-rate'" in done.stderr


def test_a_finished_training_has_nothing_to_do_and_another_one_is_refused(calm: Run, folder: Path) -> None:
    words = [*ARGUMENTS, f"--directory={calm.folder}", f"--dataset={folder}/tokens", f"--model={folder}/tiny.json"]

    def check(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "neuron_llama.check", "--nodes=1", "--cores-per-node=4", *words, *more]
        return subprocess.run(command, env={"PYTHONPATH": str(LLAMA)}, capture_output=True, text=True, check=False)

    assert json.loads(check("--steps=20").stdout)["resumes_after"] == 12
    refused = check("--seed=2")
    assert refused.returncode == 2
    assert refused.stderr == (
        "train.py: checkpoint step_00000012 was trained with 'seed' 1, got 2; use the old one, or another "
        "'--directory'\n"
    )
