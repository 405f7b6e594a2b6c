"""From the pieces of a checkpoint to the files of the whole model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save_file

from model_export import ExportError
from model_export.layout import files, index, weights
from model_export.staging import aside, sha256
from model_export.tokenizer import tokenizer_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from model_export.checkpoint import Checkpoint
    from model_export.layout import Weight
    from model_export.staging import Staging

INDEX, CONFIG, GENERATION = "model.safetensors.index.json", "config.json", "generation_config.json"


def convert(
    checkpoint: Checkpoint,
    config: Mapping[str, Any],
    tokenizer: Path,
    staging: Staging,
    *,
    dtype: str,
    limit: int,
    say: Callable[[str], None],
) -> list[str]:
    """Write every file of the model; return their names, in the order in which they may appear to a reader.

    Args:
        checkpoint: With the weights.
        config: Of the model.
        tokenizer: Directory with its files.
        staging: Where the files go.
        dtype: Torch's name of the numbers' type.
        limit: Bytes of a file, at most.
        say: Is told of every file.
    """
    copied = tokenizer_files(tokenizer, config["vocab_size"])
    wanted = weights(config)
    if odd := checkpoint.unknown(wanted):
        raise ExportError(f"'--checkpoint' has tensors that this model does not have: {', '.join(odd[:5])}")
    placed = files(wanted, dtype, limit)
    heads = (config["num_attention_heads"], config["num_key_value_heads"])
    for name, group in placed.items():
        there = staging.have(name)
        if not there:
            staging.add(name, lambda path, group=group: _write(path, checkpoint, group, heads, dtype))
        say(f"{name}: {len(group)} tensors{', there already' if there else ''}")
    staging.add_json(INDEX, index(placed, dtype))
    for path in copied:
        staging.add(path.name, lambda target, path=path: _copy(path, target))
    names = [*placed, *(path.name for path in copied)]
    if GENERATION not in names:
        tokens = {name: config[name] for name in ("bos_token_id", "eos_token_id") if config.get(name) is not None}
        staging.add_json(GENERATION, tokens)
        names.append(GENERATION)
    staging.add_json(CONFIG, {**config, "torch_dtype": dtype, "use_cache": True})
    return [*names, INDEX, CONFIG]


def _write(path: Path, checkpoint: Checkpoint, group: Sequence[Weight], heads: tuple[int, int], dtype: str) -> str:
    with aside(path) as temporary:
        tensors = {weight.name: _tensor(checkpoint, weight, heads, dtype) for weight in group}
        save_file(tensors, temporary, metadata={"format": "pt"})
    return sha256(path)


def _tensor(checkpoint: Checkpoint, weight: Weight, heads: tuple[int, int], dtype: str) -> torch.Tensor:
    whole = checkpoint.whole(weight, heads)
    if not torch.isfinite(whole).all():
        raise ExportError(f"{weight.name} has numbers that are not finite: the training went wrong before this step")
    written = whole.to(getattr(torch, dtype))
    if not torch.isfinite(written).all():
        raise ExportError(f"{weight.name} has numbers that {dtype} cannot hold; use '--dtype bfloat16'")
    return written.contiguous()


def _copy(source: Path, target: Path) -> str:
    with aside(target) as temporary:
        temporary.write_bytes(source.read_bytes())
    return sha256(target)
