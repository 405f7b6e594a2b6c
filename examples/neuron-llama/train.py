#!/usr/bin/env python3
"""Train a Llama model on NeuronCores. Started by torchrun, one process for each core; see README.md."""

from __future__ import annotations

import os
import sys

from neuron_llama import settings

_REFUSED = 2


def main() -> int:
    """Check everything, then join the other processes and train."""
    chosen = settings.parse()
    cores, cores_per_node = int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_WORLD_SIZE"])
    plan, problems = settings.plan(chosen, cores=cores, cores_per_node=cores_per_node)
    if plan is None:
        sys.stderr.write("".join(f"train.py: {problem}\n" for problem in problems))
        return _REFUSED
    # imported now, because a mistake in the arguments should not cost the minute that this takes
    from neuron_llama.trainer import train  # noqa: PLC0415
    from torch import distributed  # noqa: PLC0415

    distributed.init_process_group("xla")
    try:
        train(plan)
    finally:
        distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
