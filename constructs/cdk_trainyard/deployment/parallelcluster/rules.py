"""What the rules of a ParallelCluster say of its section, and what only a file can get wrong."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cdk_trainyard.deployment._locate import quoted
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.parallelcluster import stand_ins, values
from cdk_trainyard.deployment.parallelcluster.section import HeadNodeSection, ParallelClusterSection
from cdk_trainyard.deployment.storage import ExistingLustreSection, LustreSection, OpenZfsSection
from cdk_trainyard.deployment.values import plain
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.parallelcluster import OperatingSystem, parallelcluster_version
from cdk_trainyard.parallelcluster.checks import cluster_problems
from cdk_trainyard.parallelcluster.resolved import (
    ResolvedCluster,
    resolve_head,
    resolve_pool,
    resolve_queue,
    resolve_storage,
)

_ANY_HEAD: Final = HeadNodeSection(instance_type="m5.8xlarge")
"""Stands for a head node that has not the right form."""
_QUEUES: Final = "Scheduling.SlurmQueues"
"""What ParallelCluster's schema calls the queues: that there is none, another rule says in the words of the file."""
_SCALARS: Final = (str, int, float)


@dataclass(frozen=True, kw_only=True, slots=True)
class Around:
    """The other parts of the file that a cluster depends on; None where one has not the right form.

    Attributes:
        name: The deployment's name.
        region: The Region.
        network: The network section.
        lustre: The section of the shared file system.
        tags: The deployment's tags.
    """

    name: str | None = None
    region: str | None = None
    network: NetworkSpec | ExistingNetworkSpec | None = None
    lustre: LustreSection | ExistingLustreSection | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


def open_zfs_problems(open_zfs: OpenZfsSection | None) -> list[str]:
    """ParallelCluster knows file systems of OpenZFS by their volumes, not by their names."""
    if open_zfs is None:
        return []
    instead = "give 'openzfs' in the cluster's 'storage' its 'volume_id'"
    return [f"'open_zfs' must be left out with orchestrator parallelcluster, which mounts volumes by id; {instead}"]


def cluster_alerts_problems(alerts: AlertsSection | None) -> list[str]:
    """A cluster of ParallelCluster tells of trouble by alarms of its own."""
    if alerts is None:
        return []
    instead = "which makes alarms of the head node itself; see 'alarms' in its 'monitoring'"
    return [f"'alerts' must be left out with orchestrator parallelcluster, {instead}"]


def parallelcluster_problems(section: ParallelClusterSection, around: Around) -> list[str]:
    """Everything that is wrong with a cluster.

    Args:
        section: The cluster.
        around: What it depends on.
    """
    own = [*_address_problems(section.head_node), *_efs_problems(section), *_parameter_problems(section)]
    return own + [problem for problem in cluster_problems(_resolved(section, around)) if _QUEUES not in quoted(problem)]


def partial_parallelcluster_problems(parts: Mapping[str, Any], unsound: Collection[str], around: Around) -> list[str]:
    """What is wrong with the parts of a cluster that cannot be judged as a whole.

    Args:
        parts: The parts of the section that have the right form; defaults stand for the others.
        unsound: The keys of what has another form, or is missing.
        around: What it depends on.
    """
    section = ParallelClusterSection.model_validate({"head_node": _ANY_HEAD, "queues": (), **parts})
    return [
        problem
        for problem in parallelcluster_problems(section, around)
        if not any(word in unsound for word in quoted(problem))
        and not ("head_node" in unsound and "head node" in problem)
        and not ("operating_system" in unsound and OperatingSystem.ALINUX2023.value in problem)
    ]


def _resolved(section: ParallelClusterSection, around: Around) -> ResolvedCluster:
    network = stand_ins.Network.of(around.network)
    others = stand_ins.StandIns(network, own_scripts=section.scripts.folder is None)
    place = network.place
    head = values.head_node(section.head_node, others)
    lustre = stand_ins.lustre(around.lustre, network)
    return ResolvedCluster(
        name="unnamed" if section.cluster_name is None else section.cluster_name,
        head=resolve_head(head, place),
        queues=tuple(resolve_queue(values.queue(queue, others), place) for queue in section.queues),
        pools=tuple(resolve_pool(values.login_pool(pool, others), head, place) for pool in section.login_pools),
        storage=resolve_storage(values.shared_storage(section.storage, others, lustre)),
        place=place,
        region=around.region,
        version=section.version or parallelcluster_version(),
        operating_system=section.operating_system,
        image_id=section.image_id,
        slurm=values.slurm(section.slurm, others),
        monitoring=values.monitoring(section.monitoring),
        iam=values.cluster_iam(section.iam, others),
        timeouts=values.timeouts(section.timeouts),
        tags=values.tags(section, around.tags),
        suppressed_validators=section.suppress_validators,
        extra=plain(section.extra) or None,
        stack_name=None if around.name is None else f"{around.name}-training",
    )


def _address_problems(head: HeadNodeSection) -> Iterator[str]:
    if head.elastic_ip is not None and head.elastic_ip_id is not None:
        yield "'elastic_ip' of the head node must be left out with 'elastic_ip_id', which says it"


def _efs_problems(section: ParallelClusterSection) -> Iterator[str]:
    for one in section.storage.efs:
        if (one.file_system_id is None) is not (one.security_group_id is None):
            got = "file_system_id" if one.security_group_id is None else "security_group_id"
            yield (
                f"'file_system_id' and 'security_group_id' of the EFS file system at {one.at!r} must be given "
                f"together, got {got} alone"
            )


def _parameter_problems(section: ParallelClusterSection) -> Iterator[str]:
    """A parameter of Slurm is one value."""
    for queue in section.queues:
        yield from _not_scalar(f"'slurm' of queue {queue.name!r}", queue.slurm)
        for compute in queue.compute:
            name = compute.name or compute.instance_type
            yield from _not_scalar(f"'slurm' of {name!r} in queue {queue.name!r}", compute.slurm)
    for line in section.slurm.custom:
        yield from _not_scalar("'custom' of the Slurm settings", line)


def _not_scalar(where: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    for name, value in parameters.items():
        if not isinstance(value, _SCALARS):
            yield f"{where} must give {name} one value, got {'a mapping' if isinstance(value, Mapping) else 'a list'}"
