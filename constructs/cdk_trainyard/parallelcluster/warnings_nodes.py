"""What may go wrong with single nodes: where they stand, who reaches them, what they give to jobs. Pure."""

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Network

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.resolve import computes
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.tokens import unresolved

Warnings = Iterator[str]
_LITTLE_MIB = 512


def little_memory(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """Memory for jobs that was most likely meant in GiB: no type has less than half a GiB.

    Source: AWS ParallelCluster user guide, ``SchedulableMemory``, which counts MiB, read 2026-11.
    """
    for _at, queue, compute in computes(spec):
        memory = compute.schedulable_memory_mib
        if memory is not None and not unresolved(memory) and memory < _LITTLE_MIB:
            yield (
                f"compute resource {compute.name!r} of queue {queue.name!r} gives {memory} MiB of memory to jobs: "
                "'schedulable_memory_mib' counts MiB, 1024 of which are a GiB"
            )


def private_head_node(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """Public addresses that may connect to a head node that has none itself: what comes from them finds no way there.

    Source: Amazon VPC user guide, "IP addressing for your VPCs and subnets" (private addresses are not reachable over
    the internet), read 2026-11.
    """
    head = spec.head_node
    if unresolved(head, head.public, head.dcv) or context.place.of_head_node(head) != context.place.accelerator_subnet:
        return
    said = {"'ssh_from'": head.ssh_from, "'allowed_from' of 'dcv'": head.dcv and head.dcv.allowed_from}
    for name, block in said.items():
        with suppress(ValueError):  # a prefix list
            if isinstance(block, str) and not unresolved(block) and IPv4Network(block).is_global:
                yield (
                    f"{name} of the head node lets {block} in, and nobody there reaches its private address over the "
                    "internet: give 'public' true, or name the addresses that reach the VPC by another way"
                )
