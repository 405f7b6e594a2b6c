"""Whether the parts of a cluster that concern all its nodes can work. Pure: nothing is created here."""

from collections import Counter
from collections.abc import Iterable, Iterator

from cdk_trainyard.errors import ConfigurationError, did_you_mean
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import AddressPlan, AddressUse
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.facts import fact, operating_systems
from cdk_trainyard.parallelcluster.resolved import ResolvedCluster
from cdk_trainyard.parallelcluster.rules_provider import provider_version_problems
from cdk_trainyard.parallelcluster.settings import SlurmAccounting
from cdk_trainyard.tokens import unresolved

Problems = Iterator[str]


def cluster_name_problems(cluster: ResolvedCluster) -> Problems:
    """The name is one that ParallelCluster takes, and nobody else's."""
    name = cluster.name
    if unresolved(name):
        yield "'cluster_name' must be known when the app is synthesized, got a Token; write it out"
        return
    longest = fact("cluster_name_length_with_accounting" if cluster.slurm.accounting else "cluster_name_length")
    if not limits.CLUSTER_NAME.fullmatch(name) or len(name) > longest:
        why = " with Slurm accounting" if cluster.slurm.accounting else ""
        yield (
            f"'cluster_name' must be a letter and then letters, digits and hyphens, at most {longest} characters{why}, "
            f"got {name!r}"
        )
    if name in cluster.other_names:
        yield (
            f"'cluster_name' must be another than that of any cluster, got {name!r} a second time; the provider "
            "deletes the cluster of that name when a second one cannot be made"
        )
    if cluster.stack_name is not None and name == cluster.stack_name:
        yield (
            f"'cluster_name' must be another than the stack's, got {name!r}; ParallelCluster makes a stack of that name"
        )


def version_problems(cluster: ResolvedCluster) -> Problems:
    """The version is one that has a provider, and the given provider's."""
    given = cluster.provider_version
    if given is not None and cluster.version != given:
        yield (
            f"'version' must be that of the 'provider', {given}, got {cluster.version}; a provider updates no "
            "clusters of another version"
        )
    yield from provider_version_problems(cluster.version)


def region_problems(cluster: ResolvedCluster) -> Problems:
    """ParallelCluster has images and a provider in the Region."""
    region = cluster.region
    if region is None or region in fact("regions"):
        return
    yield (
        f"the Region must be one that ParallelCluster {fact('version')} supports, got {region!r}; its nearest are "
        f"{_listed(_near(region)) or _listed(fact('regions'))}"
    )


def operating_system_problems(cluster: ResolvedCluster) -> Problems:
    """The operating system is one of this version, and has an image."""
    system, known = str(cluster.operating_system), operating_systems()
    if since := limits.GONE_SYSTEMS.get(system):
        yield (
            f"'operating_system' must be one of {_listed(known)}, got {system!r}, which is gone since ParallelCluster "
            f"{since}"
        )
    elif system not in known:
        yield f"'operating_system' must be one of {_listed(known)}, got {system!r}{did_you_mean(system, known)}"
    elif not fact("operating_systems")[system]["official_image"] and cluster.image_id is None:
        yield (
            f"'image_id' must be given with operating system {system!r}, of which ParallelCluster publishes no image; "
            "build one with 'pcluster build-image'"
        )


def count_problems(cluster: ResolvedCluster) -> Problems:
    """There is at least one queue, and not too many of anything."""
    if not cluster.queues:
        yield "'queues' must hold at least one queue, got none"
    compute = sum(len(queue.compute) for queue in cluster.queues)
    for keyword, count, most in (
        ("queues", len(cluster.queues), fact("queues")),
        ("compute' of all 'queues", compute, fact("compute_resources")),
        ("login_pools", len(cluster.pools), fact("login_pools")),
    ):
        if count > most:
            yield f"'{keyword}' must be at most {most}, got {count}"


def unique_name_problems(cluster: ResolvedCluster) -> Problems:
    """No two queues, login pools or shared directories have the same name."""
    for keyword, names in (
        ("queues", [queue.name for queue in cluster.queues]),
        ("login_pools", [pool.given.name for pool in cluster.pools]),
        ("storage", [one.name for one in cluster.storage]),
    ):
        yield from (
            f"'{keyword}' must have different names, got {name!r} {count} times" for name, count in _twice(names)
        )
    for queue in cluster.queues:
        for name, count in _twice([compute.name for compute in queue.compute]):
            yield f"'compute' of queue {queue.name!r} must have different names, got {name!r} {count} times"


def architecture_problems(cluster: ResolvedCluster) -> Problems:
    """Every node is of the head node's architecture: one image serves them all."""
    head = cluster.head.type
    if head is None:
        return
    others: list[tuple[str, InstanceType]] = [
        (f"'compute' of queue {queue.name!r}", known)
        for queue in cluster.queues
        for compute in queue.compute
        for known in compute.types
    ]
    others += [
        (f"'instance_type' of login pool {pool.given.name!r}", pool.type)
        for pool in cluster.pools
        if pool.type is not None
    ]
    for where, known in others:
        if known.architecture != head.architecture:
            yield (
                f"{where} must be {head.architecture} as the head node's {head.name}, got {known.name} of "
                f"{known.architecture}"
            )


