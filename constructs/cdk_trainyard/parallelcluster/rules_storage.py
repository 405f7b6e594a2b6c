"""Whether shared directories can be mounted. Pure: nothing is created here."""

from collections import Counter
from collections.abc import Iterator

from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.render_storage import DEFAULT_THROUGHPUT
from cdk_trainyard.parallelcluster.resolved import ResolvedCluster, ResolvedStorage
from cdk_trainyard.parallelcluster.rules_nodes import block_volume_problems
from cdk_trainyard.parallelcluster.shared_storage import (
    SharedEbs,
    SharedEfs,
    SharedLustre,
    SharedOntap,
    SharedOpenZfs,
)
from cdk_trainyard.storage.reach import in_other_zone
from cdk_trainyard.tokens import unresolved

Problems = Iterator[str]
_FSX = (SharedLustre, SharedOpenZfs, SharedOntap)


def mount_problems(cluster: ResolvedCluster) -> Problems:
    """Every directory is mounted where nothing else is."""
    places = [(f"{one.name!r}", one.at) for one in cluster.storage if not unresolved(one.given.at)]
    for place, count in Counter(at for _, at in places).items():
        if count > 1:
            names = " and ".join(name for name, at in places if at == place)
            yield f"'at' must be another for every shared directory, got {place} for {names}"
    scratch = sorted({at for at in _scratch_places(cluster) if not unresolved(at)})
    shared = list(dict.fromkeys(at for _, at in places))
    for index, at in enumerate(shared):
        for other in [*shared[index + 1 :], *scratch]:
            if at.startswith(f"{other}/") or other.startswith(f"{at}/"):
                yield f"'at' must not be inside another mounted directory, got {at} and {other}"
    for name, at in places:
        if at in fact("reserved_directories") or at in ("/", "/NONE"):
            yield f"'at' of {name} must not be a directory of the system, got {at}"
        if at in scratch:
            yield f"'at' of {name} must not be where local disks are mounted, got {at}; give 'scratch_at' another"


def storage_name_problems(cluster: ResolvedCluster) -> Problems:
    """Names can be tags."""
    for one in cluster.storage:
        longest = fact("storage_name_length")
        if unresolved(one.name):
            continue
        if not one.name or len(one.name) > longest or not all(c.isalnum() or c in "+-=._:@/" for c in one.name):
            yield f"'name' of a shared directory must be 1 to {longest} letters, digits and +-=._:@/, got {one.name!r}"
        if one.name == "default":
            yield "'name' of a shared directory must not be 'default'"


def storage_count_problems(cluster: ResolvedCluster) -> Problems:
    """There are not too many of a kind, and not the same twice."""
    made, taken = fact("new_file_systems"), fact("existing_file_systems")
    for what, got, most in (
        ("FSx file systems that ParallelCluster makes", len(_new_lustre(cluster)), made["fsx"]),
        ("EFS file systems that ParallelCluster makes", len(_efs(cluster, existing=False)), made["efs"]),
        ("FSx file systems that exist", len(_existing_fsx(cluster)), taken["fsx"]),
        ("EFS file systems that exist", len(_efs(cluster, existing=True)), taken["efs"]),
        ("EBS volumes", len(_ebs(cluster, raid=False)), fact("ebs_volumes")),
        ("RAID arrays", len(_ebs(cluster, raid=True)), made["raid"]),
    ):
        if got > most:
            yield f"'storage' must hold at most {most} {what}, got {got}"
    for identity, count in Counter(_identities(cluster)).items():
        if count > 1:
            yield f"'storage' must hold a file system once, got {identity} {count} times"


def lustre_problems(cluster: ResolvedCluster) -> Problems:
    """A Lustre file system that ParallelCluster makes is one that FSx has."""
    for one, lustre in _new_lustre(cluster):
        where = f"of {one.name!r}"
        if lustre.deployment_type not in limits.LUSTRE_TYPES:
            yield (
                f"'deployment_type' {where} must be one of {', '.join(limits.LUSTRE_TYPES)}, got "
                f"{lustre.deployment_type!r}"
            )
            continue
        yield from _throughput_problems(lustre, where)
        yield from _capacity_problems(lustre, where)
        if lustre.key is not None and not lustre.deployment_type.startswith("PERSISTENT"):
            yield f"'key' {where} must be left out for {lustre.deployment_type}, which has its own"
        if several := sorted(queue.name for queue in cluster.queues if len(queue.subnets) > 1):
            yield (
                f"'file_system' {where} must be given when a queue is in several subnets, as {', '.join(several)}: "
                "ParallelCluster makes no file system for them"
            )
    for one in cluster.storage:
        if isinstance(one.given, SharedLustre) and one.given.file_system is not None:
            yield from _existing_lustre_problems(one, one.given)


def zone_problems(cluster: ResolvedCluster) -> Problems:
    """A file system that nodes reach over EFA stands in their zone."""
    zone = cluster.place.zone
    for one in cluster.storage:
        file_system = one.given.file_system if isinstance(one.given, SharedLustre) else None
        if file_system and file_system.efa_enabled and in_other_zone(file_system, zone):
            yield (
                f"'file_system' of {one.name!r} must be in the zone of the nodes, {zone}, got one with EFA in "
                f"{file_system.zone}; EFA does not cross zones"
            )


