"""Tokens on shared storage, and which of them every rank reads in every step.

A directory with ``dataset.json`` and files of tokens, each an unsigned integer of two or four bytes, little-endian.
The order is a permutation that is computed, not stored: a step's sequences depend on the seed and the step only, so a
training that goes on reads what it would have read, whatever the number of nodes.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

DESCRIPTION = "dataset.json"
WIDTHS = {"uint16": 2, "uint32": 4}
_ROUNDS = 4


class DatasetError(ValueError):
    """The tokens cannot be used; the message says why."""


class TokenDataset:
    """Tokens in files, read where they are.

    Attributes:
        tokens: How many there are.
        vocabulary: Every token is below it.
        dtype: ``"uint16"`` or ``"uint32"``.
        fingerprint: Of the description: another dataset has another one.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / DESCRIPTION
        try:
            text = path.read_bytes()
            found = json.loads(text)
            self.dtype, self.vocabulary = str(found["dtype"]), int(found["vocabulary"])
            shards = [(str(shard["file"]), int(shard["tokens"])) for shard in found["shards"]]
        except OSError as error:
            raise DatasetError(
                f"'--dataset' must be a directory that prepare.py made, got {directory}: {path}: {error.strerror}"
            ) from error
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"'--dataset' has a {DESCRIPTION} that prepare.py did not write: {error!r}") from error
        if self.dtype not in WIDTHS:
            raise DatasetError(f"'dtype' of {path} must be one of {', '.join(WIDTHS)}, got {self.dtype!r}")
        self._width = WIDTHS[self.dtype]
        self._files = [directory / name for name, _ in shards]
        self._ends = list(accumulate(count for _, count in shards))
        self._maps: dict[int, mmap.mmap] = {}
        self.tokens = self._ends[-1] if shards else 0
        self.fingerprint = hashlib.sha256(text).hexdigest()
        for file, (name, count) in zip(self._files, shards, strict=True):
            size = file.stat().st_size if file.is_file() else 0
            if size != count * self._width:
                raise DatasetError(
                    f"'--dataset' must be whole, got {name} of {directory} with {size} bytes instead of "
                    f"{count * self._width}; copy it again"
                )

    def samples(self, length: int) -> int:
        """Return how many sequences of ``length`` tokens there are, each followed by one more token."""
        return max(0, (self.tokens - 1) // length)

    def read(self, first: int, count: int) -> bytes:
        """Return tokens as they are in the files, across files too."""
        if not 0 <= first <= first + count <= self.tokens:
            raise IndexError(f"tokens {first} to {first + count} of {self.tokens}")
        return b"".join(self._parts(first, count))

    def _parts(self, first: int, count: int) -> Iterator[bytes]:
        while count:
            number = bisect_right(self._ends, first)
            begin = self._ends[number - 1] if number else 0
            taken = min(count, self._ends[number] - first)
            at = (first - begin) * self._width
            yield self._map(number)[at : at + taken * self._width]
            first, count = first + taken, count - taken

    def _map(self, number: int) -> mmap.mmap:
        if number not in self._maps:
            with self._files[number].open("rb") as file:
                self._maps[number] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._maps[number]


def permuted(position: int, count: int, seed: int) -> int:
    """Return where ``position`` of ``count`` goes in the permutation of this seed: every place is taken once.

    A Feistel network over the next even number of bits, walked until it lands inside.
    """
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    keys = [hashlib.sha256(f"{seed}:{turn}".encode()).digest() for turn in range(_ROUNDS)]
    place = position
    while True:
        left, right = place >> half, place & mask
        for key in keys:
            mixed = hashlib.blake2b(right.to_bytes(8, "little"), key=key, digest_size=8).digest()
            left, right = right, left ^ (int.from_bytes(mixed, "little") & mask)
        place = left << half | right
        if place < count:
            return place


class Order:
    """Which sequences a rank reads.

    Args:
        samples: Sequences of the dataset.
        global_batch: Sequences of a step.
        seed: Of the order.
    """

    def __init__(self, *, samples: int, global_batch: int, seed: int) -> None:
        self._samples, self._batch, self._seed = samples, global_batch, seed

    def of_step(self, step: int) -> list[int]:
        """Return the sequences of a step, all ranks together; each epoch has its own permutation."""
        first = step * self._batch
        return [self._at(position) for position in range(first, first + self._batch)]

    def of_rank(self, step: int, part: int, *, rank: int, ranks: int, micro_batch: int) -> list[int]:
        """Return the sequences of a rank in part ``part`` of a step."""
        first = step * self._batch + (part * ranks + rank) * micro_batch
        return [self._at(position) for position in range(first, first + micro_batch)]

    def _at(self, position: int) -> int:
        epoch, place = divmod(position, self._samples)
        return permuted(place, self._samples, self._seed * 1_000_003 + epoch)


def write_dataset(
    directory: Path, tokens: Iterable[Iterable[int]], *, vocabulary: int, shard_tokens: int = 1 << 28
) -> int:
    """Write tokens, document after document, and the description last; return how many there are.

    Args:
        directory: Is made, and must not have a dataset.
        tokens: Documents, each a row of tokens.
        vocabulary: Every token is below it.
        shard_tokens: Tokens of a file.

    Raises:
        DatasetError: There is a dataset already, or a token is too large.
    """
    if (directory / DESCRIPTION).exists():
        raise DatasetError(f"{directory} has a dataset already; take another directory")
    directory.mkdir(parents=True, exist_ok=True)
    writer = _Writer(directory, vocabulary, shard_tokens)
    for document in tokens:
        writer.add(document)
    return writer.finish()


class _Writer:
    """Files of equal size, one after the other."""

    def __init__(self, directory: Path, vocabulary: int, shard_tokens: int) -> None:
        self._directory, self._vocabulary, self._limit = directory, vocabulary, shard_tokens
        self._dtype = "uint16" if vocabulary <= 1 << 16 else "uint32"
        self._buffer = bytearray()
        self._shards: list[dict[str, object]] = []
        self._total = 0

    def add(self, document: Iterable[int]) -> None:
        width = WIDTHS[self._dtype]
        for token in document:
            if not 0 <= token < self._vocabulary:
                raise DatasetError(f"token {token} is not below the vocabulary of {self._vocabulary}")
            self._buffer += token.to_bytes(width, "little")
            if len(self._buffer) == self._limit * width:
                self._flush()

    def finish(self) -> int:
        if self._buffer:
            self._flush()
        description = {"dtype": self._dtype, "vocabulary": self._vocabulary, "shards": self._shards}
        temporary = self._directory / f"{DESCRIPTION}.tmp"
        temporary.write_text(json.dumps(description, indent=1), encoding="utf-8")
        temporary.replace(self._directory / DESCRIPTION)
        return self._total

    def _flush(self) -> None:
        name = f"tokens-{len(self._shards):05d}.bin"
        (self._directory / name).write_bytes(self._buffer)
        count = len(self._buffer) // WIDTHS[self._dtype]
        digest = hashlib.sha256(self._buffer).hexdigest()
        self._shards.append({"file": name, "tokens": count, "sha256": digest})
        self._total += count
        self._buffer.clear()
