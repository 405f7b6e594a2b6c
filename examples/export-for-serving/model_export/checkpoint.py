"""A checkpoint of neuronx-distributed, read without it: one tensor after the other, from every core's file.

Two ways to save are known: a file for each core with its tensors in it, and a file that refers to tensors in files of
their own (``use_xser=True``). Nothing but tensors and references is unpickled.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from model_export import ExportError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from model_export.layout import Weight

MARKER = "complete.json"  # of the job neuron-llama
_DONE = "done"  # neuronx-distributed's own
_FILE = re.compile(r"dp_rank_\d+_tp_rank_(\d+)_pp_rank_(\d+)\.pt")
_UNUSED = re.compile(r"\.rotary_emb\.inv_freq$|\.(cosine|sine)$")
_FUSED = (("q_proj", "qkv_proj", 0), ("k_proj", "qkv_proj", 1), ("v_proj", "qkv_proj", 2),
          ("gate_proj", "gate_up_proj", 0), ("up_proj", "gate_up_proj", 1))  # fmt: skip
"""Projections that some models have in one tensor: its name, and the place in it."""

_REFERENCE = "torch_xla.utils.serialization.TensorReference"


class _Reference:
    """Stands where torch_xla has a class of its own: the number of a tensor's file."""

    tid: int

    def __init__(self, tid: int = -1) -> None:
        self.tid = tid

    def __setstate__(self, state: Any) -> None:
        slots = state[1] if isinstance(state, tuple) else state  # with slots it is a pair
        self.tid = slots["tid"]


@dataclass(frozen=True)
class _Part:
    """What one file says: tensors, or references to files in a directory."""

    entries: Mapping[str, Any]
    directory: Path

    def tensor(self, name: str) -> torch.Tensor:
        entry = self.entries[name]
        if isinstance(entry, _Reference):
            return _load(self.directory / f"tensor_{entry.tid}.pt")
        return entry


class Checkpoint:
    """The weights in a checkpoint.

    Attributes:
        cores: How many share the model.
        facts: What the training said of itself, when it did.
    """

    def __init__(self, directory: Path) -> None:
        if not (directory / _DONE).is_file():
            raise ExportError(
                f"'--checkpoint' must be a complete checkpoint, got {directory} without '{_DONE}'; it is the directory "
                "of one step, and the training may still be writing it"
            )
        self.facts = _facts(directory)
        self._parts: dict[int, list[_Part]] = {}
        for path in sorted((directory / "model").glob("*.pt")):
            if found := _FILE.fullmatch(path.name):
                part = _Part(_load(path), path.with_name(f"{path.name}.tensors"))
                self._parts.setdefault(int(found[1]), []).append(part)
        self.cores = len(self._parts)
        if not self._parts or sorted(self._parts) != list(range(self.cores)):
            there = ", ".join(str(core) for core in sorted(self._parts)) or "none"
            raise ExportError(f"'--checkpoint' must have the files of every core, got those of {there} in {directory}")
        counts = {core: sum(len(part.entries) for part in parts) for core, parts in self._parts.items()}
        if len(set(counts.values())) != 1:
            raise ExportError(f"every core must have the same tensors, got {counts} in {directory}")

    def whole(self, weight: Weight, heads: tuple[int, int]) -> torch.Tensor:
        """Return a tensor of the whole model.

        Args:
            weight: Which.
            heads: Attention heads, and key and value heads, of the whole model.

        Raises:
            ExportError: It is not there, or not as the model's configuration says.
        """
        parts = [self._of_core(core, weight.name, heads) for core in range(self.cores)]
        if weight.spread is None:
            whole = parts[0]
            if not all(torch.equal(whole, part) for part in parts[1:]):
                raise ExportError(f"{weight.name} must be the same on every core, and is not: the training went wrong")
        else:
            whole = torch.cat(parts, dim=weight.spread)
        if tuple(whole.shape) != weight.shape:
            raise ExportError(
                f"{weight.name} has the shape {tuple(whole.shape)}, and '--model' says {weight.shape}; "
                "it is another model's configuration"
            )
        return whole

    def unknown(self, wanted: Iterable[Weight]) -> list[str]:
        """Return the names of tensors that are none of these, nor several of them in one."""
        known = {weight.name for weight in wanted}
        known |= {name.replace(own, fused) for name in known for own, fused, _ in _FUSED if own in name}
        names = {name for parts in self._parts.values() for part in parts for name in part.entries}
        return sorted(name for name in names - known if not _UNUSED.search(name))

    def _of_core(self, core: int, name: str, heads: tuple[int, int]) -> torch.Tensor:
        if (found := self._find(core, name)) is not None:
            return found
        for own, fused, place in _FUSED:
            if own in name and (several := self._find(core, name.replace(own, fused))) is not None:
                shares = (heads[0], heads[1], heads[1]) if fused == "qkv_proj" else (1, 1)
                rows = several.shape[0] // sum(shares)
                return several.split([rows * share for share in shares], dim=0)[place]
        raise ExportError(f"{name} is not in the checkpoint (core {core}); '--model' has another number of layers, or "
                          "the checkpoint is of another kind of model")  # fmt: skip

    def _find(self, core: int, name: str) -> torch.Tensor | None:
        for part in self._parts[core]:
            if name in part.entries:
                return part.tensor(name)
        return None


def _load(path: Path) -> Any:
    allowed = [(_Reference, _REFERENCE)]
    try:
        with torch.serialization.safe_globals(allowed):
            return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:
        raise ExportError(f"{path} cannot be read: {error}") from error


def _facts(directory: Path) -> dict[str, Any]:
    """Return what ``complete.json`` says of the training, after looking at the sizes that it lists."""
    path = directory / MARKER
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    for name, size in found["files"].items():
        file = directory / name
        if not file.is_file() or file.stat().st_size != size:
            raise ExportError(f"'--checkpoint' must be whole, got {directory}, where {name} is not of {size} bytes")
    return {"step": found["step"], **found["identity"]}
