"""Whether shared directories can be mounted. Pure: nothing is created here."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.instances.zones import differ
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.node_paths import NodePath
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.merge import is_list
from cdk_trainyard.parallelcluster.resolve import find_type, known, types_of, volumes
from cdk_trainyard.parallelcluster.rules_config import RAW
from cdk_trainyard.parallelcluster.rules_disks import block_volume_problems
from cdk_trainyard.parallelcluster.schema import NO_DIRECTORY
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_nodes import HeadNode
from cdk_trainyard.parallelcluster.spec_queues import Queue
from cdk_trainyard.parallelcluster.spec_storage import SharedEbs, SharedEfs, SharedStorage
from cdk_trainyard.problems import At, Problem, either, option, shown, within
from cdk_trainyard.storage.clients import client_problems
from cdk_trainyard.tokens import Unknown, unresolved

Problems = Iterator[Problem]
_EBS_GIB = 40


def _places(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> list[tuple[At, str]]:
    mounted = [(("mounts", index, "at"), mount.path) for index, mount in known(context.mounts)]
    shared = [((*at, "at"), one.at) for at, one in volumes(spec.shared_storage)]
    raw = [(at, f"/{place.removeprefix('/')}") for at, place in _raw_places(spec)]
    return [(at, place) for at, place in (*mounted, *shared, *raw) if not unresolved(place)]


def _raw_places(spec: ParallelClusterSpec) -> Iterator[tuple[At, str]]:
    """Yield what raw keys mount, in the form that ParallelCluster's schema wants; of another its schema says it."""
    form = fact("schema")["SharedStorage"]["keys"]["MountDir"]["pattern"]
    storage: Any = None if unresolved(spec.raw_overrides) else (spec.raw_overrides or {}).get("SharedStorage")
    for index, entry in enumerate(storage if is_list(storage) else ()):
        place = entry.get("MountDir") if isinstance(entry, Mapping) else None
        if isinstance(place, str) and (unresolved(place) or (re.match(form, place) and place not in NO_DIRECTORY)):
            yield (RAW, "SharedStorage", index, "MountDir"), place


