"""A cluster with parameters of Slurm, and what is said about them."""

import re
from dataclasses import replace
from typing import Any

from aws_cdk import Token

from cdk_trainyard.parallelcluster.resolve import resolve_cluster
from cdk_trainyard.parallelcluster.rules import RULES
from cdk_trainyard.problems import sentence
from tools.contract.table import rows

GOOD = next(row.cluster for row in rows() if row.name == "priorities and memory")
TOKEN = Token.as_string({"Ref": "Value"})
OF_SLURM = [
    rule
    for rule in RULES
    if rule.__module__.rpartition(".")[2].startswith(("rules_slurm", "rules_partitions", "rules_node_names"))
]


def problems(
    *,
    custom: Any = (),
    queue: Any = None,
    compute: Any = None,
    memory: int | None = None,
    threads: int | None = None,
    gpus: bool = False,
    image_id: str | None = None,
    version: str | None = None,
    exclusive: bool | None = None,
    beside: Any = None,
    raw_overrides: Any = None,
    **more: Any,
) -> list[str]:
    first = GOOD.said.queues[0]
    nodes = replace(first.compute[0], slurm=compute, schedulable_memory_mib=memory, threads_per_core=threads)
    changed = replace(first, slurm=queue, compute=[nodes], exclusive=exclusive)
    other = "g5.xlarge" if gpus else "c5.4xlarge"
    larger = replace(first, name="larger", slurm=beside, compute=[replace(nodes, instance_type=other, name="l")])
    said = replace(
        GOOD.said,
        slurm=replace(GOOD.said.slurm, custom=custom, **{"memory_scheduling": False, **more}),
        queues=[changed] if beside is None else [changed, larger],
        raw_overrides=raw_overrides,
        image_id=image_id,
        version=version,
    )
    spec = resolve_cluster(said, GOOD.context)
    return [sentence(problem) for rule in OF_SLURM for problem in rule(spec, GOOD.context)]


def named(said: Any) -> str:
    """Name a case by what it says, and Tokens the same in every process: their own text counts up."""
    return re.sub(r"TOKEN\.\d+|-1\.8\d+e\+289", "TOKEN", str(said))
