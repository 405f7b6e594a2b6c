"""CodeBuild and an engine's image, as far as a build of a model sees them: its commands run, with stand-ins of Hub and
compiler that have the originals' options."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdk_trainyard.serving import Server

REVISION = "0123456789abcdef0123456789abcdef01234567"

# The options of commands/export/neuronx.py that language models take, and what the export of a local directory leaves:
# optimum-neuron v0.4.5 and v0.3.0. Both drop what they do not take without a word, but for what no parser knows.
_COMPILER = """\
#!{python}
import argparse, json, os, pathlib, sys

server = {server!r}
assert sys.argv[1:3] == ["export", "neuron"], sys.argv
parser = argparse.ArgumentParser()
for name in ("batch_size", "sequence_length"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--task", required=True)
parser.add_argument("-m", "--model", required=True)
parser.add_argument("output", type=pathlib.Path)
if server == "hf-vllm":
    parser.add_argument("--instance_type", choices=["trn1", "inf2", "trn1n", "trn2"], required=True)
    parser.add_argument("--tensor_parallel_size", dest="cores", type=int, required=True)
else:
    parser.add_argument("--tensor_parallel_size", type=int)
    parser.add_argument("--num_cores", dest="cores", type=int, required=True)
    parser.add_argument("--auto_cast_type", choices=["bf16", "fp16", "tf32"], default="bf16")
    if os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE") != "trn1":
        sys.exit("RuntimeError: Unsupported Platform")
said = parser.parse_args(sys.argv[3:])
if os.environ.get("BREAK") == "compiler":
    sys.exit("neuronx-cc: NCC_ITEN404")
weights = pathlib.Path(said.model)
assert weights.is_dir(), weights
config = json.loads((weights / "config.json").read_text())
dtype = config["torch_dtype"] if server == "hf-vllm" else {{"bf16": "bfloat16", "fp16": "float16"}}[said.auto_cast_type]
said.output.mkdir(parents=True)
(said.output / "config.json").write_text(json.dumps(config))
for name in ("tokenizer.json", "tokenizer_config.json"):  # AutoTokenizer.save_pretrained, when there is one
    if (weights / name).exists():
        (said.output / name).write_text((weights / name).read_text())
(said.output / "model.pt").write_bytes(b"graphs of " + server.encode())
(said.output / "neuron_config.json").write_text(json.dumps({{
    "batch_size": said.batch_size, "sequence_length": said.sequence_length, "tp_degree": said.cores,
    "torch_dtype": dtype, "target": "trn1" if server == "hf-vllm" else None,
}}))
if os.environ.get("BREAK") != "weights":
    folder = said.output / "checkpoint" / "weights"
    folder.mkdir(parents=True)
    (model,) = weights.glob("*.safetensors")
    for rank in range(said.cores):
        (folder / f"tp{{rank}}_sharded_checkpoint.safetensors").write_bytes(bytes([rank]) + model.read_bytes())
"""
_HUB = """\
import json, pathlib, os

def snapshot_download(repo_id, *, revision, local_dir, allow_patterns):
    assert (repo_id, revision) == ("meta-llama/Llama-3.2-3B-Instruct", "{revision}")
    assert "*.safetensors" in allow_patterns and not any(pattern.endswith("py") for pattern in allow_patterns)
    assert os.environ.get("HF_TOKEN") == "a token"
    folder = pathlib.Path(local_dir)
    folder.mkdir()
    dtype = "float32" if os.environ.get("BREAK") == "dtype" else "bfloat16"
    (folder / "config.json").write_text(json.dumps({{"torch_dtype": dtype}}))
    (folder / "generation_config.json").write_text('{{"eos_token_id": [1, 2]}}')
    (folder / "tokenizer_config.json").write_text("{{}}")
    if os.environ.get("BREAK") != "tokenizer":
        (folder / "tokenizer.json").write_text("{{}}")
    (folder / "model.safetensors").write_bytes(b"weights")
"""


@dataclass
class BuildMachine:
    """A machine that runs one build.

    Attributes:
        folder: Its disk.
        project: Properties of the project.
        server: Whose image it runs.
        sources: What CodeBuild has brought from the project's source, by name.
    """

    folder: Path
    project: dict[str, Any]
    server: Server
    sources: dict[str, bytes] = field(default_factory=dict)

    @property
    def uploads(self) -> Path:
        """What CodeBuild uploads below the artifact's path, when the commands have succeeded."""
        spec = json.loads(self.project["Source"]["BuildSpec"])
        assert spec["artifacts"] == {"base-directory": "model", "files": ["**/*"]}
        return self.folder / "src" / "model"

    @property
    def build(self) -> Path:
        """The one folder that is uploaded."""
        (found,) = self.uploads.iterdir()
        return found

    def run(self, *, broken: str = "") -> subprocess.CompletedProcess[str]:
        """Run the commands as CodeBuild does: one after the other, until one fails."""
        spec = json.loads(self.project["Source"]["BuildSpec"])
        compiler, hub = self.folder / "bin" / "optimum-cli", self.folder / "packages" / "huggingface_hub.py"
        programs = {
            compiler: _COMPILER.format(python=sys.executable, server=self.server.value),
            hub: _HUB.format(revision=REVISION),
        }
        for path, text in programs.items():
            path.parent.mkdir(parents=True)
            path.write_text(text)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        work = self.folder / "src"
        work.mkdir()
        for name, content in self.sources.items():
            (work / name).write_bytes(content)
        variables = self.project["Environment"].get("EnvironmentVariables", [])
        environment = os.environ | {
            **{row["Name"]: row["Value"] for row in variables if row.get("Type") != "SECRETS_MANAGER"},
            "PATH": f"{compiler.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(hub.parent),
            "HF_TOKEN": "a token",
            "BREAK": broken,
        }
        for command in spec["phases"]["build"]["commands"]:
            text = command.replace("/tmp/trainyard", str(self.folder / "scripts"))  # noqa: S108  the container's own
            done = subprocess.run(
                ["/bin/sh", "-c", text], cwd=work, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                break
        return done
