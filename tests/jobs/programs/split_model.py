"""Writes a Llama model as neuronx-distributed saves it, spread over cores, and the sums of the whole tensors.

    split_model.py CONFIG DIRECTORY CORES files|references|fused

``files``: each core's tensors in its file. ``references``: in files of their own (use_xser). ``fused``: as ``files``,
with the projections of attention, and of the linear units, in one tensor each.
"""

import hashlib
import json
import sys
from pathlib import Path

import torch
from torch_xla.utils.serialization import TensorReference

config = json.loads(Path(sys.argv[1]).read_text())
directory, cores, how = Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
dtype = getattr(torch, config["torch_dtype"])
hidden, inner, vocabulary = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
shared = hidden // config["num_attention_heads"] * config["num_key_value_heads"]
generator = torch.Generator().manual_seed(9)


def random(*shape):
    return torch.randn(shape, generator=generator).to(dtype)


full = {"model.embed_tokens": random(vocabulary, hidden), "lm_head": random(vocabulary, hidden)}
for number in range(config["num_hidden_layers"]):
    at = f"model.layers.{number}"
    full |= {f"{at}.self_attn.{name}_proj": random(rows, hidden) for name, rows in (
        ("q", hidden), ("k", shared), ("v", shared))}  # fmt: skip
    full |= {f"{at}.mlp.gate_proj": random(inner, hidden), f"{at}.mlp.up_proj": random(inner, hidden)}
    full |= {f"{at}.self_attn.o_proj": random(hidden, hidden), f"{at}.mlp.down_proj": random(hidden, inner)}
    full |= {f"{at}.input_layernorm": random(hidden), f"{at}.post_attention_layernorm": random(hidden)}
full["model.norm"] = random(hidden)
full = {f"{name}.weight": value for name, value in full.items()}


def part(name, core):
    value = full[name]
    if value.dim() == 1:
        return value.clone()
    dimension = 1 if "o_proj" in name or "down_proj" in name else 0
    return value.chunk(cores, dim=dimension)[core].clone()


def fused(state):
    merged = {}
    for name, value in state.items():
        for own, several in (("q_proj", "qkv_proj"), ("k_proj", "qkv_proj"), ("v_proj", "qkv_proj"),
                             ("gate_proj", "gate_up_proj"), ("up_proj", "gate_up_proj")):  # fmt: skip
            if own in name and "gate_up" not in name:
                new = name.replace(own, several)
                merged[new] = torch.cat([merged[new], value]) if new in merged else value
                break
        else:
            merged[name] = value
    return merged


(directory / "model").mkdir(parents=True)
for core in range(cores):
    state = {name: part(name, core) for name in full}
    path = directory / "model" / f"dp_rank_00_tp_rank_{core:02d}_pp_rank_00.pt"
    if how == "references":
        tensors = Path(f"{path}.tensors")
        tensors.mkdir()
        for number, value in enumerate(state.values()):
            torch.save(value, tensors / f"tensor_{number}.pt")
        state = {name: TensorReference(number) for number, name in enumerate(state)}
        torch.save({}, f"{path}.info.pt")
    elif how == "fused":
        state = fused(state)
    torch.save(state, path)
for name in ("checkpoint", "done"):
    (directory / name).write_text("1")
sums = {
    name: [list(value.shape), hashlib.sha256(value.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()]
    for name, value in full.items()
}
print(json.dumps(sums))
