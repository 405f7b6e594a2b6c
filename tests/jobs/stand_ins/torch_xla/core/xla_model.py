"""Stand-in: tensors are on the CPU and computed at once; a step's closures run when it is marked, as with XLA."""

import torch
from torch import distributed

REDUCE_SUM = "sum"
_closures = []


def xla_device(n=None, devkind=None):
    return torch.device("cpu")


def mark_step(wait=False, reset_scope=True):
    pending, _closures[:] = list(_closures), []
    for closure, arguments in pending:
        closure(*arguments)


def add_step_closure(closure, args=(), run_async=False):
    _closures.append((closure, args))


def all_reduce(reduce_type, inputs, scale=1.0, groups=None, cctx=None, pin_layout=True):
    assert reduce_type == REDUCE_SUM
    result = inputs.clone()
    rank = distributed.get_rank()
    from neuronx_distributed.parallel_layers import parallel_state

    assert groups == parallel_state.get_data_parallel_replica_groups()
    assert any(rank in group for group in groups)
    distributed.all_reduce(result, group=parallel_state.get_data_parallel_group())
    return result * scale


def rendezvous(tag, payload=b"", replicas=()):
    distributed.barrier()
