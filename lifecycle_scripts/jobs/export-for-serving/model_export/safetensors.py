"""The file format safetensors: eight bytes of length, a header in JSON, and the numbers of every tensor after it.

Described at huggingface.co/docs/safetensors. Written here, because the environment that trains has torch and need not
have the package; what is written is the whole format that a reader needs.
"""

from __future__ import annotations

import hashlib
import json
import os
from math import prod
from typing import TYPE_CHECKING, Any

from model_export import ExportError
from model_export.layout import BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

NAMES = {"bfloat16": "BF16", "float16": "F16", "float32": "F32"}
"""What the format calls the types of torch."""

_LENGTH = 8
_ALIGNED = 8
_LONGEST_HEADER = 100_000_000


def header(shapes: Mapping[str, Sequence[int]], dtype: str) -> bytes:
    """Return what stands before the numbers: its length, and where each tensor is."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, shape in shapes.items():
        end = offset + prod(shape) * BYTES[dtype]
        entries[name] = {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNED)
    return len(text).to_bytes(_LENGTH, "little") + text


def write(path: Path, shapes: Mapping[str, Sequence[int]], dtype: str, data: Iterable[bytes | memoryview]) -> str:
    """Write a file aside, and give it its name when it is on the disk; return its SHA-256.

    Args:
        path: Of the file.
        shapes: Of its tensors, in order.
        dtype: Torch's name of their type.
        data: Their numbers, in the same order.
    """
    digest = hashlib.sha256()
    temporary = path.with_name(f"{path.name}.partial")
    begin = header(shapes, dtype)
    wanted = [prod(shape) * BYTES[dtype] for shape in shapes.values()]
    with temporary.open("wb") as file:
        file.write(begin)
        digest.update(begin)
        for name, size, numbers in zip(shapes, wanted, data, strict=True):
            if len(numbers) != size:
                raise ExportError(f"{name} has {len(numbers)} bytes instead of {size}")
            file.write(numbers)
            digest.update(numbers)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return digest.hexdigest()


def read_header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the entries of a file's header, without its metadata, and where the numbers begin.

    Raises:
        ExportError: It is not whole.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        if length > min(_LONGEST_HEADER, size - _LENGTH):
            raise ExportError(f"{path} is no safetensors file: its header would have {length} bytes")
        try:
            entries = json.loads(file.read(length))
        except ValueError as error:
            raise ExportError(f"{path} is no safetensors file: {error}") from error
    entries.pop("__metadata__", None)
    begin = _LENGTH + length
    end = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
    if begin + end != size:
        raise ExportError(f"{path} is not whole: {size} bytes instead of {begin + end}")
    return entries, begin
