"""Llama, its weights spread over NeuronCores by the layers of neuronx-distributed.

Parameters have the names and the orientation of Hugging Face's ``LlamaForCausalLM``, each core with its part. Inside,
a row of hidden states is ``[sequence, batch, hidden]``: with sequence parallelism each core has a part of the first
dimension between the projections.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import torch
from neuronx_distributed.kernels.flash_attn import nki_flash_attn_func
from neuronx_distributed.modules.rms_norm import RMSNorm
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from neuronx_distributed.parallel_layers.loss_functions import parallel_cross_entropy
from neuronx_distributed.parallel_layers.parallel_state import get_tensor_model_parallel_size
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_llama.model_config import ModelConfig

_MASKED = -10000.0


class PlainAttention(nn.Module):
    """Attention in plain operators, with nothing learnt: a module, so that its results can be computed again."""

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Take and return ``[batch, heads, sequence, head]``."""
        length = query.shape[2]
        scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.shape[3])
        later = torch.triu(torch.ones((length, length), device=query.device), diagonal=1).bool()
        weights = functional.softmax(scores.masked_fill(later, _MASKED), dim=-1, dtype=torch.float32)
        return torch.matmul(weights.to(value.dtype), value)


class FlashAttention(nn.Module):
    """Attention in Neuron's kernel, with nothing learnt."""

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Take and return ``[batch, heads, sequence, head]``; the kernel wants the sequence last."""
        parts = (states.transpose(2, 3) for states in (query, key, value))
        return nki_flash_attn_func(*parts, causal=True, transpose_nki_inputs=True)


class Attention(nn.Module):
    """Projections, rotary positions, and attention between."""

    def __init__(self, config: ModelConfig, *, flash: bool, column: Callable[..., nn.Module], row: nn.Module) -> None:
        super().__init__()
        cores = get_tensor_model_parallel_size()
        self.head_size = config.head_size
        self.heads = config.num_attention_heads // cores
        self.key_value_heads = config.num_key_value_heads // cores
        self.q_proj = column(config.hidden_size, config.num_attention_heads * config.head_size)
        self.k_proj = column(config.hidden_size, config.num_key_value_heads * config.head_size)
        self.v_proj = column(config.hidden_size, config.num_key_value_heads * config.head_size)
        self.o_proj = row
        self.core = FlashAttention() if flash else PlainAttention()

    def forward(self, hidden: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """Take and return ``[sequence, batch, hidden]``."""
        query = rotated(self._heads_of(self.q_proj(hidden), self.heads), cosine, sine)
        key = rotated(self._heads_of(self.k_proj(hidden), self.key_value_heads), cosine, sine)
        value = self._heads_of(self.v_proj(hidden), self.key_value_heads)
        shared = self.heads // self.key_value_heads
        if shared > 1:
            key, value = key.repeat_interleave(shared, dim=1), value.repeat_interleave(shared, dim=1)
        mixed = self.core(query, key, value)
        batch, _, length, _ = mixed.shape
        return self.o_proj(mixed.permute(2, 0, 1, 3).reshape(length, batch, self.heads * self.head_size))

    def _heads_of(self, states: torch.Tensor, heads: int) -> torch.Tensor:
        length, batch, _ = states.shape
        return states.reshape(length, batch, heads, self.head_size).permute(1, 2, 0, 3)


class Mlp(nn.Module):
    """The gated linear units."""

    def __init__(self, config: ModelConfig, *, column: Callable[..., nn.Module], row: nn.Module) -> None:
        super().__init__()
        self.gate_proj = column(config.hidden_size, config.intermediate_size)
        self.up_proj = column(config.hidden_size, config.intermediate_size)
        self.down_proj = row

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Take and return ``[sequence, batch, hidden]``."""
        return self.down_proj(functional.silu(self.gate_proj(hidden)) * self.up_proj(hidden))


