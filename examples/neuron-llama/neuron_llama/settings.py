"""What the training is told: arguments with their defaults, and everything that is wrong with them, at once."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_llama.dataset import DatasetError, TokenDataset
from neuron_llama.model_config import ModelConfig, load_model_config

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_MODEL = Path(__file__).parents[1] / "llama-2-7b.json"
_FLASH_MULTIPLE = 2048  # of neuronx_distributed.kernels.flash_attn
_KEEP_AT_LEAST = 2


@dataclass(frozen=True)
class Plan:
    """A training that can run: its settings, its model, and how both lie on the NeuronCores."""

    settings: argparse.Namespace
    model: ModelConfig
    dataset: TokenDataset
    data_parallel: int
    accumulate: int

    def identity(self) -> dict[str, object]:
        """Return what must stay the same for a checkpoint to be gone on from."""
        chosen = self.settings
        return {
            "model": vars(self.model),
            "dataset": self.dataset.fingerprint,
            "seed": chosen.seed,
            "global_batch": chosen.global_batch,
            "sequence_length": chosen.sequence_length,
            "tensor_parallel": chosen.tensor_parallel,
            "data_parallel": self.data_parallel,
        }

    def summary(self) -> dict[str, object]:
        """Return what a reader of the log wants to know first."""
        chosen = self.settings
        return {
            "parameters": self.model.parameters,
            "tensor_parallel": chosen.tensor_parallel,
            "data_parallel": self.data_parallel,
            "accumulate": self.accumulate,
            "tokens_per_step": chosen.global_batch * chosen.sequence_length,
            "epochs": round(chosen.steps * chosen.global_batch / self.dataset.samples(chosen.sequence_length), 3),
        }


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments of ``train.py``."""
    made = argparse.ArgumentParser(
        prog="train.py", description="Train a Llama model on NeuronCores.", allow_abbrev=False
    )
    add = made.add_argument
    add("--directory", type=Path, required=True, help="of the run, on shared storage; checkpoints go below it")
    add("--dataset", type=Path, required=True, help="tokens, as prepare.py writes them")
    add("--model", type=Path, default=DEFAULT_MODEL, help="config.json of the model (default: Llama 2 7B)")
    add("--steps", type=int, default=10_000, help="of the optimizer, in all (default: %(default)s)")
    add("--stop-after", type=int, metavar="STEPS", help="end after so many, without a checkpoint; for the compiler")
    add("--tensor-parallel", type=int, default=8, metavar="CORES", help="that share a model (default: %(default)s)")
    add("--sequence-length", type=int, default=4096, metavar="TOKENS", help="(default: %(default)s)")
    add("--global-batch", type=int, default=1024, metavar="SEQUENCES", help="of a step (default: %(default)s)")
    add("--micro-batch", type=int, default=1, metavar="SEQUENCES", help="of a pass (default: %(default)s)")
    add("--learning-rate", type=float, default=3e-4, metavar="RATE", help="the highest (default: %(default)s)")
    add("--final-learning-rate", type=float, default=3e-5, metavar="RATE", help="the last (default: %(default)s)")
    add("--warm-up", type=int, default=100, metavar="STEPS", help="(default: %(default)s)")
    add("--weight-decay", type=float, default=0.1, help="(default: %(default)s)")
    add("--beta1", type=float, default=0.9, help="(default: %(default)s)")
    add("--beta2", type=float, default=0.95, help="(default: %(default)s)")
    add("--clip", type=float, default=1.0, metavar="NORM", help="of the gradients (default: %(default)s)")
    add("--seed", type=int, default=1, help="of weights and order of the data (default: %(default)s)")
    add("--attention", choices=("flash", "plain"), default="flash", help="Neuron's kernel, or plain operators")
    add("--recompute", choices=("attention", "layer", "nothing"), default="attention", help="in the backward pass")
    add("--sequence-parallel", action=argparse.BooleanOptionalAction, default=True, help="norms work on a part each")
    add("--save-every", type=int, default=500, metavar="STEPS", help="(default: %(default)s)")
    add("--keep", type=int, default=3, metavar="CHECKPOINTS", help="(default: %(default)s)")
    add("--log-every", type=int, default=10, metavar="STEPS", help="(default: %(default)s)")
    return made


def plan(settings: argparse.Namespace, *, cores: int, cores_per_node: int) -> tuple[Plan | None, list[str]]:
    """Return the training, or everything that is wrong.

    Args:
        settings: What ``parser`` read.
        cores: NeuronCores of all nodes.
        cores_per_node: NeuronCores of a node.
    """
    model, problems = load_model_config(settings.model)
    dataset = None
    try:
        dataset = TokenDataset(settings.dataset)
    except DatasetError as error:
        problems = [*problems, str(error)]
    problems = [*problems, *_number_problems(settings)]
    if problems:
        return None, problems
    assert model  # noqa: S101  there would be a problem
    assert dataset  # noqa: S101  as above
    problems = [
        *_parallel_problems(settings, model, cores, cores_per_node),
        *_model_problems(settings, model),
        *_dataset_problems(settings, model, dataset),
    ]
    if problems:
        return None, problems
    data_parallel = cores // settings.tensor_parallel
    accumulate = settings.global_batch // (data_parallel * settings.micro_batch)
    return Plan(settings, model, dataset, data_parallel, accumulate), []


