"""Whether raw keys say shared directories that ParallelCluster mounts. Pure: nothing is created here.

What its schema says of them is said elsewhere; here is what it says in code (``pcluster/validators`` of 3.16.1).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts, volume_name
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.merge import is_list, value_at
from cdk_trainyard.parallelcluster.resolve import known, volumes
from cdk_trainyard.parallelcluster.rules_raw_lustre import lustre_problems
from cdk_trainyard.parallelcluster.rules_storage import file_systems
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_IDENTITIES: Final = (
    "EfsSettings.FileSystemId",
    "FsxLustreSettings.FileSystemId",
    "FileCacheSettings.FileCacheId",
)
_FAMILIES: Final = {"Efs": "efs", "FsxLustre": "fsx", "FileCache": "fsx"}
"""Kinds of shared directories, and as what ParallelCluster counts them."""


def storage_problems(at: At, storage: Any, spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Shared directories of raw keys go together with those of options.

    Args:
        at: Where they are said.
        storage: The directories, as they are said.
        spec: The cluster.
        context: What it stands in.
    """
    if not is_list(storage):
        return
    shared = [one for _, one in volumes(spec.shared_storage)]
    mounts = [mount for _, mount in known(context.mounts)]
    names = {str(one.name) for one in shared} | {str(volume_name(mount.path)) for mount in mounts}
    for index, entry in enumerate(storage):
        if isinstance(entry, Mapping):
            yield from _storage_problems((*at, index), entry, names)
            names.add(str(entry.get("Name")))
    there = {getattr(one, "file_system_id", None) for one in shared} | {mount.identity for mount in mounts}
    yield from _identity_problems(at, storage, there)
    yield from _number_problems(at, storage, file_systems(spec, context))


def _storage_problems(at: At, entry: Mapping[str, Any], names: set[Any]) -> Problems:
    """A shared directory is of a kind that has no option, and none that is there already.

    ParallelCluster's cookbooks split the directories at commas, look for one between quotes of a shell, and have Chef
    write it into ``/etc/fstab`` as it is (``_mount_umount.rb``, ``mount.rb`` of Chef, read 2026-11).
    """
    kind, name, place = entry.get("StorageType"), entry.get("Name"), entry.get("MountDir")
    if kind in ("Ebs", "FsxOpenZfs", "FsxOntap"):
        yield Problem(
            (*at, "StorageType"), f"must be Efs, FsxLustre or FileCache here, got {kind}; use 'shared_storage'"
        )
        return
    if name == "default":  # SharedStorageNameValidator
        yield Problem((*at, "Name"), "must not be 'default', which ParallelCluster keeps for itself")
    if isinstance(name, str) and name in names and not unresolved(name):
        yield Problem((*at, "Name"), f"must be different from every other, got {shown(name)} again")
    if isinstance(place, str) and not unresolved(place) and re.search(r"[\s,']", place):
        why = "nodes would not find it again in their lists of what is mounted"
        yield Problem((*at, "MountDir"), f"must be without blanks, commas and quotes, got {shown(place)}; {why}")
    if kind == "FileCache" and str(place).strip("/") == "home":
        yield Problem((*at, "MountDir"), f"must not be that of people for a file cache, got {place}")
    if isinstance(efs := entry.get("EfsSettings"), Mapping):
        yield from _efs_problems((*at, "EfsSettings"), efs)
    if isinstance(lustre := entry.get("FsxLustreSettings"), Mapping):
        yield from lustre_problems((*at, "FsxLustreSettings"), lustre)


def _identity_problems(at: At, storage: Any, there: Collection[str | None]) -> Problems:
    """What exists is mounted once (``existing_storage_id_list`` of ``cluster_config.py``)."""
    before = {*there}
    for index, entry in enumerate(storage):
        for path in _IDENTITIES:
            identity = value_at(entry, path)
            if isinstance(identity, str) and not unresolved(identity):
                if identity in before:
                    text = f"must be another for every shared directory, got {identity} again"
                    yield Problem((*at, index, *path.split(".")), text)
                before.add(identity)


def _number_problems(at: At, storage: Any, number: Counter[tuple[str, bool]]) -> Problems:
    """ParallelCluster makes one file system of a kind, and mounts twenty that exist (``NumberOfStorageValidator``)."""
    for index, entry in enumerate(storage):
        kind = entry.get("StorageType") if isinstance(entry, Mapping) else None
        exists = kind == "FileCache" or value_at(entry, f"{kind}Settings.FileSystemId") is not None
        if (family := _FAMILIES.get(str(kind))) is None:
            continue
        number[family, exists] += 1
        most = fact("existing_file_systems" if exists else "new_file_systems")[family]
        if number[family, exists] > most:
            what = "that exist, with options and mounts" if exists else "that ParallelCluster makes"
            remedy = "" if exists else "; give 'FileSystemId' of one that exists"
            text = f"must be {kind} for at most {most} {what}, got {number[family, exists]}{remedy}"
            yield Problem((*at, index, "StorageType"), text)


def _efs_problems(at: At, efs: Mapping[str, Any]) -> Problems:
    """Who comes with a role or to an access point comes over TLS (``EfsMountOptions…``, ``EfsAccessPointOptions…``)."""
    given = [key for key in ("AccessPointId",) if efs.get(key)]
    given += [key for key in ("IamAuthorization",) if is_true(efs.get(key))]
    encrypted = efs.get("EncryptionInTransit")
    for key in given:
        if not is_true(encrypted) and not unresolved(encrypted):
            yield Problem((*at, key), "must be given with 'EncryptionInTransit' true", of_key=True)
    if efs.get("AccessPointId") and efs.get("FileSystemId") is None:
        yield Problem((*at, "AccessPointId"), "must be given with 'FileSystemId'", of_key=True)


def is_true(value: Any) -> bool:
    """Return whether ParallelCluster reads a value as true.

    Args:
        value: What was said.
    """
    return str(value).lower() == "true"
