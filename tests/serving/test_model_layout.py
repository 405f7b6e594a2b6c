"""What each engine reads of a model's folder, and the program that compares it."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.serving import EngineImage, Server, TextGenerationEngine
from cdk_trainyard.serving.model_layout import layout
from tests.serving import model_folder
from tests.serving.parts import model

pytestmark = pytest.mark.programs

PROGRAM = scripts_folder() / "ecs" / "model_files.py"
NXD = {
    "config.json": "{}",
    "tokenizer.model": "words",
    "tokenizer_config.json": "{}",
    "compiled/neuron_config.json": "{}",
    "compiled/model.pt": "graphs",
}
WEIGHTS = {"config.json": "{}", "tokenizer.json": "{}", "tokenizer_config.json": "{}", "model.safetensors": "weights"}
OWN = EngineImage(key="own.example/vllm:1", server=Server.HF_VLLM, reference="own.example/vllm:1")


def image(server: Server) -> EngineImage:
    return TextGenerationEngine(kind=server).container


def compared(folder: Path, files: dict[str, str], of: EngineImage, **of_model: object) -> str:
    """Return what the program says of a folder."""
    model_folder.write(folder, files)
    wanted = json.dumps(layout(model(**of_model), of))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), wanted], capture_output=True, text=True, check=False
    )
    assert bool(done.returncode) is bool(done.stderr)
    return done.stderr.strip()


@pytest.mark.parametrize(
    ("files", "server", "of_model"),
    [
        (model_folder.COMPILED, Server.TGI, {"presharded": True}),
        (model_folder.COMPILED, Server.TGI, {}),
        (model_folder.COMPILED, Server.HF_VLLM, {"presharded": True}),
        ({**NXD, "model.safetensors": "weights"}, Server.NEURON_VLLM, {}),
        (
            {**NXD, **{f"compiled/weights/tp{rank}_sharded_checkpoint.safetensors": "w" for rank in range(2)}},
            Server.NEURON_VLLM,
            {"presharded": True},
        ),
        (WEIGHTS, Server.HF_VLLM, {"precompiled": False}),
    ],
)
def test_a_folder_that_the_engine_can_serve(
    files: dict[str, str], server: Server, of_model: dict[str, bool], tmp_path: Path
) -> None:
    assert compared(tmp_path, files, image(server), **of_model) == ""


@pytest.mark.parametrize(
    ("files", "server", "of_model", "says"),
    [
        (WEIGHTS, Server.TGI, {}, "there is no neuron_config.json; there is no model.pt"),
        (NXD, Server.NEURON_VLLM, {}, "there is no *.safetensors"),
        (
            NXD,
            Server.NEURON_VLLM,
            {"presharded": True},
            "there is no compiled/weights/tp0_sharded_checkpoint.safetensors",
        ),
        (model_folder.COMPILED, Server.NEURON_VLLM, {}, "there is no compiled/neuron_config.json"),
        (
            model_folder.contents(neuron_config__json=model_folder.neuron_config(target="trn2")),
            Server.HF_VLLM,
            {},
            "target of neuron_config.json is trn2, and the service asks for trn1",
        ),
        (model_folder.COMPILED, Server.HF_VLLM, {"tensor_parallel": 1}, "tp_degree of neuron_config.json is 2"),
        ({}, Server.HF_VLLM, {"precompiled": False}, "there is no config.json"),
    ],
)
def test_fails_a_folder_that_the_engine_cannot_serve(
    files: dict[str, str], server: Server, of_model: dict[str, object], says: str, tmp_path: Path
) -> None:
    assert says in compared(tmp_path, files, image(server), **of_model)


def test_of_an_image_that_nobody_knows_only_the_manifest_is_compared(tmp_path: Path) -> None:
    assert compared(tmp_path, {"config.json": "{}", "graphs.bin": "x"}, OWN) == ""
    (tmp_path / "graphs.bin").write_text("y")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), json.dumps(layout(model(), OWN))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == "graphs.bin has not the SHA-256 of the manifest"


def test_the_manifest_of_a_model_that_is_uploaded_by_hand(tmp_path: Path) -> None:
    model_folder.write(tmp_path)
    (tmp_path / model_folder.MANIFEST).unlink()
    subprocess.run([sys.executable, str(PROGRAM), "--write", str(tmp_path)], check=True)
    files = json.loads((tmp_path / model_folder.MANIFEST).read_text())["files"]
    assert files["model.pt"] == {"bytes": 6, "sha256": hashlib.sha256(b"graphs").hexdigest()}
    assert set(files) == set(model_folder.COMPILED)
