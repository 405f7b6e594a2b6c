#!/usr/bin/env python3
"""Compile a model of the Hugging Face Hub for static shapes, on CPU, in the image of the engine that will serve it.

Arguments: the model on the Hub, its revision, the folder that is uploaded, what neuron_config.json must say (JSON), and
then the export command. The weights are fetched first and exported from disk: only then does optimum-neuron keep them
beside the graphs, in pieces per core. The folder is there only when everything in it is right, so nothing else is
uploaded.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

# Weights, configuration and tokenizer; code of a repository is never fetched, and so never run.
PATTERNS = ["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"]


def fetch(source: str, revision: str, folder: Path) -> None:
    """Download a model with the image's own huggingface_hub; HF_TOKEN, if there is one, opens gated ones."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415  of the engine's image

    snapshot_download(source, revision=revision, local_dir=str(folder), allow_patterns=PATTERNS)


def differences(folder: Path, wanted: "dict[str, Any]") -> "list[str]":
    """Return what was compiled differently from what the service asks for."""
    file = folder / "neuron_config.json"
    if not file.is_file():
        return [f"the export wrote no {file.name}"]
    found = json.loads(file.read_text(encoding="utf-8"))
    told = {key: str(found.get(key)).replace("torch.", "") for key in wanted}
    return [
        f"{key} is {told[key]}, and the service wants {value}"
        for key, value in wanted.items()
        if told[key] != str(value)
    ]


def say(text: str) -> None:
    """Write a line into the build's log at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Fetch, export, compare, and only then put the result where it is uploaded from."""
    source, revision, target, wanted, *command = sys.argv[1:]
    weights, compiled = Path("weights"), Path("compiled")
    say(f"fetching {source} at {revision}")
    fetch(source, revision, weights)
    say(" ".join(command))
    subprocess.run([*command, "--model", str(weights.resolve()), str(compiled.resolve())], check=True)  # noqa: S603
    problems = differences(compiled, json.loads(wanted))
    if not list(compiled.glob("checkpoint/**/*.safetensors")):
        problems.append("the export kept no weights beside the graphs")
    if problems:
        sys.exit("not uploaded: " + "; ".join(problems))
    compiled.replace(target)
    say(f"compiled: {sum(1 for path in Path(target).rglob('*') if path.is_file())} files are uploaded")


if __name__ == "__main__":
    main()
