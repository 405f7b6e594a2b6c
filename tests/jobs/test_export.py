"""The export itself, with torch: checkpoints of known weights in, and every bit of them out."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal.job_environment import REQUIREMENTS
from tests.jobs.parts import EXPORT, PROGRAMS, aws_cli, write_tiny, write_tokenizer
from tests.jobs.warm import Warm

pytestmark = pytest.mark.slow

STYLES = ("files", "references", "fused")


class Desk:
    """Checkpoints of one model, spread over two cores in every style, and the sums of its tensors."""

    def __init__(self, folder: Path, warm: Warm) -> None:
        self.folder, self.warm = folder, warm
        self.model, self.tokenizer = write_tiny(folder), write_tokenizer(folder)
        self.originals = {style: self._split(style, self.checkpoint(style)) for style in STYLES}

    def checkpoint(self, style: str) -> Path:
        return self.folder / style / "checkpoints" / "step_00000012"

    def words(self, checkpoint: Path, *more: str) -> list[str]:
        return [f"--checkpoint={checkpoint}", f"--model={self.model}", f"--tokenizer={self.tokenizer}", *more]

    def export(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.warm.run(EXPORT / "export.py", *words, PYTHONPATH="", **variables)  # it must do without torch_xla

    def _split(self, style: str, directory: Path) -> dict[str, list[object]]:
        done = self.warm.run(PROGRAMS / "split_model.py", str(self.model), str(directory), "2", style)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"), warm)


def tensors(directory: Path) -> dict[str, list[object]]:
    """Shape and sum of every tensor that the index names, read as the format is described, without the job's code."""
    index = json.loads((directory / "model.safetensors.index.json").read_text())
    found = {}
    for name, file in index["weight_map"].items():
        data = (directory / file).read_bytes()
        begin = 8 + int.from_bytes(data[:8], "little")
        entry = json.loads(data[8:begin])[name]
        assert entry["dtype"] == "BF16"
        first, last = (begin + offset for offset in entry["data_offsets"])
        found[name] = [entry["shape"], hashlib.sha256(data[first:last]).hexdigest()]
    return found


@pytest.mark.parametrize("style", STYLES)
def test_the_weights_are_those_that_were_spread_over_the_cores(desk: Desk, tmp_path: Path, style: str) -> None:
    done = desk.export(*desk.words(desk.checkpoint(style), f"--staging={tmp_path}", "--file-gib=0.00002"))
    assert done.returncode == 0, done.stderr
    assert tensors(tmp_path) == desk.originals[style]
    assert len(desk.originals[style]) == 2 * 9 + 3
    assert {path.name for path in tmp_path.iterdir()} == {
        "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json",
        "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "export.json",
    }  # fmt: skip
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert (config["torch_dtype"], config["model_type"], config["num_key_value_heads"]) == ("bfloat16", "llama", 2)
    generation = json.loads((tmp_path / "generation_config.json").read_text())
    assert generation == {"bos_token_id": 1, "eos_token_id": 2}


def test_the_staging_directory_is_beside_the_checkpoints_by_default(desk: Desk) -> None:
    done = desk.export(*desk.words(desk.checkpoint("files")))
    assert done.returncode == 0, done.stderr
    assert tensors(desk.folder / "files" / "export-step_00000012") == desk.originals["files"]


def test_cut_off_it_goes_on_with_the_files_that_are_whole(desk: Desk, tmp_path: Path) -> None:
    words = desk.words(desk.checkpoint("references"), f"--staging={tmp_path}", "--file-gib=0.00002")
    assert desk.export(*words).returncode == 0
    first, second = tmp_path / "model-00001-of-00002.safetensors", tmp_path / "model-00002-of-00002.safetensors"
    second.write_bytes(second.read_bytes()[:-9])  # it was being written when the power went
    written = first.stat().st_mtime_ns
    done = desk.export(*words)
    assert done.returncode == 0
    assert "model-00001-of-00002.safetensors: 10 tensors, there already\n" in done.stdout
    assert "model-00002-of-00002.safetensors: 11 tensors\n" in done.stdout
    assert first.stat().st_mtime_ns == written
    assert tensors(tmp_path) == desk.originals["references"]


def test_the_model_is_in_the_bucket_bit_by_bit(desk: Desk, tmp_path: Path, aws: LocalAws) -> None:
    client = aws.client("s3", "us-west-2")
    bucket = f"models-{uuid4().hex[:8]}"
    client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    words = desk.words(
        desk.checkpoint("references"), f"--staging={tmp_path}/s", f"--to=s3://{bucket}/m/tiny", "--file-gib=0.00002"
    )
    variables = aws_cli(tmp_path, aws)
    failing = desk.export(*words, **variables, AWS_FAULT="put-object config.json SlowDown 1")
    assert failing.returncode == 75, failing.stderr  # trying again may help
    done = desk.export(*words, **variables)
    assert done.returncode == 0, done.stderr
    there = tmp_path / "there"
    there.mkdir()
    for entry in client.list_objects_v2(Bucket=bucket, Prefix="m/tiny/")["Contents"]:
        name = entry["Key"].removeprefix("m/tiny/")
        (there / name).write_bytes(client.get_object(Bucket=bucket, Key=entry["Key"])["Body"].read())
    assert tensors(there) == desk.originals["references"]
    manifest = json.loads((there / "trainyard-manifest.json").read_text())
    assert sorted(manifest["files"]) == sorted(path.name for path in there.iterdir() if path.name[:9] != "trainyard")
    for name, facts in manifest["files"].items():
        data = (there / name).read_bytes()
        assert facts == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def damaged(desk: Desk, folder: Path, scripts: Sequence[str]) -> list[str]:
    """Copies of a checkpoint, each changed by a program; returns their paths."""
    places = [str(folder / f"damaged-{number}/checkpoints/step_00000012") for number in range(len(scripts))]
    cases = json.dumps(list(zip(scripts, places, strict=True)))
    done = desk.warm.run(PROGRAMS / "damage.py", str(desk.checkpoint("files")), cases)
    assert done.returncode == 0, done.stderr
    return places


