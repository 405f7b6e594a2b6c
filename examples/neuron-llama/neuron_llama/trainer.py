"""The training: neuronx-distributed with tensor parallelism, ZeRO-1 and single-precision master weights.

Everything that a step leaves behind is in the checkpoint, and what a step reads depends on its number only, so that a
training that was interrupted goes on where it was. While neuron_parallel_compile extracts graphs nothing is computed:
then nothing is loaded, saved or reported.
"""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING, Any

import neuronx_distributed as nxd
import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend  # noqa: F401  makes the backend "xla" known to torch.distributed
from neuronx_distributed.parallel_layers import parallel_state
from torch import distributed
from torch.optim.lr_scheduler import LambdaLR

from neuron_llama import checkpoints
from neuron_llama.dataset import Order
from neuron_llama.llama import DecoderLayer, LlamaForCausalLM, PlainAttention
from neuron_llama.report import report
from neuron_llama.schedule import factor

if TYPE_CHECKING:
    from neuron_llama.settings import Plan

_FROM_STORAGE = {"uint16": torch.uint16, "uint32": torch.uint32}
_RECOMPUTED = {"attention": PlainAttention, "layer": DecoderLayer}


class TrainingError(RuntimeError):
    """The training cannot go on; the message says why."""


class Trainer:
    """One process of the training; every NeuronCore has one."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._settings = plan, plan.settings
        self._extracting = bool(os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY"))
        self._first = distributed.get_rank() == 0
        self._directory = plan.settings.directory / "checkpoints"
        torch.manual_seed(plan.settings.seed)  # the same everywhere: each core keeps its part of the same weights
        config = _nxd_config(plan)
        self._model = nxd.initialize_parallel_model(config, self._build)
        self._optimizer = nxd.initialize_parallel_optimizer(
            config,
            torch.optim.AdamW,
            _groups(self._model, plan.settings.weight_decay),
            lr=plan.settings.learning_rate,
            betas=(plan.settings.beta1, plan.settings.beta2),
        )
        final = plan.settings.final_learning_rate / plan.settings.learning_rate
        rate = factor(warm_up=plan.settings.warm_up, steps=plan.settings.steps, final=final)
        self._scheduler = LambdaLR(self._optimizer, rate)
        samples = plan.dataset.samples(plan.settings.sequence_length)
        self._order = Order(samples=samples, global_batch=plan.settings.global_batch, seed=plan.settings.seed)
        self._device = xm.xla_device()
        self._reported = (time.monotonic(), 0)

    def run(self) -> None:
        """Train from the last complete checkpoint to the end."""
        chosen = self._settings
        step = self._resume()
        until = min(chosen.steps, step + chosen.stop_after) if chosen.stop_after else chosen.steps
        self._say("start", step=step, until=until, cores=distributed.get_world_size(), **self._plan.summary())
        self._reported = (time.monotonic(), step)
        while step < until:
            self._step(step)
            step += 1
            if (step % chosen.save_every == 0 or step == chosen.steps) and not chosen.stop_after:
                self._save(step)
        xm.rendezvous("every process is at the end")
        self._say("done", step=step)

    # ------------------------------------------------------------ a step
    def _step(self, step: int) -> None:
        total = torch.zeros((), dtype=torch.float32, device=self._device)
        for part in range(self._plan.accumulate):
            tokens, labels = self._batch(step, part)
            loss = self._model(tokens, labels) / self._plan.accumulate
            loss.backward()
            total = total + loss.detach()
            xm.mark_step()
        self._optimizer.step()
        self._optimizer.zero_grad()
        rate = self._optimizer.param_groups[0]["lr"]
        self._scheduler.step()
        # in every step, reported or not: another graph would have to be compiled
        share = total / parallel_state.get_data_parallel_size()
        mean = xm.all_reduce(xm.REDUCE_SUM, share, groups=parallel_state.get_data_parallel_replica_groups())
        done = step + 1
        if done % self._settings.log_every == 0 or done == self._settings.steps:
            xm.add_step_closure(self._report_step, (done, rate, mean.detach(), self._optimizer.grad_norm.detach()))
        xm.mark_step()

    def _batch(self, step: int, part: int) -> tuple[torch.Tensor, torch.Tensor]:
        length = self._settings.sequence_length
        numbers = self._order.of_rank(
            step,
            part,
            rank=parallel_state.get_data_parallel_rank(),
            ranks=self._plan.data_parallel,
            micro_batch=self._settings.micro_batch,
        )
        rows = bytearray(b"".join(self._plan.dataset.read(number * length, length + 1) for number in numbers))
        stored = torch.frombuffer(rows, dtype=_FROM_STORAGE[self._plan.dataset.dtype])
        batch = stored.to(torch.int64).view(len(numbers), length + 1)
        return batch[:, :-1].contiguous().to(self._device), batch[:, 1:].contiguous().to(self._device)

    def _report_step(self, step: int, rate: float, loss: torch.Tensor, norm: torch.Tensor) -> None:
        if not self._first or self._extracting:
            return
        value, size = loss.item(), norm.item()
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss of step {step} is {value}: a lower '--learning-rate', a longer '--warm-up' or other data "
                "are needed; checkpoints from before are kept"
            )
        (then, before), now = self._reported, time.monotonic()
        self._reported = (now, step)
        tokens = (step - before) * self._settings.global_batch * self._settings.sequence_length
        report(
            "step",
            step=step,
            loss=round(value, 6),
            learning_rate=rate,
            gradient_norm=round(size, 6) if math.isfinite(size) else None,
            seconds_per_step=round((now - then) / (step - before), 4),
            tokens_per_second=round(tokens / max(now - then, 1e-9)),
        )

    # ------------------------------------------------------------ checkpoints
    def _resume(self) -> int:
        if self._extracting or self._settings.stop_after:
            return 0
        if self._first:
            self._directory.mkdir(exist_ok=True)
            for name, reason in checkpoints.clear_away(self._directory).items():
                report("ignored", checkpoint=name, reason=reason)
        xm.rendezvous("checkpoints that are not complete are out of the way")
        last = checkpoints.latest(self._directory)
        if last is None:
            return 0
        if problems := checkpoints.difference(last, self._plan.identity()):
            raise TrainingError("; ".join(problems))
        nxd.load_checkpoint(
            str(self._directory),
            tag=last.tag,
            model=self._model,
            optimizer=self._optimizer,
            scheduler=self._scheduler,
        )
        return last.step

    def _save(self, step: int) -> None:
        if self._extracting:
            return
        began, tag = time.monotonic(), checkpoints.tag_of(step)
        nxd.save_checkpoint(
            str(self._directory),
            tag=tag,
            model=self._model,
            optimizer=self._optimizer,
            scheduler=self._scheduler,
            user_content={"step": step},
            use_xser=True,
            num_kept_ckpts=self._settings.keep,
        )
        if int(os.environ.get("LOCAL_RANK", "0")) == 0:
            os.sync()  # what the processes of this node wrote
        xm.rendezvous("the checkpoint is on the file system")
        if self._first:
            checkpoints.mark_complete(self._directory / tag, self._plan.identity())
        xm.rendezvous("the checkpoint is complete")
        self._say("checkpoint", step=step, checkpoint=tag, seconds=round(time.monotonic() - began, 3))

    # ------------------------------------------------------------ helpers
    def _build(self) -> LlamaForCausalLM:
        chosen = self._settings
        flash = chosen.attention == "flash"
        return LlamaForCausalLM(self._plan.model, flash=flash, sequence_parallel=chosen.sequence_parallel)

    def _say(self, event: str, **facts: object) -> None:
        if self._first and not self._extracting:
            report(event, **facts)


def _nxd_config(plan: Plan) -> dict[str, Any]:
    chosen = plan.settings
    recomputed = None if chosen.recompute == "nothing" else (_RECOMPUTED[chosen.recompute],)
    if chosen.recompute == "attention" and chosen.attention == "flash":
        recomputed = None  # the kernel does it itself
    return nxd.neuronx_distributed_config(
        tensor_parallel_size=chosen.tensor_parallel,
        optimizer_config={"zero_one_enabled": True, "grad_clipping": True, "max_grad_norm": chosen.clip},
        sequence_parallel=chosen.sequence_parallel,
        activation_checkpoint_config=recomputed,
        # the master weights are what is learnt: without them in the checkpoint, going on would round them
        mixed_precision_config={
            "use_master_weights": True,
            "use_fp32_grad_acc": True,
            "use_master_weights_in_ckpt": True,
        },
    )


def _groups(model: torch.nn.Module, decay: float) -> list[dict[str, Any]]:
    """Return the parameters in two groups: norms do not decay."""
    named = list(model.named_parameters())
    return [
        {"params": [value for name, value in named if "norm" not in name], "weight_decay": decay},
        {"params": [value for name, value in named if "norm" in name], "weight_decay": 0.0},
    ]


def train(plan: Plan) -> None:
    """Train, in a process group that exists."""
    Trainer(plan).run()
