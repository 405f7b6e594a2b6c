"""Stand-in for neuronx-distributed on CPUs: what the job uses of it, with the same names and the same files.

Tensor parallelism and data parallelism are real. ZeRO-1 is not: every rank has all of the optimizer's state, in single
precision, and saves it under its own data-parallel rank as ZeRO-1 does.
"""

import os
import shutil
from pathlib import Path

import torch
import torch_xla.core.xla_model as xm
from torch import distributed
from torch_xla.utils.serialization import TensorReference

from neuronx_distributed.parallel_layers import parallel_state


def neuronx_distributed_config(
    tensor_parallel_size=1, pipeline_parallel_size=1, expert_parallel_size=1, context_parallel_size=1,
    pipeline_config=None, optimizer_config=None, activation_checkpoint_config=None, pad_model=False,
    sequence_parallel=False, model_init_config=None, lora_config=None, mixed_precision_config=None,
    sequential_move_factor=11, lnc_size=1,
):  # fmt: skip
    assert optimizer_config["zero_one_enabled"]
    assert all(mixed_precision_config.values())
    assert set(mixed_precision_config) == {"use_master_weights", "use_fp32_grad_acc", "use_master_weights_in_ckpt"}
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=tensor_parallel_size)
    return dict(locals())


def initialize_parallel_model(nxd_config, model_fn, include_buffers=False, *model_args, **model_kwargs):
    return model_fn(*model_args, **model_kwargs)


def initialize_parallel_optimizer(nxd_config, optimizer_class, parameters, **defaults):
    return _Optimizer(nxd_config, optimizer_class, parameters, **defaults)


class _Optimizer(torch.optim.Optimizer):
    def __init__(self, config, optimizer_class, groups, **defaults):
        super().__init__(groups, defaults)
        self._config = config
        self._master = [
            {**group, "params": [value.detach().float().clone().requires_grad_() for value in group["params"]]}
            for group in groups
        ]
        self._base = optimizer_class(self._master, **defaults)
        self.grad_norm = None

    def step(self, closure=None):
        pairs = [
            (mine, master)
            for group, masters in zip(self.param_groups, self._base.param_groups, strict=True)
            for mine, master in zip(group["params"], masters["params"], strict=True)
        ]
        for group, masters in zip(self.param_groups, self._base.param_groups, strict=True):
            masters["lr"] = group["lr"]
        for mine, master in pairs:
            master.grad = mine.grad.float()
            if getattr(mine, "sequence_parallel_enabled", False):
                distributed.all_reduce(master.grad, group=parallel_state.get_tensor_model_parallel_group())
            distributed.all_reduce(master.grad, group=parallel_state.get_data_parallel_group())
            master.grad /= parallel_state.get_data_parallel_size()
        self.grad_norm = self._clip(pairs)
        self._base.step()
        with torch.no_grad():
            for mine, master in pairs:
                mine.copy_(master)

    def _clip(self, pairs):
        width = parallel_state.get_tensor_model_parallel_size()
        spread = [master.grad.pow(2).sum() for mine, master in pairs if mine.dim() > 1]
        alike = [master.grad.pow(2).sum() / width for mine, master in pairs if mine.dim() == 1]
        total = torch.stack([*spread, *alike]).sum()
        distributed.all_reduce(total, group=parallel_state.get_tensor_model_parallel_group())
        norm = total.sqrt()
        factor = min(1.0, self._config["optimizer_config"]["max_grad_norm"] / (norm.item() + 1e-6))
        for _, master in pairs:
            master.grad *= factor
        return norm

    def state_dict(self):
        masters = [value.detach() for group in self._base.param_groups for value in group["params"]]
        groups = [{key: value for key, value in group.items() if key != "params"} for group in self.param_groups]
        return {"base": self._base.state_dict(), "sharded_master_weights": masters, "groups": groups}

    def load_state_dict(self, state_dict):
        self._base.load_state_dict(state_dict["base"])
        masters = iter(state_dict["sharded_master_weights"])
        with torch.no_grad():
            for group, own, saved in zip(self._base.param_groups, self.param_groups, state_dict["groups"], strict=True):
                own.update(saved)
                for value, mine in zip(group["params"], own["params"], strict=True):
                    value.copy_(next(masters))
                    mine.copy_(value)


def _name(dp):
    return f"dp_rank_{dp:02d}_tp_rank_{parallel_state.get_tensor_model_parallel_rank():02d}_pp_rank_00.pt"


def save_checkpoint(
    checkpoint_dir_str, tag, model=None, optimizer=None, scheduler=None, user_content=None, num_workers=8,
    use_xser=False, num_kept_ckpts=None, async_save=False, zero1_optimizer=False, use_zero1_dcp=False,
    avoid_saving_lower_precision_weights=False,
):  # fmt: skip
    assert use_xser
    first, directory = distributed.get_rank() == 0, Path(checkpoint_dir_str) / tag
    if first:
        for name in ("model", "optim"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        (directory / "checkpoint").write_text("1")
    xm.rendezvous("directories")
    if os.environ.get("STAND_IN_DIES_SAVING") == tag and not (directory.parent / "died").exists():
        (directory.parent / "died").touch()
        os._exit(9)
    dp = parallel_state.get_data_parallel_rank()
    torch.save(optimizer.state_dict(), directory / "optim" / _name(dp))
    if dp == 0:
        _save_spread(model.state_dict(), directory / "model" / _name(0))
    if first:
        torch.save(scheduler.state_dict(), directory / "scheduler.pt")
        torch.save(user_content, directory / "user_content.pt")
    xm.rendezvous("saved")
    if first:
        (directory / "done").write_text("1")
        _remove_old(directory.parent, num_kept_ckpts)
    xm.rendezvous("done")


def _save_spread(state, path):
    """Every tensor in a file of its own, and a file that refers to them."""
    tensors = Path(f"{path}.tensors")
    tensors.mkdir()
    references, information = {}, {}
    for number, (name, value) in enumerate(state.items()):
        torch.save(value.detach().clone(), tensors / f"tensor_{number}.pt")
        references[name] = TensorReference(number)
        information[number] = {"dtype": value.dtype, "shape": value.shape, "expert_model_parallel": False}
    torch.save(references, path)
    torch.save(information, f"{path}.info.pt")


def _remove_old(directory, kept):
    finished = sorted((path.parent for path in directory.glob("*/done")), key=lambda path: path.stat().st_mtime)
    for path in finished[: max(0, len(finished) - kept)]:
        (path / "done").unlink()
        shutil.rmtree(path)


def load_checkpoint(
    path, tag=None, model=None, optimizer=None, scheduler=None, num_workers=8, strict=True, use_zero1_dcp=False
):
    directory = Path(path) / tag
    dp = parallel_state.get_data_parallel_rank()
    optimizer.load_state_dict(torch.load(directory / "optim" / _name(dp), weights_only=False))
    scheduler.load_state_dict(torch.load(directory / "scheduler.pt", weights_only=False))
    xm.rendezvous("loaded")
    return torch.load(directory / "user_content.pt", weights_only=False)
