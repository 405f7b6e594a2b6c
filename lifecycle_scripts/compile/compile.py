#!/usr/bin/env python3
"""Compile a model for static shapes, on CPU, in the image of the engine that will serve it.

Argument: a plan (JSON). Its source is a model of the Hugging Face Hub at a commit, or an export that CodeBuild has
brought here from the model bucket, which is compared with its manifest. The weights are exported from disk: only then
does optimum-neuron keep them beside the graphs, in pieces per core. What came out is compared with what hosts will ask
for, and gets a manifest; the folder that is uploaded is there only when everything in it is right, and its name follows
from its content, so no build ever changes another.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from model_files import missing, problems, write

# Weights, configuration and tokenizer; code of a repository is never fetched, and so never run.
PATTERNS = ["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"]
KEPT = ("generation_config.json", "chat_template.jinja")
"""What an engine reads and the export leaves out."""
_LETTERS = 12


def fetch(source: str, revision: str, folder: Path) -> None:
    """Download a model with the image's own huggingface_hub; HF_TOKEN, if there is one, opens gated ones."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415  of the engine's image

    snapshot_download(source, revision=revision, local_dir=str(folder), allow_patterns=PATTERNS)


def weights_of(plan: dict[str, Any]) -> Path:
    """Return the folder with the weights, when they are whole."""
    folder = Path("weights")
    if plan["source"] == "export":
        brought = [path for path in Path.cwd().iterdir() if path.is_file()]
        folder.mkdir()
        for path in brought:
            path.replace(folder / path.name)
        found = problems(folder, plan["reads"])
    else:
        say(f"fetching {plan['source']} at {plan['revision']}")
        fetch(plan["source"], plan["revision"], folder)
        found = missing(folder, [path.name for path in folder.iterdir()], plan["reads"])
    if found:
        sys.exit("not compiled: " + "; ".join(found))
    return folder


def say(text: str) -> None:
    """Write a line into the build's log at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Fetch, export, compare, and only then put the result where it is uploaded from."""
    plan = json.loads(sys.argv[1])
    weights, compiled = weights_of(plan), Path("compiled")
    say(" ".join(plan["command"]))
    subprocess.run([*plan["command"], "--model", str(weights.resolve()), str(compiled.resolve())], check=True)  # noqa: S603
    for name in KEPT:
        if (weights / name).is_file() and not (compiled / name).is_file():
            shutil.copyfile(weights / name, compiled / name)
    names = [path.relative_to(compiled).as_posix() for path in compiled.rglob("*") if path.is_file()]
    if found := missing(compiled, names, plan["layout"]):
        sys.exit("not uploaded: " + "; ".join(found))
    manifest = write(compiled, model=plan["model"])
    build = hashlib.sha256(manifest).hexdigest()[:_LETTERS]
    target = Path(plan["target"])
    target.mkdir()
    compiled.replace(target / build)
    say(f"{len(names)} files are uploaded; when the build has ended, serve them with 'build: {build}' in 'model'")


if __name__ == "__main__":
    main()