def test_the_package_that_writes_the_weights_is_pinned_once() -> None:
    pinned = [line for line in (EXPORT / "requirements.txt").read_text().splitlines() if "==" in line]
    assert [pin for pin in pinned if pin not in REQUIREMENTS] == []


def test_a_python_without_torch_is_told_what_it_needs(desk: Desk) -> None:
    command = [sys.executable, str(EXPORT / "export.py"), *desk.words(desk.checkpoint("files"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1, "export.py: 'PYTHON' must have torch and what requirements.txt names: No module named 'torch'\n"
    )  # fmt: skip


def test_fails_with_a_sentence(desk: Desk, tmp_path: Path) -> None:
    checkpoint = str(desk.checkpoint("files"))
    wider = tmp_path / "wider.json"
    wider.write_text(json.dumps(json.loads(desk.model.read_text()) | {"intermediate_size": 50}))
    deeper = tmp_path / "deeper.json"
    deeper.write_text(json.dumps(json.loads(desk.model.read_text()) | {"num_hidden_layers": 3}))
    flatter = tmp_path / "flatter.json"
    flatter.write_text(json.dumps(json.loads(desk.model.read_text()) | {"num_hidden_layers": 1}))
    changes = {
        "(step / 'done').unlink()": "must be a complete checkpoint, got",
        "core.rename(core.with_name(core.name.replace('01', '02')))": "the files of every core, got those of 0, 2",
        "core.write_bytes(core.read_bytes()[:999])": "cannot be read",
        "state['model.norm.weight'][3] = 7; torch.save(state, core)": "must be the same on every core, and is not",
        "state.popitem(); torch.save(state, core)": "every core must have the same tensors",
        "state['lm_head.weight'][0, 0] = float('nan'); torch.save(state, core)": "numbers that are not finite",
        "torch.save({'x': torch.nn.Linear(1, 1)}, core)": "cannot be read: Weights only load",
        '(step / \'complete.json\').write_text(\'{"step": 1, "identity": 0, "files": {"x": 2}}\')': "must be whole",
    }
    broken = damaged(desk, tmp_path, list(changes))
    cases = {
        (checkpoint, "--to=s3://bucket"): "'--to' must be s3://BUCKET/PREFIX, and never the whole bucket",
        (checkpoint, "--file-gib=5"): "'--file-gib' must be above 0 and below 5, what S3 takes in one piece, got 5.0",
        (checkpoint, "--file-gib=0.000001"): "'--file-gib' must hold the largest tensor",
        (checkpoint, "--tokenizer=/none"): "/none",
        (checkpoint, f"--model={wider}"): "has the shape (48, 32), and '--model' says (50, 32); it is another model's",
        (checkpoint, f"--model={deeper}"): "model.layers.2.self_attn.q_proj.weight is not in the checkpoint (core 0)",
        (checkpoint, f"--model={flatter}"): "has tensors that this model does not have: model.layers.1.",
        **{(place,): message for place, message in zip(broken, changes.values(), strict=True)},
    }
    arguments = [desk.words(Path(case[0]), f"--staging={tmp_path}/s{number}", *case[1:])
                 for number, case in enumerate(cases)]  # fmt: skip
    results = [desk.export(*words) for words in arguments]
    wrong = {
        message: done for message, done in zip(cases.values(), results, strict=True)
        if done.returncode != 1 or message not in done.stderr or not done.stderr.startswith("export.py: ")
    }  # fmt: skip
    assert wrong == {}


def test_fails_on_numbers_that_the_chosen_type_cannot_hold(desk: Desk, tmp_path: Path) -> None:
    (large,) = damaged(desk, tmp_path, ["state['lm_head.weight'][0, 0] = 1e6; torch.save(state, core)"])
    words = desk.words(Path(large), f"--staging={tmp_path}/s", "--dtype=float16")
    done = desk.export(*words)
    assert (done.returncode, done.stderr) == (
        1, "export.py: lm_head.weight has numbers that float16 cannot hold; use '--dtype bfloat16'\n"
    )  # fmt: skip


def test_fails_to_go_on_with_another_checkpoint_of_the_same_name(desk: Desk, tmp_path: Path) -> None:
    (other,) = damaged(desk, tmp_path, ["state['lm_head.weight'][0, 0] = 1; torch.save(state, core)"])
    words = [desk.words(Path(place), f"--staging={tmp_path}/s") for place in (str(desk.checkpoint("files")), other)]
    first, second = (desk.export(*each) for each in words)
    assert (first.returncode, second.returncode) == (0, 1)
    assert "has an export with another written" in second.stderr


def test_other_numbers_can_be_asked_for(desk: Desk, tmp_path: Path) -> None:
    done = desk.export(*desk.words(desk.checkpoint("files"), f"--staging={tmp_path}", "--dtype=float32"))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "config.json").read_text())["torch_dtype"] == "float32"
    data = (tmp_path / "model-00001-of-00001.safetensors").read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert {entry["dtype"] for name, entry in header.items() if name != "__metadata__"} == {"F32"}
