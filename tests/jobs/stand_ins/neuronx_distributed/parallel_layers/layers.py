"""Stand-in: real tensor parallelism over gloo, with the arguments that neuronx-distributed 0.18 has.

Taken from its sources (release 2.29 of the Neuron SDK, 2026-04-09): names, order of arguments and defaults, as far as
the job uses them.
"""

import torch
from torch import distributed, nn
from torch.nn import functional, init

from neuronx_distributed.parallel_layers import parallel_state


def _sum(tensor):
    result = tensor.contiguous().clone()
    distributed.all_reduce(result, group=parallel_state.get_tensor_model_parallel_group())
    return result


def _mine(tensor, dimension=0):
    width, rank = parallel_state.get_tensor_model_parallel_size(), parallel_state.get_tensor_model_parallel_rank()
    return tensor.chunk(width, dim=dimension)[rank].contiguous()


def _all(tensor):
    parts = [torch.empty_like(tensor) for _ in range(parallel_state.get_tensor_model_parallel_size())]
    distributed.all_gather(parts, tensor.contiguous(), group=parallel_state.get_tensor_model_parallel_group())
    return torch.cat(parts, dim=0)


class _Region(torch.autograd.Function):
    """What happens to a tensor on the way in, and to its gradient on the way back."""

    @staticmethod
    def forward(ctx, tensor, there, back):
        ctx.back = back
        return there(tensor)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.back(gradient), None, None


def copied(tensor):
    return _Region.apply(tensor, lambda value: value.clone(), _sum)


def summed(tensor):
    return _Region.apply(tensor, _sum, lambda value: value)


def gathered(tensor):
    return _Region.apply(tensor, _all, lambda value: _mine(_sum(value)))


def scattered(tensor):
    return _Region.apply(tensor, lambda value: _mine(_sum(value)), _all)


def _part(shape, dimension, init_method, dtype):
    """The weights of this rank, cut from those that every rank draws alike."""
    whole = torch.empty(shape, dtype=torch.float32)
    init_method(whole)
    return nn.Parameter(_mine(whole.to(dtype), dimension).clone())


class ParallelEmbedding(nn.Module):
    def __init__(
        self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        sparse=False, init_method=init.normal_, device=None, dtype=torch.float32, shard_across_embedding=False,
        pad=False, sequence_parallel_enabled=False,
    ):  # fmt: skip
        super().__init__()
        self.weight = _part((num_embeddings, embedding_dim), 0, init_method, dtype)
        self.sequence_parallel = sequence_parallel_enabled

    def forward(self, input_):
        own, rank = self.weight.shape[0], parallel_state.get_tensor_model_parallel_rank()
        inside = (input_ >= own * rank) & (input_ < own * (rank + 1))
        found = functional.embedding((input_ - own * rank) * inside, self.weight) * inside.unsqueeze(-1)
        if self.sequence_parallel:  # the sequence comes out first
            return scattered(found.transpose(0, 1).contiguous())
        return summed(found)


class ColumnParallelLinear(nn.Module):
    def __init__(
        self, input_size, output_size, bias=True, gather_output=True, dtype=torch.float32, device=None, stride=1,
        init_method=None, sequence_parallel_enabled=False, sequence_dimension=None,
    ):  # fmt: skip
        super().__init__()
        assert not bias
        assert not gather_output
        assert sequence_dimension in ((0,) if sequence_parallel_enabled else (None,))
        self.weight = _part((output_size, input_size), 0, init_method, dtype)
        self.sequence_parallel = sequence_parallel_enabled

    def forward(self, input):
        return functional.linear(gathered(input) if self.sequence_parallel else copied(input), self.weight)


class RowParallelLinear(nn.Module):
    def __init__(
        self, input_size, output_size, bias=True, input_is_parallel=False, dtype=torch.float32, device=None, stride=1,
        init_method=None, sequence_parallel_enabled=False, sequence_dimension=None,
    ):  # fmt: skip
        super().__init__()
        assert not bias
        assert input_is_parallel
        assert sequence_dimension in ((0,) if sequence_parallel_enabled else (None,))
        self.weight = _part((output_size, input_size), 1, init_method, dtype)
        self.sequence_parallel = sequence_parallel_enabled

    def forward(self, input_):
        mixed = functional.linear(input_, self.weight)
        return scattered(mixed) if self.sequence_parallel else summed(mixed)
