"""A tiny model, its data, and its training on this machine, with stand-ins for what Neuron brings."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from cdk_trainyard.local import LocalAws
from tests.support import ROOT

LLAMA = ROOT / "examples" / "neuron-llama"
EXPORT = ROOT / "examples" / "export-for-serving"
STAND_INS = Path(__file__).parent / "stand_ins"
PROGRAMS = Path(__file__).parent / "programs"

TINY: dict[str, Any] = {
    "model_type": "llama", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32, "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
ARGUMENTS = (
    "--tensor-parallel=2", "--sequence-length=16", "--global-batch=8", "--warm-up=2", "--attention=plain",
    "--steps=12", "--save-every=5", "--keep=2", "--log-every=1", "--learning-rate=0.01", "--final-learning-rate=0.001",
)  # fmt: skip


def write_tiny(folder: Path, **changes: object) -> Path:
    """Write the model's config.json, and return its path."""
    path = folder / "tiny.json"
    path.write_text(json.dumps(TINY | changes))
    return path


def write_tokens(folder: Path, *, vocabulary: int = 64) -> Path:
    """Write a dataset, and return its directory."""
    from neuron_llama.dataset import write_dataset  # noqa: PLC0415  the path to it is set by conftest.py

    documents = ([(row * row + column * 7) % vocabulary for column in range(40)] for row in range(100))
    write_dataset(folder / "tokens", documents, vocabulary=vocabulary, shard_tokens=777)
    return folder / "tokens"


def write_tokenizer(folder: Path) -> Path:
    """Write what is looked at of a tokenizer, and return its directory."""
    directory = folder / "tokenizer"
    directory.mkdir()
    words = {"model": {"vocab": {f"word{number}": number for number in range(63)}}, "added_tokens": [{"id": 63}]}
    (directory / "tokenizer.json").write_text(json.dumps(words))
    (directory / "tokenizer_config.json").write_text('{"model_max_length": 32}')
    return directory


def aws_cli(folder: Path, aws: LocalAws) -> dict[str, str]:
    """Put the stand-in for the aws CLI into ``folder / bin``; return the variables that lead there and to the AWS.

    It records its calls in ``folder / calls``.
    """
    program = folder / "bin" / "aws"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {PROGRAMS / "aws_cli.py"} "$@"\n')
    program.chmod(0o755)
    variables = {name: value for name, value in aws.environment.items() if name.startswith("AWS_")}
    return variables | {"PATH": f"{program.parent}:{os.environ['PATH']}", "AWS_CALLS": str(folder / "calls")}


def events(text: str) -> list[dict[str, Any]]:
    """Return the JSON lines of what a training wrote."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
