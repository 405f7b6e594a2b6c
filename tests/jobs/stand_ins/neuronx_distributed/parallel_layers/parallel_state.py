"""Stand-in: neighbouring ranks share a model, ranks at the same place of theirs share the data."""

from torch import distributed

_groups = {}


def initialize_model_parallel(tensor_model_parallel_size=1):
    world, rank = distributed.get_world_size(), distributed.get_rank()
    width = tensor_model_parallel_size
    tensor = [list(range(first, first + width)) for first in range(0, world, width)]
    data = [list(range(first, world, width)) for first in range(width)]
    for name, lists in (("tensor", tensor), ("data", data)):
        for ranks in lists:
            made = distributed.new_group(ranks)
            if rank in ranks:
                _groups[name] = made
        _groups[f"{name} lists"] = lists


def get_tensor_model_parallel_group():
    return _groups["tensor"]


def get_tensor_model_parallel_size():
    return distributed.get_world_size(_groups["tensor"])


def get_tensor_model_parallel_rank():
    return distributed.get_rank(_groups["tensor"])


def get_data_parallel_group():
    return _groups["data"]


def get_data_parallel_size():
    return distributed.get_world_size(_groups["data"])


def get_data_parallel_rank():
    return distributed.get_rank(_groups["data"])


def get_data_parallel_replica_groups():
    return _groups["data lists"]
