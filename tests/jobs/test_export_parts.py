"""The parts of the export that need no torch: layout, staging, tokenizer."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_export import ExportError
from model_export.layout import BYTES, files, index, load_config, weights
from model_export.staging import Staging
from model_export.tokenizer import tokenizer_files

from tests.jobs.parts import LLAMA, TINY, write_tiny, write_tokenizer


def test_the_weights_of_llama_2_7b() -> None:
    found = weights(load_config(LLAMA / "llama-2-7b.json"))
    assert sum(weight.numbers for weight in found) == 6_738_415_616
    assert len(found) == 32 * 9 + 3
    shapes = {weight.name: (weight.shape, weight.spread) for weight in found}
    assert shapes["model.layers.31.mlp.down_proj.weight"] == ((4096, 11008), 1)
    assert shapes["model.norm.weight"] == ((4096,), None)
    placed = files(found, "bfloat16", 4 * 1024**3)
    assert list(placed) == [f"model-0000{number}-of-00004.safetensors" for number in (1, 2, 3, 4)]
    assert index(placed, "bfloat16")["metadata"] == {"total_size": 13_476_831_232}


def test_key_and_value_heads_are_as_many_as_the_others_by_default_and_a_tied_head_is_not_written(
    tmp_path: Path,
) -> None:
    path = write_tiny(tmp_path, tie_word_embeddings=True)
    config = json.loads(path.read_text())
    del config["num_key_value_heads"]
    path.write_text(json.dumps(config))
    found = {weight.name: weight.shape for weight in weights(load_config(path))}
    assert found["model.layers.0.self_attn.k_proj.weight"] == (32, 32)
    assert "lm_head.weight" not in found


@settings(max_examples=60 * settings().max_examples // 100)
@given(st.integers(4096, 200_000), st.sampled_from(sorted(BYTES)))
def test_every_tensor_is_in_one_file_and_no_file_is_too_large(limit: int, dtype: str) -> None:
    found = weights(TINY)
    largest = max(weight.numbers * BYTES[dtype] for weight in found)
    if largest > limit:
        with pytest.raises(ExportError, match=r"'--file-gib' must hold the largest tensor"):
            files(found, dtype, limit)
        return
    placed = files(found, dtype, limit)
    assert [weight for group in placed.values() for weight in group] == found
    assert all(sum(weight.numbers * BYTES[dtype] for weight in group) <= limit for group in placed.values())
    assert set(index(placed, dtype)["weight_map"].values()) == set(placed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "'--model' must be a config.json, got"),
        ('{"model_type": "gpt2"}', "must have 'model_type' \"llama\""),
        (json.dumps(TINY | {"vocab_size": "64"}), "must have positive integers in vocab_size"),
        (json.dumps(TINY | {"attention_bias": True}), "must have no biases"),
    ],
)
def test_fails_with_another_model(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ExportError) as caught:
        load_config(tmp_path / "config.json")
    assert message in str(caught.value)


# ---------------------------------------------------------------- staging
def test_what_is_there_is_not_written_again_unless_it_has_changed(tmp_path: Path) -> None:
    staging = Staging(tmp_path / "s", {"checkpoint": "a"})
    staging.add_json("x.json", {"a": 1})
    again = Staging(tmp_path / "s", {"checkpoint": "a"})
    assert again.have("x.json")
    assert not again.have("y.json")
    (tmp_path / "s" / "x.json").write_text("{}")
    assert not again.have("x.json")


def test_fails_to_mix_two_exports(tmp_path: Path) -> None:
    Staging(tmp_path / "s", {"checkpoint": "a", "dtype": "float32"}).add_json("x.json", 1)
    with pytest.raises(ExportError, match="has an export with another checkpoint"):
        Staging(tmp_path / "s", {"checkpoint": "b", "dtype": "float32"})


# ---------------------------------------------------------------- tokenizer
def test_the_files_of_a_tokenizer(tmp_path: Path) -> None:
    directory = write_tokenizer(tmp_path)
    (directory / "chat_template.jinja").write_text("x")
    (directory / "README.md").write_text("not served")
    names = [path.name for path in tokenizer_files(directory, 64)]
    assert names == ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"]


def test_fails_with_a_tokenizer_that_is_not_whole_or_another_model_s(tmp_path: Path) -> None:
    directory = write_tokenizer(tmp_path)
    with pytest.raises(ExportError, match=r"no token above 'vocab_size' of the model \(63\), got 63"):
        tokenizer_files(directory, 63)
    (directory / "tokenizer_config.json").unlink()
    with pytest.raises(ExportError, match=r"must be a directory with tokenizer_config\.json"):
        tokenizer_files(directory, 64)
    (directory / "tokenizer.json").unlink()
    with pytest.raises(ExportError, match=r"with tokenizer\.json or tokenizer\.model and tokenizer_config\.json"):
        tokenizer_files(directory, 64)


def test_the_words_of_a_unigram_tokenizer_are_counted(tmp_path: Path) -> None:
    directory = write_tokenizer(tmp_path)
    (directory / "tokenizer.json").write_text(json.dumps({"model": {"vocab": [["a", -1.0]] * 65}}))
    with pytest.raises(ExportError, match="got 64"):
        tokenizer_files(directory, 64)
