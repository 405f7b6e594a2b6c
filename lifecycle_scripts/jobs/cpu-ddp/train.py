#!/usr/bin/env python3
"""Train a small model with DistributedDataParallel on CPUs, so that it can be killed at any moment and resumed exactly.

What a step computes depends on the step, the rank and the number of ranks only, and everything that a step leaves
behind is in the snapshot: a run that was interrupted ends with the same bits as one that was not. Started by torchrun,
which sets RANK, WORLD_SIZE and the rest.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

_SAMPLES = 32  # of one rank, in one step
_FEATURES = 16
_WIDTH = 64


class Snapshot:
    """The training state on shared storage: either the old one or the new one is there, whole, at any moment."""

    def __init__(self, directory: Path, world: int) -> None:
        self._path = directory / "snapshot.pt"
        self._world = world

    def read(self) -> dict[str, Any] | None:
        """Return the state, or None when there is none; another number of ranks would go on with other bits."""
        if not self._path.exists():
            return None
        state: dict[str, Any] = torch.load(self._path, map_location="cpu", weights_only=True)
        if state["world"] != self._world:
            sys.exit(
                f"{self._path} is of {state['world']} ranks, and {self._world} would go on with it: "
                "start as many, or take another --directory"
            )
        return state

    def load(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
        """Restore what rank 0 reads, on every rank, and return the number of steps done, or 0 when there is none."""
        found = [self.read() if distributed.get_rank() == 0 else None]
        distributed.broadcast_object_list(found)
        (state,) = found
        if state is None:
            return 0
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return int(state["step"])

    def clear_away(self) -> None:
        """Remove what earlier attempts were writing when they were cut off."""
        for left in self._path.parent.glob(f"{self._path.stem}-*.tmp"):
            left.unlink(missing_ok=True)  # its writer may have renamed it

    def save(self, model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
        """Write the state to a file of its own, and give it its name when it is on the disk.

        A process of an earlier attempt may still be writing, on a node that Slurm has lost: it has another file.
        """
        writer = (*_attempt().values(), socket.gethostname(), str(os.getpid()))
        temporary = self._path.with_name(f"{self._path.stem}-{'-'.join(writer)}.tmp")
        with temporary.open("wb") as file:
            states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**states, "step": step, "world": self._world}, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)


class Log:
    """Events of the run, one JSON object per line, written by rank 0 only."""

    def __init__(self, path: Path, rank: int) -> None:
        self._path = path
        self._rank = rank

    def write(self, event: str, **facts: object) -> None:
        """Add an event."""
        if self._rank == 0:
            line = json.dumps({"event": event, "time": round(time.time(), 3), **facts})
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


def build() -> tuple[DistributedDataParallel, torch.optim.Optimizer]:
    """Return the model with the same weights on every rank, and its optimizer."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(_FEATURES, _WIDTH), nn.Tanh(), nn.Linear(_WIDTH, 1))
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    # After its first pass DDP lays the gradients out anew, in the order in which they came, and with the layout changes
    # the order in which the numbers of many ranks are added. A pass that counts for nothing makes the first step of a
    # run that was resumed add them as the same step of a run that was not interrupted.
    wrapped(torch.zeros(1, _FEATURES)).sum().backward()
    optimizer.zero_grad()
    return wrapped, optimizer


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, step: int, rank: int) -> float:
    """Do one step on data that depend on step and rank only, and return the loss."""
    generator = torch.Generator().manual_seed(step * 1000 + rank)
    inputs = torch.randn(_SAMPLES, _FEATURES, generator=generator)
    targets = inputs.sum(1, keepdim=True).sin()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def weights_hash(model: nn.Module) -> str:
    """Return the SHA-256 of every bit of the weights."""
    whole = hashlib.sha256()
    for name, value in model.state_dict().items():
        whole.update(name.encode())
        whole.update(bytes(value.contiguous().untyped_storage()))
    return whole.hexdigest()


def run(chosen: argparse.Namespace) -> None:
    """Train from the last snapshot to the end."""
    rank, world = distributed.get_rank(), distributed.get_world_size()
    log = Log(chosen.directory / "log.jsonl", rank)
    model, optimizer = build()
    snapshot = Snapshot(chosen.directory, world)
    if rank == 0:
        snapshot.clear_away()
    step = snapshot.load(model.module, optimizer)
    hosts: list[Any] = [None] * world
    distributed.all_gather_object(hosts, socket.gethostname())
    log.write("start", step=step, world=world, hosts=sorted(set(hosts)), **_attempt())
    while step < chosen.steps:
        loss = train_step(model, optimizer, step, rank)
        step += 1
        time.sleep(chosen.pause)
        if step % chosen.save_every == 0 or step == chosen.steps:
            if rank == 0:
                snapshot.save(model.module, optimizer, step)
            log.write("snapshot", step=step, loss=loss)
            distributed.barrier()
    log.write("done", step=step, weights=weights_hash(model.module))


def _attempt() -> dict[str, str]:
    """Return which attempt this is: of the job, of the step, of torchrun."""
    names = {"job": "SLURM_JOB_ID", "requeues": "SLURM_RESTART_COUNT", "retries": "AUTO_RESUME_ATTEMPT",
             "restarts": "TORCHELASTIC_RESTART_COUNT"}  # fmt: skip
    return {key: os.environ.get(name, "0") for key, name in names.items()}


def main() -> None:
    """Join the other ranks, train, and leave them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, required=True, help="snapshot and log, on shared storage")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--save-every", type=int, default=5, metavar="STEPS")
    parser.add_argument("--pause", type=float, default=0.1, metavar="SECONDS", help="per step; stands for real work")
    chosen = parser.parse_args()
    chosen.directory.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    try:
        run(chosen)
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
