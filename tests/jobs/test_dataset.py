"""The tokens: written, read where they are, and dealt to the ranks."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_llama.dataset import DatasetError, Order, TokenDataset, permuted, write_dataset


def numbers(data: bytes, width: int) -> list[int]:
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]


@pytest.mark.parametrize(("vocabulary", "dtype", "width"), [(65536, "uint16", 2), (128256, "uint32", 4)])
def test_what_is_written_is_read_across_files(tmp_path: Path, vocabulary: int, dtype: str, width: int) -> None:
    tokens = [number * 7919 % vocabulary for number in range(1000)]
    documents = [tokens[:10], tokens[10:500], tokens[500:]]
    assert write_dataset(tmp_path / "d", documents, vocabulary=vocabulary, shard_tokens=64) == 1000
    found = TokenDataset(tmp_path / "d")
    assert (found.tokens, found.vocabulary, found.dtype) == (1000, vocabulary, dtype)
    assert len(list((tmp_path / "d").glob("*.bin"))) == 16
    for first, count in ((0, 1000), (63, 2), (64, 64), (999, 1), (10, 0), (100, 700)):
        assert numbers(found.read(first, count), width) == tokens[first : first + count]


def test_a_sequence_has_a_token_after_it(tmp_path: Path) -> None:
    write_dataset(tmp_path / "d", [range(33)], vocabulary=64)
    found = TokenDataset(tmp_path / "d")
    assert (found.samples(16), found.samples(32), found.samples(33)) == (2, 1, 0)


def test_the_fingerprint_is_of_the_tokens(tmp_path: Path) -> None:
    for name, last in (("a", 1), ("b", 1), ("c", 2)):
        write_dataset(tmp_path / name, [[3, last]], vocabulary=64)
    prints = [TokenDataset(tmp_path / name).fingerprint for name in "abc"]
    assert prints[0] == prints[1] != prints[2]


@given(st.integers(1, 300), st.integers(0, 1 << 40))
def test_the_order_takes_every_sequence_once(count: int, seed: int) -> None:
    assert sorted(permuted(place, count, seed) for place in range(count)) == list(range(count))


def test_the_order_is_another_with_another_seed() -> None:
    orders = {tuple(permuted(place, 100, seed) for place in range(100)) for seed in range(20)}
    assert len(orders) == 20


@settings(max_examples=50 * settings().max_examples // 100)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(40, 90), st.integers(0, 30))
def test_the_ranks_together_read_the_step(ranks: int, parts: int, micro_batch: int, samples: int, step: int) -> None:
    order = Order(samples=samples, global_batch=ranks * parts * micro_batch, seed=3)
    dealt = [
        number
        for part in range(parts)
        for rank in range(ranks)
        for number in order.of_rank(step, part, rank=rank, ranks=ranks, micro_batch=micro_batch)
    ]
    assert dealt == order.of_step(step)
    # another number of ranks reads the same sequences in the same step
    assert order.of_step(step) == Order(samples=samples, global_batch=len(dealt), seed=3).of_step(step)


def test_an_epoch_reads_everything_once_and_the_next_in_another_order() -> None:
    order = Order(samples=24, global_batch=8, seed=1)
    first = [number for step in range(3) for number in order.of_step(step)]
    second = [number for step in range(3, 6) for number in order.of_step(step)]
    assert sorted(first) == sorted(second) == list(range(24))
    assert first != second


def test_fails_without_a_dataset(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"must be a directory that prepare\.py made, got .*: No such file"):
        TokenDataset(tmp_path / "none")


@pytest.mark.parametrize("text", ["[]", "{", '{"dtype": "uint16"}', '{"dtype":"uint16","vocabulary":1,"shards":[{}]}'])
def test_fails_with_another_description(tmp_path: Path, text: str) -> None:
    (tmp_path / "dataset.json").write_text(text)
    with pytest.raises(DatasetError, match=r"dataset\.json that prepare\.py did not write"):
        TokenDataset(tmp_path)


def test_fails_with_another_type(tmp_path: Path) -> None:
    (tmp_path / "dataset.json").write_text(json.dumps({"dtype": "int8", "vocabulary": 1, "shards": []}))
    with pytest.raises(DatasetError, match="must be one of uint16, uint32, got 'int8'"):
        TokenDataset(tmp_path)


def test_fails_when_a_file_was_cut_off(tmp_path: Path) -> None:
    write_dataset(tmp_path / "d", [range(50)], vocabulary=64, shard_tokens=32)
    (tmp_path / "d" / "tokens-00001.bin").write_bytes(b"1234567")
    with pytest.raises(DatasetError, match=r"got tokens-00001\.bin of .* with 7 bytes instead of 36; copy it again"):
        TokenDataset(tmp_path / "d")


def test_fails_to_write_over_a_dataset_or_a_token_that_is_too_large(tmp_path: Path) -> None:
    write_dataset(tmp_path / "d", [[1]], vocabulary=2)
    with pytest.raises(DatasetError, match="has a dataset already"):
        write_dataset(tmp_path / "d", [[1]], vocabulary=2)
    with pytest.raises(DatasetError, match="token 2 is not below the vocabulary of 2"):
        write_dataset(tmp_path / "e", [[1, 2]], vocabulary=2)
    assert not (tmp_path / "e" / "dataset.json").exists()  # it is no dataset