class DecoderLayer(nn.Module):
    """Attention and linear units, each after a norm and added to what came in."""

    def __init__(self, config: ModelConfig, *, flash: bool, sequence_parallel: bool) -> None:
        super().__init__()
        common = _common(config, sequence_parallel)
        column = partial(ColumnParallelLinear, gather_output=False, **common)
        row = partial(RowParallelLinear, input_is_parallel=True, **common)
        width = config.num_attention_heads * config.head_size
        self.input_layernorm = _norm(config, sequence_parallel)
        self.self_attn = Attention(config, flash=flash, column=column, row=row(width, config.hidden_size))
        self.post_attention_layernorm = _norm(config, sequence_parallel)
        self.mlp = Mlp(config, column=column, row=row(config.intermediate_size, config.hidden_size))

    def forward(self, hidden: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """Take and return ``[sequence, batch, hidden]``."""
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), cosine, sine)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class LlamaModel(nn.Module):
    """Everything but the head."""

    def __init__(self, config: ModelConfig, *, flash: bool, sequence_parallel: bool) -> None:
        super().__init__()
        self.embed_tokens = ParallelEmbedding(
            config.vocab_size,
            config.hidden_size,
            init_method=_init(config),
            dtype=_dtype(config),
            sequence_parallel_enabled=sequence_parallel,
        )
        self.layers = nn.ModuleList(
            DecoderLayer(config, flash=flash, sequence_parallel=sequence_parallel)
            for _ in range(config.num_hidden_layers)
        )
        self.norm = _norm(config, sequence_parallel)
        self.sequence_parallel = sequence_parallel
        cosine, sine = rotations(config)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Take tokens ``[batch, sequence]``, return ``[sequence, batch, hidden]``."""
        hidden = self.embed_tokens(tokens)
        if not self.sequence_parallel:  # with it, the embedding has put the sequence first already
            hidden = hidden.transpose(0, 1).contiguous()
        length = tokens.shape[1]
        cosine, sine = self.cosine[:length], self.sine[:length]
        for layer in self.layers:
            hidden = layer(hidden, cosine, sine)
        return self.norm(hidden)


class LlamaForCausalLM(nn.Module):
    """The model with its head and its loss."""

    def __init__(self, config: ModelConfig, *, flash: bool, sequence_parallel: bool) -> None:
        super().__init__()
        self.model = LlamaModel(config, flash=flash, sequence_parallel=sequence_parallel)
        self.lm_head = ColumnParallelLinear(
            config.hidden_size, config.vocab_size, gather_output=False, **_common(config, sequence_parallel)
        )

    def forward(self, tokens: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of the next tokens.

        Args:
            tokens: ``[batch, sequence]``.
            labels: The token that follows each of them, in the same shape.
        """
        logits = self.lm_head(self.model(tokens))  # [sequence, batch, this core's part of the vocabulary]
        return parallel_cross_entropy(logits.float(), labels.transpose(0, 1).contiguous()).mean()


def rotations(config: ModelConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosine and sine of every position, ``[sequence, head]``, in single precision."""
    powers = torch.arange(0, config.head_size, 2, dtype=torch.float32) / config.head_size
    angles = torch.outer(torch.arange(config.max_position_embeddings, dtype=torch.float32), config.rope_theta**-powers)
    twice = torch.cat((angles, angles), dim=-1)
    return twice.cos(), twice.sin()


def rotated(states: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """Turn the two halves of each head by the angle of their position."""
    first, second = states.float().chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    return (states.float() * cosine + turned * sine).to(states.dtype)


def _norm(config: ModelConfig, sequence_parallel: bool) -> nn.Module:
    norm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps, sequence_parallel_enabled=sequence_parallel)
    return norm.to(_dtype(config))


def _common(config: ModelConfig, sequence_parallel: bool) -> dict[str, object]:
    common: dict[str, object] = {"bias": False, "init_method": _init(config), "dtype": _dtype(config)}
    if sequence_parallel:
        common |= {"sequence_parallel_enabled": True, "sequence_dimension": 0}
    return common


def _init(config: ModelConfig) -> Callable[[torch.Tensor], torch.Tensor]:
    return partial(nn.init.normal_, mean=0.0, std=config.initializer_range)


def _dtype(config: ModelConfig) -> torch.dtype:
    return getattr(torch, config.torch_dtype)