def _number_problems(settings: argparse.Namespace) -> list[str]:
    positive = ("steps", "tensor_parallel", "sequence_length", "global_batch", "micro_batch", "learning_rate", "clip",
                "save_every", "log_every")  # fmt: skip
    problems = [
        f"'--{name.replace('_', '-')}' must be above 0, got {getattr(settings, name)}"
        for name in positive
        if getattr(settings, name) <= 0
    ]
    if settings.stop_after is not None and settings.stop_after < 1:
        problems.append(f"'--stop-after' must be above 0, got {settings.stop_after}")
    if not 0 <= settings.final_learning_rate <= settings.learning_rate:
        problems.append(
            f"'--final-learning-rate' must be from 0 to '--learning-rate' ({settings.learning_rate}), "
            f"got {settings.final_learning_rate}"
        )
    if not 0 <= settings.warm_up < max(settings.steps, 1):
        problems.append(f"'--warm-up' must be from 0 to less than '--steps' ({settings.steps}), got {settings.warm_up}")
    if settings.weight_decay < 0:
        problems.append(f"'--weight-decay' must be 0 or more, got {settings.weight_decay}")
    problems += [
        f"'--{name}' must be from 0 to less than 1, got {getattr(settings, name)}"
        for name in ("beta1", "beta2")
        if not 0 <= getattr(settings, name) < 1
    ]
    if settings.keep < _KEEP_AT_LEAST:
        problems.append(
            f"'--keep' must be 2 or more, got {settings.keep}; with one, the old checkpoint is gone before the new "
            "one is known to be complete"
        )
    return problems


def _parallel_problems(settings: argparse.Namespace, model: ModelConfig, cores: int, cores_per_node: int) -> list[str]:
    width = settings.tensor_parallel
    if cores_per_node % width:
        problem = (
            f"'--tensor-parallel' must divide the {cores_per_node} NeuronCores of a node, got {width}; "
            "cores that share a model talk to each other in every layer and must not do it over the network"
        )
        return [problem]
    shared = {name: getattr(model, name) for name in (
        "num_attention_heads", "num_key_value_heads", "intermediate_size", "vocab_size")}  # fmt: skip
    problems = [
        f"'--tensor-parallel' must divide '{name}' of the model ({value}), got {width}"
        for name, value in shared.items()
        if value % width
    ]
    at_once = cores // width * settings.micro_batch
    if settings.global_batch % at_once:
        above = (settings.global_batch // at_once + 1) * at_once
        problems.append(
            f"'--global-batch' must be a multiple of {at_once} ({cores // width} models with '--micro-batch' "
            f"{settings.micro_batch}), got {settings.global_batch}; use {max(above - at_once, at_once)} or {above}"
        )
    return problems


def _model_problems(settings: argparse.Namespace, model: ModelConfig) -> list[str]:
    length, problems = settings.sequence_length, []
    if length > model.max_position_embeddings:
        problems.append(
            f"'--sequence-length' must be at most 'max_position_embeddings' of the model "
            f"({model.max_position_embeddings}), got {length}"
        )
    if settings.attention == "flash" and length % _FLASH_MULTIPLE:
        problems.append(
            f"'--sequence-length' must be a multiple of {_FLASH_MULTIPLE} for '--attention flash', got {length}; "
            "use '--attention plain' for others"
        )
    if settings.sequence_parallel and length % settings.tensor_parallel:
        problems.append(
            f"'--sequence-length' must be a multiple of '--tensor-parallel' ({settings.tensor_parallel}) with "
            f"'--sequence-parallel', got {length}; use '--no-sequence-parallel' for others"
        )
    return problems


def _dataset_problems(settings: argparse.Namespace, model: ModelConfig, dataset: TokenDataset) -> list[str]:
    problems = []
    if dataset.vocabulary > model.vocab_size:
        problems.append(
            f"'--dataset' must have no token above 'vocab_size' of the model ({model.vocab_size}), got a vocabulary "
            f"of {dataset.vocabulary}; it was made with another tokenizer"
        )
    if dataset.samples(settings.sequence_length) < settings.global_batch:
        problems.append(
            f"'--dataset' must hold a step's {settings.global_batch} sequences of {settings.sequence_length} tokens, "
            f"got {dataset.samples(settings.sequence_length)}"
        )
    return problems


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read arguments; argparse ends the program with code 2 when they are not of their form."""
    return parser().parse_args(words)
