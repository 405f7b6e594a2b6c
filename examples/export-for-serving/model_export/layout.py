"""The weights of a Llama model as Hugging Face names them, with their shapes, and how they are spread over cores."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from model_export import ExportError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Bytes of a number, by the names of torch."""

_SIZES = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")


@dataclass(frozen=True)
class Weight:
    """A tensor of the whole model.

    Attributes:
        name: Hugging Face's.
        shape: Of the whole.
        spread: The dimension that the cores share; None when each has all of it.
    """

    name: str
    shape: tuple[int, ...]
    spread: int | None

    @property
    def numbers(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


def load_config(path: Path) -> dict[str, Any]:
    """Return a ``config.json`` of a Llama model.

    Raises:
        ExportError: It cannot be read, or is none.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExportError(f"'--model' must be a config.json, got {path}: {error}") from error
    if not isinstance(found, dict) or found.get("model_type") != "llama":
        raise ExportError(f"'--model' must have 'model_type' \"llama\", got {path}; this job exports no other")
    found = {"num_key_value_heads": found.get("num_attention_heads"), "architectures": ["LlamaForCausalLM"], **found}
    wrong = [name for name in (*_SIZES, "num_key_value_heads") if type(found.get(name)) is not int or found[name] < 1]
    if wrong:
        raise ExportError(f"'--model' must have positive integers in {', '.join(wrong)}, got {path}")
    if found.get("attention_bias") or found.get("mlp_bias"):
        raise ExportError(f"'--model' must have no biases, got {path}; this job exports no other")
    return found


def weights(config: Mapping[str, Any]) -> list[Weight]:
    """Return every tensor of the model, in the order of its layers."""
    hidden, inner, vocabulary = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    head = config.get("head_dim") or hidden // config["num_attention_heads"]
    query, shared = config["num_attention_heads"] * head, config["num_key_value_heads"] * head
    layer = {
        "self_attn.q_proj": ((query, hidden), 0),
        "self_attn.k_proj": ((shared, hidden), 0),
        "self_attn.v_proj": ((shared, hidden), 0),
        "self_attn.o_proj": ((hidden, query), 1),
        "mlp.gate_proj": ((inner, hidden), 0),
        "mlp.up_proj": ((inner, hidden), 0),
        "mlp.down_proj": ((hidden, inner), 1),
        "input_layernorm": ((hidden,), None),
        "post_attention_layernorm": ((hidden,), None),
    }
    found = [Weight("model.embed_tokens.weight", (vocabulary, hidden), 0)]
    for number in range(config["num_hidden_layers"]):
        found += [Weight(f"model.layers.{number}.{name}.weight", *how) for name, how in layer.items()]
    found.append(Weight("model.norm.weight", (hidden,), None))
    if not config.get("tie_word_embeddings"):
        found.append(Weight("lm_head.weight", (vocabulary, hidden), 0))
    return found


def files(found: Sequence[Weight], dtype: str, limit: int) -> dict[str, list[Weight]]:
    """Return which tensors go into which file, none of them above ``limit`` bytes.

    Raises:
        ExportError: One tensor alone is larger.
    """
    groups: list[list[Weight]] = [[]]
    room = limit
    for weight in found:
        size = weight.numbers * BYTES[dtype]
        if size > limit:
            raise ExportError(
                f"'--file-gib' must hold the largest tensor, {weight.name} with {size} bytes, got {limit}"
            )
        if size > room:
            groups.append([])
            room = limit
        groups[-1].append(weight)
        room -= size
    return {f"model-{number:05d}-of-{len(groups):05d}.safetensors": group for number, group in enumerate(groups, 1)}


def index(placed: Mapping[str, Sequence[Weight]], dtype: str) -> dict[str, Any]:
    """Return the index that says which file has which tensor."""
    total = sum(weight.numbers for group in placed.values() for weight in group)
    where = {weight.name: name for name, group in placed.items() for weight in group}
    return {"metadata": {"total_size": total * BYTES[dtype]}, "weight_map": dict(sorted(where.items()))}