def ebs_problems(cluster: ResolvedCluster) -> Problems:
    """EBS volumes are ones that EC2 has."""
    for one, ebs in [*_ebs(cluster, raid=False), *_ebs(cluster, raid=True)]:
        where = f"'storage' {one.name!r}"
        if ebs.volume_id is not None:
            if ebs != SharedEbs(at=ebs.at, name=ebs.name, volume_id=ebs.volume_id):
                yield f"{where} must have nothing beside 'volume_id', which names a volume that exists"
            continue
        yield from block_volume_problems(where, ebs.type.value, ebs.size_gib or 40, ebs.iops, ebs.throughput_mb_s)
        if ebs.raid_volumes is not None and ebs.raid_volumes not in limits.RAID_VOLUMES:
            first, last = limits.RAID_VOLUMES[0], limits.RAID_VOLUMES[-1]
            yield f"'raid_volumes' of {one.name!r} must be {first} to {last}, got {ebs.raid_volumes}"
        if ebs.raid_level not in limits.RAID_LEVELS:
            yield f"'raid_level' of {one.name!r} must be 0 or 1, got {ebs.raid_level}"


def efs_problems(cluster: ResolvedCluster) -> Problems:
    """A file system that exists has its key."""
    for one in cluster.storage:
        if isinstance(one.given, SharedEfs) and one.given.file_system is not None and one.given.key is not None:
            yield f"'key' of {one.name!r} must be left out for a file system that exists"


# ---------------------------------------------------------------- parts
def _throughput_problems(lustre: SharedLustre, where: str) -> Problems:
    given, kind = (
        lustre.throughput_mb_s_per_tib or DEFAULT_THROUGHPUT.get(lustre.deployment_type),
        lustre.deployment_type,
    )
    if lustre.storage_type == "HDD":
        allowed = fact("lustre_hdd_throughput") if kind == "PERSISTENT_1" else []
        if not allowed:
            yield f"'storage_type' {where} must be SSD for {kind}, got HDD"
            return
    else:
        allowed = fact("lustre_ssd_throughput").get(kind, [])
    if not allowed and given is not None:
        yield f"'throughput_mb_s_per_tib' {where} must be left out for {kind}, got {given}"
    elif allowed and given not in allowed:
        names = ", ".join(map(str, allowed))
        yield f"'throughput_mb_s_per_tib' {where} must be one of {names} for {kind}, got {given}"


def _capacity_problems(lustre: SharedLustre, where: str) -> Problems:
    capacity = lustre.capacity_gib
    if capacity is None:
        yield f"'capacity_gib' {where} must be given, or 'file_system'"
        return
    first, step = (1200, 2400)
    if lustre.storage_type == "HDD":
        first = step = limits.LUSTRE_HDD_STEPS.get(lustre.throughput_mb_s_per_tib or 0, 6000)
    elif lustre.deployment_type == "SCRATCH_1":
        step = 3600
    small = (1200, 2400) if lustre.deployment_type == "SCRATCH_1" else (first,)
    if capacity in small or (capacity > 0 and capacity % step == 0):
        return
    below = max(first, capacity // step * step)
    named = " or ".join(str(size) for size in small)
    yield (
        f"'capacity_gib' {where} must be {named} or a multiple of {step} for {lustre.deployment_type}, got {capacity}; "
        f"use {below} or {(capacity // step + 1) * step}"
    )


def _existing_lustre_problems(one: ResolvedStorage, lustre: SharedLustre) -> Problems:
    alone = SharedLustre(at=lustre.at, name=lustre.name, file_system=lustre.file_system)
    if lustre != alone:
        yield f"'storage' {one.name!r} must have nothing beside 'file_system', which exists with all it is"


def _scratch_places(cluster: ResolvedCluster) -> Iterator[str]:
    """Where local disks are mounted: on nodes that have them, ParallelCluster takes ``/scratch`` unless told."""
    nodes = [(cluster.head.given.scratch_at, [cluster.head.type])]
    nodes += [
        (queue.given.scratch_at, [known for compute in queue.compute for known in compute.types])
        for queue in cluster.queues
    ]
    for at, types in nodes:
        if any(known is not None and known.nvme_gb for known in types):
            yield "/" + (at or "/scratch").strip("/")


def _new_lustre(cluster: ResolvedCluster) -> list[tuple[ResolvedStorage, SharedLustre]]:
    return [
        (one, one.given)
        for one in cluster.storage
        if isinstance(one.given, SharedLustre) and one.given.file_system is None
    ]


def _existing_fsx(cluster: ResolvedCluster) -> list[ResolvedStorage]:
    new = [one for one, _ in _new_lustre(cluster)]
    return [one for one in cluster.storage if isinstance(one.given, _FSX) and one not in new]


def _efs(cluster: ResolvedCluster, *, existing: bool) -> list[ResolvedStorage]:
    return [
        one
        for one in cluster.storage
        if isinstance(one.given, SharedEfs) and (one.given.file_system is not None) is existing
    ]


def _ebs(cluster: ResolvedCluster, *, raid: bool) -> list[tuple[ResolvedStorage, SharedEbs]]:
    return [
        (one, one.given)
        for one in cluster.storage
        if isinstance(one.given, SharedEbs) and (one.given.raid_volumes is not None) is raid
    ]


def _identities(cluster: ResolvedCluster) -> Iterator[str]:
    for one in cluster.storage:
        match one.given:
            case SharedLustre(file_system=system) | SharedEfs(file_system=system) if system is not None:
                yield system.file_system_id
            case SharedOpenZfs(volume_id=volume) | SharedOntap(volume_id=volume):
                yield volume
            case SharedEbs(volume_id=volume) if volume is not None:
                yield volume
            case _:
                continue
