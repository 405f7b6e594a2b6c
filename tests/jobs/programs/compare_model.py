"""Compares the model, spread over this group of processes, with Llama written down from its definition.

The other one has whole weights, turns heads as complex numbers and sums the loss by hand. Loss and every gradient must
be the same.
"""

import dataclasses
import json
import sys
from pathlib import Path

import torch
import torch_xla.distributed.xla_backend  # noqa: F401
from neuronx_distributed.parallel_layers import parallel_state
from torch import distributed

sys.path.insert(0, sys.argv[1])
from neuron_llama.llama import LlamaForCausalLM
from neuron_llama.model_config import load_model_config

ROWS = {"o_proj", "down_proj"}  # spread by their columns


def whole(name, tensor):
    """The tensor of all processes, as Hugging Face has it."""
    width = parallel_state.get_tensor_model_parallel_size()
    if tensor.dim() == 1:
        return tensor
    parts = [torch.empty_like(tensor) for _ in range(width)]
    distributed.all_gather(parts, tensor.contiguous(), group=parallel_state.get_tensor_model_parallel_group())
    return torch.cat(parts, dim=1 if name.split(".")[-2] in ROWS else 0)


def normed(states, weight, epsilon):
    return states / (states.pow(2).mean(-1, keepdim=True) + epsilon).sqrt() * weight


def turned(states, config):
    """[batch, sequence, heads, head]: each pair of a head's halves is a number that is turned by its position."""
    half = config.head_size // 2
    angles = torch.arange(states.shape[1]).outer(config.rope_theta ** (-torch.arange(half) / half))
    numbers = (
        torch.complex(states[..., :half], states[..., half:]) * torch.polar(torch.ones_like(angles), angles)[:, None]
    )
    return torch.cat([numbers.real, numbers.imag], dim=-1)


def loss_of(weights, tokens, labels, config):
    states = weights["model.embed_tokens.weight"][tokens]
    for number in range(config.num_hidden_layers):
        layer = {
            name.split(f"layers.{number}.")[1].removesuffix(".weight"): value
            for name, value in weights.items()
            if f"layers.{number}." in name
        }
        inner = normed(states, layer["input_layernorm"], config.rms_norm_eps)
        query, key, value = (
            (inner @ layer[f"self_attn.{name}_proj"].T).unflatten(-1, (-1, config.head_size)) for name in "qkv"
        )
        query, key = turned(query, config), turned(key, config)
        mixed = []
        for head in range(config.num_attention_heads):
            shared = head * config.num_key_value_heads // config.num_attention_heads
            scores = query[:, :, head] @ key[:, :, shared].transpose(1, 2) / config.head_size**0.5
            hidden = torch.ones_like(scores[0]).triu(1).bool()
            mixed.append(scores.masked_fill(hidden, float("-inf")).softmax(-1) @ value[:, :, shared])
        states = states + torch.cat(mixed, -1) @ layer["self_attn.o_proj"].T
        inner = normed(states, layer["post_attention_layernorm"], config.rms_norm_eps)
        gate = inner @ layer["mlp.gate_proj"].T
        states = states + (gate * gate.sigmoid() * (inner @ layer["mlp.up_proj"].T)) @ layer["mlp.down_proj"].T
    scores = normed(states, weights["model.norm.weight"], config.rms_norm_eps) @ weights["lm_head.weight"].T
    return -scores.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).mean()


def compare(config, *, sequence_parallel, flash):
    torch.manual_seed(5)
    model = LlamaForCausalLM(config, flash=flash, sequence_parallel=sequence_parallel)
    rows = torch.randint(0, config.vocab_size, (3, 17), generator=torch.Generator().manual_seed(1))
    tokens, labels = rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
    found = model(tokens, labels)
    found.backward()
    weights = {name: whole(name, value.detach()).requires_grad_() for name, value in model.named_parameters()}
    expected = loss_of(weights, tokens, labels, config)
    expected.backward()
    assert torch.allclose(found, expected, rtol=1e-5), (found, expected)
    for name, value in model.named_parameters():
        gradient = value.grad
        if value.dim() == 1 and sequence_parallel:  # each process has seen its part of the sequence
            distributed.all_reduce(gradient, group=parallel_state.get_tensor_model_parallel_group())
        assert torch.allclose(whole(name, gradient), weights[name].grad, rtol=1e-3, atol=1e-6), name
    return {"parameters": sum(value.numel() for value in weights.values()), "loss": round(found.item(), 5)}


def main():
    config, problems = load_model_config(Path(sys.argv[2]))
    assert not problems, problems
    config = dataclasses.replace(config, torch_dtype="float32")
    distributed.init_process_group("xla")
    parallel_state.initialize_model_parallel(distributed.get_world_size())
    results = [
        compare(config, sequence_parallel=sequence_parallel, flash=flash)
        for sequence_parallel in (False, True)
        for flash in (False, True)
    ]
    if distributed.get_rank() == 0:
        print(json.dumps({"event": "same", "expected": config.parameters, "results": results}))
    distributed.destroy_process_group()


main()
