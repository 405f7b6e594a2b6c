"""Folders of a model as a build and an export leave them in the bucket; written down here by themselves."""

import hashlib
import json
from pathlib import Path
from typing import Any

MANIFEST = "trainyard-manifest.json"


def neuron_config(**changes: object) -> str:
    """Return what optimum-neuron writes of what it compiled."""
    said = {"batch_size": 4, "sequence_length": 4096, "tp_degree": 2, "torch_dtype": "torch.bfloat16", "target": "trn1"}
    return json.dumps(said | changes)


COMPILED = {
    "config.json": "{}",
    "neuron_config.json": neuron_config(),
    "model.pt": "graphs",
    "tokenizer.json": "{}",
    "tokenizer_config.json": "{}",
    "checkpoint/weights/tp0_sharded_checkpoint.safetensors": "0" * 1000,
    "checkpoint/weights/tp1_sharded_checkpoint.safetensors": "1" * 1000,
}
"""What optimum-neuron leaves for two cores (``NxDPreTrainedModel.save``), and the tokenizer."""


def contents(**changes: str | None) -> dict[str, str]:
    """Return the files of a compiled model; None takes one away, and ``__`` in a keyword stands for its dot."""
    named = {key.replace("__", "."): text for key, text in changes.items()}
    return {name: text for name, text in {**COMPILED, **named}.items() if text is not None}


def manifest(files: dict[str, str]) -> str:
    """Return the manifest of files."""
    facts: dict[str, Any] = {
        name: {"bytes": len(text.encode()), "sha256": hashlib.sha256(text.encode()).hexdigest()}
        for name, text in files.items()
    }
    return json.dumps({"version": 1, "files": facts})


def write(folder: Path, files: dict[str, str] | None = None) -> None:
    """Write a whole folder, its manifest last."""
    given = COMPILED if files is None else files
    for name, text in {**given, MANIFEST: manifest(given)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