def shared_places(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> list[Any]:
    """Return the directories that all nodes share; ``/home`` is the head node's, over NFS.

    Args:
        spec: The cluster.
        context: What it stands in.
    """
    said: list[Any] = [mount.path for _, mount in known(context.mounts)]
    said += [one.at for _, one in volumes(spec.shared_storage)]
    kinds = (getattr(spec.shared_storage, kind) for kind in SharedStorage.__slots__)
    if unresolved(context.mounts, spec.shared_storage, *kinds):
        said.append(Unknown())
    said += [place for _, place in _raw_places(spec)]
    return [*said, "/home"]


def mount_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Every directory is mounted where nothing else is: not over, under or instead of another."""
    system = [place for place in fact("reserved_directories") if place not in _ROOMS]
    before: list[str] = []
    local = [(at, place) for at, place in scratch_places(spec) if not unresolved(place)]
    for at, place in _places(spec, context):
        if at[0] == "mounts" and (wrong := NodePath().problem(place, NOWHERE)):
            yield wrong.at(at)
            continue
        if taken := next((other for other in before if place == other), None):
            yield Problem(at, f"must be another for every shared directory, got {taken} a second time")
        for other in before:
            if place.startswith(f"{other}/") or other.startswith(f"{place}/"):
                yield Problem(at, f"must not be inside another mounted directory, got {place} and {other}")
        yield from _local_problems(at, place, local)
        if place in fact("reserved_directories") or place == "/NONE":
            yield Problem(at, f"must not be a directory of the system, got {place}")
        elif near := next(
            (one for one in system if f"{place}/".startswith(f"{one}/") or one.startswith(f"{place}/")), ""
        ):
            yield Problem(at, f"must not be in or around {near}, a directory of the system, got {place}")
        if "/." in place:
            yield Problem(at, f"must have no part that begins with '.', which ParallelCluster refuses, got {place}")
        before.append(place)


def _local_problems(at: At, place: str, local: Sequence[tuple[At, str]]) -> Problems:
    """A shared directory and local disks are not mounted in one another, nor at the same place."""
    for inner, other in local:
        if other.startswith(f"{place}/"):
            yield Problem(inner, f"must not be inside another mounted directory, got {other} in {place}")
    for other in dict.fromkeys(other for _, other in local):
        if place.startswith(f"{other}/"):
            yield Problem(at, f"must not be inside another mounted directory, got {place} and {other}")
        elif place == other:
            text = f"must not be where local disks are mounted, got {place}; give {shown('scratch_at')} another"
            yield Problem(at, text)


_ROOMS = (  # what is compared, not used
    *("/etc", "/lib", "/lib64", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/usr", "/var"),  # noqa: S108
)
"""Directories of the system that nothing may hide, and below which there is room for others."""


def storage_name_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """The name that is made of a path is a name, too."""
    longest = fact("storage_name_length")
    for at, one in volumes(spec.shared_storage):
        name = one.name
        if name is None or unresolved(name, one.at):
            continue
        if len(name) > longest or name == "default":
            where = "'default'" if name == "default" else f"of more than {longest} characters"
            yield Problem((*at, "name"), f"must be given where that of {shown(one.at)} would be {where}")


def storage_count_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """There are not too many of a kind, and not the same twice."""
    storage = spec.shared_storage
    if unresolved(storage):
        return
    made, taken = fact("new_file_systems"), fact("existing_file_systems")
    raids = [one for _, one in known(storage.ebs) if one.raid_volumes is not None]
    number = file_systems(spec, context)
    for kind, what, got, most in (
        ("efs", "EFS file systems that ParallelCluster makes", number["efs", False], made["efs"]),
        ("efs", "EFS file systems that exist", number["efs", True], taken["efs"]),
        ("openzfs", "FSx file systems that exist", number["fsx", True], taken["fsx"]),
        ("ebs", "EBS volumes", len(storage.ebs) - len(raids), fact("ebs_volumes")),
        ("ebs", "RAID arrays", len(raids), made["raid"]),
    ):
        if got > most:
            yield Problem(("shared_storage", kind), f"must be at most {most} {what}, got {got}")
    counted = Counter(identity for _, identity in _identities(spec, context))
    seen: set[Any] = set()
    for at, identity in _identities(spec, context):
        if identity in seen:
            yield Problem(at, f"must be another for every shared directory, got {identity} {counted[identity]} times")
        seen.add(identity)


def file_systems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Counter[tuple[str, bool]]:
    """Return how many file systems options and mounts say, by kind, and whether they exist; what is known of them.

    Args:
        spec: The cluster.
        context: What it stands in.
    """
    storage = spec.shared_storage
    fsx = sum(mount.kind == "Lustre" for _, mount in known(context.mounts))
    number = Counter({("fsx", True): fsx})
    if not unresolved(storage):
        number["fsx", True] += len([*known(storage.openzfs), *known(storage.ontap)])
        number.update(("efs", one.file_system_id is not None) for _, one in known(storage.efs))
    return number


def _identities(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[tuple[At, str]]:
    for index, mount in known(context.mounts):
        if mount.kind == "Lustre":
            yield ("mounts", index), mount.identity
    for at, one in volumes(spec.shared_storage):
        for name in ("file_system_id", "volume_id"):
            identity = getattr(one, name, None)
            if identity is not None and not unresolved(identity):
                yield (*at, name), identity


def file_system_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """The Lustre client of the operating system mounts the file systems."""
    versions = [None if unresolved(mount) else mount.lustre_version for mount in context.mounts]
    return within(("mounts",), client_problems(versions, spec.operating_system))


def zone_problems(_: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """A file system is one that ParallelCluster mounts, and stands in the nodes' zone when it is reached over EFA."""
    zone = context.place.zone
    form = fact("schema")["SharedStorage"]["keys"]["FsxLustreSettings"]["keys"]["FileSystemId"]["pattern"]
    for index, mount in known(context.mounts):
        if mount.kind != "Lustre":
            yield Problem(
                ("mounts", index),
                "must be a file system of FSx for Lustre: ParallelCluster mounts OpenZFS by the id of a volume; give "
                "'openzfs' of its 'shared_storage' the 'volume_id'",
            )
        elif not unresolved(mount.identity) and not re.match(form, mount.identity):
            yield Problem(
                ("mounts", index, "file_system_id"),
                "must have 17 digits: ParallelCluster takes no file system whose id is shorter, got "
                f"{shown(mount.identity)}",
            )
        if mount.efa_enabled is True and differ(mount.zone, zone):
            yield Problem(
                ("mounts", index),
                f"must be in the zone of the nodes, {zone}, got one with EFA in {mount.zone}; EFA does not cross zones",
            )


def ebs_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """EBS volumes are ones that EC2 has; an array begins empty (``mkfs.ext4`` of the cookbook's ``manage_raid.rb``)."""
    for at, ebs in volumes(spec.shared_storage):
        if not isinstance(ebs, SharedEbs):
            continue
        if ebs.volume_id is not None:
            alone = SharedEbs(at=ebs.at, name=ebs.name, key=ebs.key, volume_id=ebs.volume_id)
            if ebs != alone:
                text = f"must stand alone, but for 'at', 'name' and {option('key')}: it names a volume that exists"
                yield Problem((*at, "volume_id"), text)
            continue
        yield from block_volume_problems(at, ebs, ebs.type, _EBS_GIB if ebs.size_gib is None else ebs.size_gib)
        if ebs.raid_volumes is None and ebs.raid_level != 0 and not unresolved(ebs.raid_level):
            yield Problem((*at, "raid_level"), f"must be left out without {option('raid_volumes')}", of_key=True)
        if ebs.raid_volumes is not None and ebs.snapshot_id is not None:
            text = f"must be left out with {option('raid_volumes')}: ParallelCluster formats the volumes that it joins"
            yield Problem((*at, "snapshot_id"), text, of_key=True)


def efs_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """A file system that exists has its key and its security group; EFS keeps no snapshots."""
    for at, efs in volumes(spec.shared_storage):
        if not isinstance(efs, SharedEfs):
            continue
        if (efs.file_system_id is None) is not (efs.security_group is None):
            missing, given = ("security_group", "file_system_id")
            missing, given = (missing, given) if efs.security_group is None else (given, missing)
            yield Problem((*at, missing), f"must be given with {option(given)}")
        if efs.file_system_id is not None and efs.key is not None:
            yield Problem((*at, "key"), "must be left out for a file system that exists", of_key=True)
        if efs.file_system_id is not None and getattr(efs.removal_policy, "name", "") == "DESTROY":
            yield Problem((*at, "removal_policy"), "must be left out for a file system that exists: it stays yours")
        if getattr(efs.removal_policy, "name", "") == "SNAPSHOT":
            yield Problem((*at, "removal_policy"), f"must be {either(('RETAIN', 'DESTROY'))}, got SNAPSHOT")


def scratch_problems(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Problems:
    """Local disks are not mounted where the system is, nor over the home directories."""
    said: list[tuple[At, Any]] = [(("head_node",), spec.head_node)]
    said += [(("queues", index), queue) for index, queue in known(spec.queues)]
    for at, node in said:
        place = None if unresolved(node) else node.scratch_at
        if place is None or unresolved(place):
            continue
        if place in fact("reserved_directories") or place == "/home" or place.startswith("/home/"):
            text = f"must not be a directory of the system or of people, got {place}; /scratch is free"
            yield Problem((*at, "scratch_at"), text)
        types = _types(node)
        if types and all(each is not None and not each.nvme_gb for each in types):
            names = either(dict.fromkeys(each.name for each in types if each))
            yield Problem((*at, "scratch_at"), f"must be left out for {names}: there is no local disk")


def scratch_places(spec: ParallelClusterSpec) -> Iterator[tuple[At, str]]:
    """Yield where local disks are mounted: on nodes that have them, ParallelCluster takes ``/scratch`` unless told.

    Args:
        spec: The cluster.
    """
    nodes: list[tuple[At, HeadNode | Queue]] = [(("head_node",), spec.head_node)]
    nodes += [(("queues", index), queue) for index, queue in known(spec.queues)]
    for at, node in nodes:
        if any(each is not None and each.nvme_gb for each in _types(node)):
            yield (*at, "scratch_at"), node.scratch_at or "/scratch"


def _types(node: HeadNode | Queue) -> list[InstanceType | None]:
    """The instance types of a node; None for one that is not known."""
    if isinstance(node, HeadNode):
        return [find_type(node.instance_type)]
    return [each for _, compute in known(node.compute) for each in types_of(compute)]
