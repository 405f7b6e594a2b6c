"""What the training is told: the defaults make Llama 2 7B on four trn1.32xlarge, and what cannot work is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from neuron_llama import schedule, settings
from neuron_llama.model_config import load_model_config

from cdk_trainyard.instances import InstanceType
from tests.jobs.parts import LLAMA, write_tiny, write_tokens
from tests.support import ROOT

CLUSTER = yaml.safe_load((ROOT / "deployments/hyperpod-trn1-llama2.yaml").read_text())["cluster"]
WORKERS = CLUSTER["groups"]["worker-group"]
CORES_PER_NODE = InstanceType.of(WORKERS["instance_type"]).neuron_cores


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("settings")
    write_tiny(made)
    write_tokens(made)
    return made


def problems(folder: Path, *words: str, nodes: int = 1, cores_per_node: int = 4) -> list[str]:
    common = ["--directory=run", f"--dataset={folder}/tokens", f"--model={folder}/tiny.json", "--tensor-parallel=2",
              "--sequence-length=16", "--global-batch=8", "--attention=plain"]  # fmt: skip
    chosen = settings.parse([*common, *words])
    return settings.plan(chosen, cores=nodes * cores_per_node, cores_per_node=cores_per_node)[1]


def test_the_defaults_are_llama_2_7b_on_the_deployment_of_that_name(folder: Path) -> None:
    chosen = settings.parse(["--directory=run", f"--dataset={folder}/tokens", "--global-batch=64", "--steps=101"])
    chosen.sequence_length, chosen.attention = 32, "plain"  # the tokens here are few
    cores = WORKERS["count"] * CORES_PER_NODE
    plan, wrong = settings.plan(chosen, cores=cores, cores_per_node=CORES_PER_NODE)
    assert wrong == []
    assert plan
    assert (cores, chosen.tensor_parallel, plan.data_parallel, plan.accumulate) == (128, 8, 16, 4)
    assert plan.model.parameters == 6_738_415_616
    assert plan.model.torch_dtype == "bfloat16"


def test_a_step_of_the_defaults_is_four_million_tokens() -> None:
    chosen = settings.parse(["--directory=run", "--dataset=tokens"])
    assert chosen.global_batch * chosen.sequence_length == 4_194_304
    assert chosen.global_batch % (WORKERS["count"] * CORES_PER_NODE // chosen.tensor_parallel) == 0
    assert (chosen.attention, chosen.sequence_parallel) == ("flash", True)


def test_what_a_checkpoint_belongs_to(folder: Path) -> None:
    chosen = settings.parse([
        "--directory=run", f"--dataset={folder}/tokens", f"--model={folder}/tiny.json", "--tensor-parallel=2",
        "--sequence-length=16", "--global-batch=8", "--attention=plain"])  # fmt: skip
    plan, _ = settings.plan(chosen, cores=4, cores_per_node=4)
    assert plan
    identity = plan.identity()
    assert json.loads(json.dumps(identity)) == identity
    assert {"model", "dataset", "seed", "global_batch", "tensor_parallel", "data_parallel"} < set(identity)
    assert plan.summary()["tokens_per_step"] == 128


def test_a_setting_that_works_has_no_problem(folder: Path) -> None:
    assert problems(folder) == []
    assert problems(folder, "--no-sequence-parallel", "--recompute=layer", nodes=2) == []


REFUSED = {
    "--steps=0 --warm-up=0": [
        "'--steps' must be above 0, got 0",
    ],
    "--micro-batch=-1": [
        "'--micro-batch' must be above 0, got -1",
    ],
    "--stop-after=0": [
        "'--stop-after' must be above 0, got 0",
    ],
    "--learning-rate=0.1 --final-learning-rate=0.2": [
        "'--final-learning-rate' must be from 0 to '--learning-rate' (0.1), got 0.2",
    ],
    "--steps=10 --warm-up=10": [
        "'--warm-up' must be from 0 to less than '--steps' (10), got 10",
    ],
    "--weight-decay=-1": [
        "'--weight-decay' must be 0 or more, got -1.0",
    ],
    "--beta2=1": [
        "'--beta2' must be from 0 to less than 1, got 1.0",
    ],
    "--keep=1": [
        "'--keep' must be 2 or more, got 1",
        "with one, the old checkpoint is gone before the new one is known to be complete",
    ],
    "--tensor-parallel=3 --no-sequence-parallel": [
        "'--tensor-parallel' must divide the 4 NeuronCores of a node, got 3",
        "cores that share a model talk to each other in every layer and must not do it over the network",
    ],
    "--tensor-parallel=4": [
        "'--tensor-parallel' must divide 'num_key_value_heads' of the model (2), got 4",
    ],
    "--global-batch=9": [
        "'--global-batch' must be a multiple of 2 (2 models with '--micro-batch' 1), got 9",
        "use 8 or 10",
    ],
    "--sequence-length=64": [
        "'--sequence-length' must be at most 'max_position_embeddings' of the model (32), got 64",
    ],
    "--attention=flash": [
        "'--sequence-length' must be a multiple of 2048 for '--attention flash', got 16",
        "use '--attention plain' for others",
    ],
    "--sequence-length=15": [
        "'--sequence-length' must be a multiple of '--tensor-parallel' (2) with '--sequence-parallel', got 15",
        "use '--no-sequence-parallel' for others",
    ],
    "--global-batch=512": [
        "'--dataset' must hold a step's 512 sequences of 16 tokens, got 249",
    ],
}


@pytest.mark.parametrize("words", REFUSED)
def test_fails_with_a_sentence(folder: Path, words: str) -> None:
    assert problems(folder, *words.split()) == ["; ".join(REFUSED[words])]


def test_fails_with_everything_that_is_wrong(folder: Path) -> None:
    found = problems(folder, "--steps=0", "--keep=0", "--dataset=none", "--model=none.json")
    starts = ["'--model' must be a config.json that can be read", "'--dataset' must be a directory", "'--steps'",
              "'--warm-up'", "'--keep'"]  # fmt: skip
    assert len(found) == len(starts)
    assert all(text.startswith(start) for text, start in zip(found, starts, strict=True))


def test_fails_with_tokens_of_another_tokenizer(tmp_path: Path) -> None:
    write_tiny(tmp_path)
    write_tokens(tmp_path, vocabulary=128)
    (found,) = problems(tmp_path)
    assert "no token above 'vocab_size' of the model (64), got a vocabulary of 128" in found


OTHER_MODELS = {
    '\'model_type\' of {path} must be "llama", got "mistral"; this job trains no other': {"model_type": "mistral"},
    "'mlp_bias' of {path} must be false, got true; this job trains no other": {"mlp_bias": True},
    "'rope_scaling' of {path} must be null, got \"yarn\"; this job trains no other": {"rope_scaling": "yarn"},
    "'vocab_size' of {path} must be a positive integer, got 0": {"vocab_size": 0},
    "'rms_norm_eps' of {path} must be a positive number, got \"small\"": {"rms_norm_eps": "small"},
    "'torch_dtype' of {path} must be one of bfloat16, float32, got \"int8\"": {"torch_dtype": "int8"},
    "'hidden_size' of {path} must be 'num_attention_heads' times an even number, got 33 and 4": {"hidden_size": 33},
    "'num_attention_heads' of {path} must be a multiple of 'num_key_value_heads', got 4 and 3": {
        "num_key_value_heads": 3
    },
}


@pytest.mark.parametrize("message", OTHER_MODELS)
def test_fails_with_a_model_that_is_not_trained_here(tmp_path: Path, message: str) -> None:
    path = write_tiny(tmp_path, **OTHER_MODELS[message])
    assert load_model_config(path)[1] == [message.format(path=path)]


@pytest.mark.parametrize(("text", "message"), [("{", "must be JSON"), ("[]", "must hold a JSON object")])
def test_fails_with_a_file_that_is_no_model(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert message in load_model_config(tmp_path / "config.json")[1][0]


def test_the_rate_goes_up_in_a_line_and_down_to_the_last() -> None:
    share = schedule.factor(warm_up=9, steps=110, final=0.1)
    assert [round(share(step), 3) for step in (0, 4, 8, 9)] == [0.1, 0.5, 0.9, 1.0]
    assert share(109) == pytest.approx(0.1)
    falling = [share(step) for step in range(9, 110)]
    assert falling == sorted(falling, reverse=True)
    assert share(1000) == pytest.approx(0.1)  # and stays there


def check(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    common = [f"--directory={folder}/run", f"--dataset={folder}/tokens", f"--model={folder}/tiny.json"]
    sizes = ["--tensor-parallel=2", "--sequence-length=16", "--global-batch=8", "--attention=plain"]
    command = [sys.executable, "-m", "neuron_llama.check", *common, *sizes, *words]
    return subprocess.run(command, env={"PYTHONPATH": str(LLAMA)}, capture_output=True, text=True, check=False)


def test_the_check_needs_no_device_and_no_torch(folder: Path) -> None:
    done = check(folder, "--nodes=2", "--cores-per-node=4")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "event": "plan", "resumes_after": 0, "parameters": 19616, "tensor_parallel": 2, "data_parallel": 4,
        "accumulate": 2, "tokens_per_step": 128, "epochs": 321.285,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nodes=1", "--cores-per-node=3"], "train.py: '--tensor-parallel' must divide the 3 NeuronCores"),
        (["--nodes=0", "--cores-per-node=4"], "NODES and CORES_PER_NODE must be above 0, got 0 and 4"),
        (["--nodes=1", "--cores-per-node=4", "--step=3"], "unrecognized arguments: --step=3"),
        (["--nodes=1", "--cores-per-node=4", "--recompute=all"], "invalid choice: 'all'"),
    ],
)
def test_the_check_fails_with_code_2(folder: Path, words: list[str], message: str) -> None:
    done = check(folder, *words)
    assert done.returncode == 2
    assert message in done.stderr