def head_memory_problems(cluster: ResolvedCluster) -> Problems:
    """The head node has the memory to manage its nodes."""
    head = cluster.head.type
    if head is None or "memory_mib" in head.unknown:
        return
    needed = min(cluster.max_nodes / limits.NODES_PER_GIB + limits.HEAD_MEMORY_GIB, limits.HEAD_MEMORY_MOST_GIB)
    if head.memory_mib / 1024 < needed:
        yield (
            f"'instance_type' of the head node must have at least {needed:.1f} GiB of memory for {cluster.max_nodes} "
            f"nodes, got {head.name} with {head.memory_mib / 1024:g} GiB"
        )


def resource_prefix_problems(cluster: ResolvedCluster) -> Problems:
    """The prefix is one of IAM, and leaves the provider the right to pass the roles."""
    prefix = cluster.iam.resource_prefix
    if prefix is None or unresolved(prefix):
        return
    if not limits.IAM_PREFIX.fullmatch(prefix):
        yield (
            "'resource_prefix' must be a path as '/parallelcluster/mine/', a name prefix of at most 30 characters, "
            f"or one after the other, got {prefix!r}"
        )
    elif prefix.startswith("/") and not prefix.startswith("/parallelcluster/"):
        yield (
            f"'resource_prefix' must begin with '/parallelcluster/', got {prefix!r}; the provider may make roles "
            "nowhere else"
        )


def accounting_problems(cluster: ResolvedCluster) -> Problems:
    """The database is an address and not a URL."""
    accounting = cluster.slurm.accounting
    if not isinstance(accounting, SlurmAccounting) or unresolved(accounting.endpoint):
        return
    if any(character in accounting.endpoint for character in "/: "):
        yield f"'endpoint' of the accounting database must be a host name and no more, got {accounting.endpoint!r}"


def slurm_settings_problems(cluster: ResolvedCluster) -> Problems:
    """No parameter of ``slurm.conf`` is one that ParallelCluster keeps for itself."""
    denied = fact("denied_slurm_settings")
    names = [*denied["cluster"], *(denied["accounting"] if cluster.slurm.accounting else ())]
    for line in cluster.slurm.custom:
        # a line with several parameters defines nodes or partitions of yours
        if len(line) == 1 and (name := next(iter(line))).lower() in names:
            yield f"'custom' of the Slurm settings must not set {name}, which ParallelCluster sets itself"
        for name, value in line.items():
            if name.lower() == "nodename" and any(mark in str(value) for mark in ("-st-", "-dy-")):
                yield f"'custom' of the Slurm settings must name no nodes with -st- or -dy-, got {value!r}"


def timeout_problems(cluster: ResolvedCluster) -> Problems:
    """CloudFormation waits long enough."""
    head = cluster.timeouts.head_node
    if head is not None and head.to_seconds() >= limits.CUSTOM_RESOURCE_SECONDS:
        yield (
            "'head_node' of the timeouts must be less than an hour, which CloudFormation waits for the whole "
            f"cluster, got {head.to_minutes():g} minutes; put what takes long into an image"
        )


def suppressed_validator_problems(cluster: ResolvedCluster) -> Problems:
    """Checks that are left out exist."""
    known = fact("validators")
    for name in cluster.suppressed_validators:
        if name != "ALL" and name.removeprefix("type:") not in known:
            hint = did_you_mean(name.removeprefix("type:"), known)
            yield f"'suppress_validators' must name checks of ParallelCluster or be ALL, got {name!r}{hint}"


def tag_problems(cluster: ResolvedCluster) -> Problems:
    """No instance has more tags than ParallelCluster leaves room for."""
    for queue in cluster.queues:
        for compute in queue.compute:
            count = len({*cluster.tags, *(queue.given.tags or {}), *(compute.given.tags or {})})
            if count > limits.TAGS:
                yield (
                    f"'tags' of queue {queue.name!r}, its {compute.name!r} and the cluster must be at most "
                    f"{limits.TAGS} together, got {count}"
                )


def address_problems(cluster: ResolvedCluster) -> Problems:
    """The accelerator subnet has an address for every node at its largest; ParallelCluster takes one for each."""
    cidr, subnet = cluster.place.accelerator_cidr, cluster.place.accelerator_subnet
    if cidr is None or unresolved(cidr):
        return
    uses = [
        AddressUse(
            name=f"{queue.name}/{compute.name}",
            instance_type=", ".join(compute.type_names),
            count=compute.max_count,
            addresses_per_node=1
            if compute.efa
            else max((len(known.network_cards) for known in compute.types), default=1),
        )
        for queue in cluster.queues
        if subnet in queue.subnets
        for compute in queue.compute
        if compute.max_count > 0
    ]
    others = sum(pool.given.count for pool in cluster.pools if pool.subnet == subnet and pool.given.count > 0)
    others += cluster.head.subnet == subnet
    try:
        yield from AddressPlan(uses, other=others).problems(cidr)
    except ConfigurationError as error:
        yield from error.problems


def _twice(names: Iterable[str]) -> list[tuple[str, int]]:
    counted = Counter(name for name in names if not unresolved(name))
    return sorted((name, count) for name, count in counted.items() if count > 1)


def _near(region: str) -> list[str]:
    area = region.split("-", maxsplit=1)[0]
    return [
        known
        for known in fact("regions")
        if known.split("-")[0] == area and "-iso" not in known and "-gov" not in known
    ]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
