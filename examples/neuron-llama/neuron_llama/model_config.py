"""The model, from a ``config.json`` as Hugging Face has it: the same file describes it to who serves it."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DTYPES = ("bfloat16", "float32")
_FIXED = {"model_type": "llama", "hidden_act": "silu", "rope_scaling": None, "tie_word_embeddings": False,
          "attention_bias": False, "mlp_bias": False}  # fmt: skip
"""What the model here cannot do otherwise, and what it must say if it says anything."""


@dataclass(frozen=True)
class ModelConfig:
    """A Llama model. The names are those of ``config.json``."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_theta: float
    initializer_range: float
    torch_dtype: str

    @property
    def head_size(self) -> int:
        """Numbers in a head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def parameters(self) -> int:
        """How many numbers are learnt."""
        attention = 2 * self.hidden_size * (self.num_attention_heads + self.num_key_value_heads) * self.head_size
        layer = attention + 3 * self.hidden_size * self.intermediate_size + 2 * self.hidden_size
        return self.num_hidden_layers * layer + 2 * self.vocab_size * self.hidden_size + self.hidden_size


def load_model_config(path: Path) -> tuple[ModelConfig | None, list[str]]:
    """Return the model that a file describes, and what is wrong with it; no model when it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        return None, [f"'--model' must be a config.json that can be read, got {path}: {error.strerror}"]
    except ValueError as error:
        return None, [f"'--model' must be JSON, got {path}: {error}"]
    if not isinstance(found, dict):
        return None, [f"'--model' must hold a JSON object, got {path} with a {type(found).__name__}"]
    known = {"num_key_value_heads": found.get("num_attention_heads"), "rope_theta": 10000.0, "initializer_range": 0.02,
             "torch_dtype": "bfloat16", **found}  # fmt: skip
    problems = [
        f"'{name}' of {path} must be {json.dumps(value)}, got {json.dumps(found[name])}; this job trains no other"
        for name, value in _FIXED.items()
        if name in found and found[name] != value
    ]
    for field in fields(ModelConfig):
        problems += _field_problems(field.name, str(field.type), known.get(field.name), path)
    if problems:
        return None, problems
    config = ModelConfig(**{field.name: known[field.name] for field in fields(ModelConfig)})
    return config, _shape_problems(config, path)


def _field_problems(name: str, kind: str, value: object, path: Path) -> list[str]:
    if name == "torch_dtype":
        good, wanted = value in DTYPES, f"one of {', '.join(DTYPES)}"
    elif kind == "int":
        good, wanted = type(value) is int and value > 0, "a positive integer"
    else:
        good, wanted = type(value) in {int, float} and value > 0, "a positive number"  # type: ignore[operator]
    return [] if good else [f"'{name}' of {path} must be {wanted}, got {json.dumps(value)}"]


def _shape_problems(config: ModelConfig, path: Path) -> list[str]:
    problems = []
    if config.hidden_size % config.num_attention_heads or config.head_size % 2:
        problems.append(
            f"'hidden_size' of {path} must be 'num_attention_heads' times an even number, "
            f"got {config.hidden_size} and {config.num_attention_heads}"
        )
    if config.num_attention_heads % config.num_key_value_heads:
        problems.append(
            f"'num_attention_heads' of {path} must be a multiple of 'num_key_value_heads', "
            f"got {config.num_attention_heads} and {config.num_key_value_heads}"
        )
    return problems
