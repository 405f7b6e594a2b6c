"""Whether the configuration as a whole is one of ParallelCluster's, raw keys included. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cdk_trainyard.parallelcluster.merge import conflicts
from cdk_trainyard.parallelcluster.render import (
    Wiring,
    cluster_config,
    compute_resource,
    head_node,
    login_pool,
    queue_section,
    typed_config,
)
from cdk_trainyard.parallelcluster.resolved import ResolvedCluster
from cdk_trainyard.parallelcluster.schema import schema_problems

Problems = Iterator[str]

ANYTHING = Wiring(
    security_groups=("sg-00000000",),
    policies={},
    calls=lambda _node, _event, actions: [(action.script or "s3://bucket/key", action.args) for action in actions],
    region="us-east-1",
)
"""What a configuration refers to before any of it exists."""

# What the schema calls by its own keys, in the words of the user who wrote a keyword.
_WORDS: tuple[tuple[str, str], ...] = (
    (r"HeadNode\.Ssh\.AllowedIps", r"'ssh_from' of the head node"),
    (r"HeadNode\.Dcv\.AllowedIps", r"'allowed_from' of the head node's 'dcv'"),
    (r"HeadNode\.Image\.CustomAmi", r"'image_id' of the head node"),
    (r"HeadNode\.Networking\.SubnetId", r"'subnet' of the head node"),
    (r"Image\.CustomAmi", r"'image_id'"),
    (r"LoginNodes\.Pools\[(.*?)\]\.Ssh\.AllowedIps", r"'ssh_from' of login pool '\1'"),
    (r"LoginNodes\.Pools\[(.*?)\]\.Dcv\.AllowedIps", r"'allowed_from' of the 'dcv' of login pool '\1'"),
    (r"LoginNodes\.Pools\[(.*?)\]\.Image\.CustomAmi", r"'image_id' of login pool '\1'"),
    (r"LoginNodes\.Pools\[(.*?)\]\.GracetimePeriod", r"'grace_period' in minutes of login pool '\1'"),
    (r"Scheduling\.SlurmQueues\[(.*?)\]\.Image\.CustomAmi", r"'image_id' of queue '\1'"),
    (r"Scheduling\.SlurmQueues\[(.*?)\]\.Networking\.SubnetIds\[\d+\]", r"'subnets' of queue '\1'"),
    (r"Scheduling\.SlurmQueues\[(.*?)\]\.Tags(\[.*\]\.\w+)?", r"'tags' of queue '\1'"),
    (
        r"Scheduling\.SlurmQueues\[(.*?)\]\.ComputeResources\[(.*?)\]\.SpotPrice",
        r"'spot_price' of '\2' in queue '\1'",
    ),
    (
        r"Scheduling\.SlurmQueues\[(.*?)\]\.ComputeResources\[(.*?)\]\.StaticNodePriority",
        r"'static_node_priority' of '\2' in queue '\1'",
    ),
    (
        r"Scheduling\.SlurmQueues\[(.*?)\]\.ComputeResources\[(.*?)\]\.DynamicNodePriority",
        r"'dynamic_node_priority' of '\2' in queue '\1'",
    ),
    (
        r"Scheduling\.SlurmQueues\[(.*?)\]\.ComputeResources\[(.*?)\]\.Tags(\[.*\]\.\w+)?",
        r"'tags' of '\2' in queue '\1'",
    ),
    (r"Scheduling\.SlurmSettings\.ScaledownIdletime", r"'idle_time' in minutes"),
    (r"Scheduling\.SlurmSettings\.Database\.DatabaseName", r"'schema_name' of the accounting database"),
    (r"Monitoring\.Logs\.CloudWatch\.RetentionInDays", r"'log_retention_days'"),
    (r"DevSettings\.Timeouts\.HeadNodeBootstrapTimeout", r"'head_node' in seconds of the timeouts"),
    (r"DevSettings\.Timeouts\.ComputeNodeBootstrapTimeout", r"'compute_node' in seconds of the timeouts"),
    (r"SharedStorage\[(.*?)\]\.MountDir", r"'at' of '\1'"),
    (r"SharedStorage\[(.*?)\]\.EbsSettings\.SnapshotId", r"'snapshot_id' of '\1'"),
    (r"SharedStorage\[(.*?)\]\.\w+Settings\.VolumeId", r"'volume_id' of '\1'"),
    (r"SharedStorage\[(.*?)\]\.\w+Settings\.FileSystemId", r"'file_system' of '\1'"),
    (r"SharedStorage\[(.*?)\]\.\w+Settings\.DeletionPolicy", r"'deletion' of '\1'"),
    (r"Tags(\[.*\]\.\w+)?", r"'tags'"),
)
# What other rules say already, in more helpful words.
_SAID = re.compile(
    r"Image\.Os|HeadNode\.Networking\.SubnetId|LoginNodes\.Pools\[.*\]\.Networking\.SubnetIds\[0\]"
    r"|Scheduling\.SlurmQueues\[[^\]]*\]\.ComputeResources\[[^\]]*\]"
    r"|.*\.(CapacityReservationTarget|MinCount|MaxCount|Count|DeploymentType|StorageType|Raid\.\w+)"
)


def extra_problems(cluster: ResolvedCluster) -> Problems:
    """Raw keys add to what keywords say, and contradict none of it."""
    for where, rendered, extra in _levels(cluster):
        for key in conflicts(rendered, extra):
            yield f"'extra' of {where} must not set {key}, which a keyword says already; use the keyword"


def config_problems(cluster: ResolvedCluster) -> Problems:
    """Keys, types and values are those of ParallelCluster's schema."""
    for problem in schema_problems(cluster_config(cluster, ANYTHING)):
        path, rest = _split(problem)
        if not _SAID.fullmatch(path):
            yield f"{_words(path)}{rest}"


def _levels(cluster: ResolvedCluster) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any] | None]]:
    yield "the cluster", typed_config(cluster, ANYTHING), cluster.extra
    yield "the head node", head_node(cluster.head, ANYTHING), cluster.head.given.extra
    for pool in cluster.pools:
        yield f"login pool {pool.given.name!r}", login_pool(pool, ANYTHING), pool.given.extra
    for queue in cluster.queues:
        yield f"queue {queue.name!r}", queue_section(queue, ANYTHING), queue.given.extra
        for compute in queue.compute:
            yield f"{compute.name!r} in queue {queue.name!r}", compute_resource(compute), compute.given.extra


def _split(problem: str) -> tuple[str, str]:
    match = re.fullmatch(r"'(.*?)'( .*)", problem, re.DOTALL)
    return (match.group(1), match.group(2)) if match else ("", problem)


def _words(path: str) -> str:
    for pattern, words in _WORDS:
        if match := re.fullmatch(pattern, path):
            return match.expand(words)
    return f"'{path}'"
