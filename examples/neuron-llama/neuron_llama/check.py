"""Checks a training before it waits in a queue or takes nodes.

``python -m neuron_llama.check --nodes N --cores-per-node N ARGUMENT...`` ends with code 2 and a line for everything
that is wrong. It imports the standard library only.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from neuron_llama import checkpoints, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

_REFUSED = 2


def main(words: Sequence[str]) -> int:
    """Check the arguments that follow those of this program."""
    parser = argparse.ArgumentParser(prog="check", add_help=False, allow_abbrev=False)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--cores-per-node", type=int, required=True)
    size, rest = parser.parse_known_args(words)
    chosen = settings.parse(rest)
    if size.nodes < 1 or size.cores_per_node < 1:
        problems = [f"NODES and CORES_PER_NODE must be above 0, got {size.nodes} and {size.cores_per_node}"]
        plan = None
    else:
        plan, problems = settings.plan(
            chosen, cores=size.nodes * size.cores_per_node, cores_per_node=size.cores_per_node
        )
    if plan:
        last = checkpoints.latest(chosen.directory / "checkpoints")
        problems = checkpoints.difference(last, plan.identity()) if last else []
        if not problems:
            resumes = last.step if last else 0
            sys.stdout.write(json.dumps({"event": "plan", "resumes_after": resumes, **plan.summary()}) + "\n")
            return 0
    sys.stderr.write("".join(f"train.py: {problem}\n" for problem in problems))
    return _REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
