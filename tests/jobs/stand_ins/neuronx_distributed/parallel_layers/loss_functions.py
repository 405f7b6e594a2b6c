"""Stand-in: the loss of logits whose vocabulary is spread over the ranks."""

import torch
from torch import distributed

from neuronx_distributed.parallel_layers import parallel_state
from neuronx_distributed.parallel_layers.layers import summed


def parallel_cross_entropy(vocab_parallel_logits, target, label_smoothing=0.0):
    highest = vocab_parallel_logits.detach().max(dim=-1).values
    group = parallel_state.get_tensor_model_parallel_group()
    distributed.all_reduce(highest, op=distributed.ReduceOp.MAX, group=group)
    vocab_parallel_logits.data.sub_(highest.unsqueeze(-1))  # in place, as the original does
    own = vocab_parallel_logits.shape[-1]
    place = target - own * parallel_state.get_tensor_model_parallel_rank()
    inside = (place >= 0) & (place < own)
    chosen = torch.gather(vocab_parallel_logits, -1, (place * inside).unsqueeze(-1)).squeeze(-1) * inside
    return summed(vocab_parallel_logits.exp().sum(dim=-1)).log() - summed(chosen)
