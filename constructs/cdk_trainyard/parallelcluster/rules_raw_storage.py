"""Whether raw keys say shared directories that ParallelCluster mounts. Pure: nothing is created here.

What its schema says of them is said elsewhere; here is what it says in code (``pcluster/validators`` of 3.16.1).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.merge import is_list, value_at
from cdk_trainyard.parallelcluster.resolve import known, volumes
from cdk_trainyard.parallelcluster.rules_raw_lustre import lustre_problems
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_IDENTITIES: Final = (
    "EfsSettings.FileSystemId",
    "FsxLustreSettings.FileSystemId",
    "FileCacheSettings.FileCacheId",
)


def storage_problems(at: At, storage: Any, spec: ParallelClusterSpec, context: ClusterContext) -> Problems:
    """Shared directories of raw keys go together with those of options.

    Args:
        at: Where they are said.
        storage: The directories, as they are said.
        spec: The cluster.
        context: What it stands in.
    """
    if not is_list(storage):
        return
    there: list[Any] = [
        *(one for _, one in volumes(spec.shared_storage)),
        *(one for _, one in known(context.mounts)),
    ]
    names, places = {str(one.name) for one in there}, {str(one.at) for one in there}
    for index, entry in enumerate(storage):
        if isinstance(entry, Mapping):
            yield from _storage_problems((*at, index), entry, names, places)
            names.add(str(entry.get("Name")))
            places.add(str(entry.get("MountDir")))
    yield from _identity_problems(at, storage, there)
    yield from _made_problems(at, storage, spec)


def _storage_problems(at: At, entry: Mapping[str, Any], names: set[Any], places: set[Any]) -> Problems:
    """A shared directory is of a kind that has no option, and none that is there already."""
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
    if isinstance(place, str) and not unresolved(place):
        yield from _directory_problems((*at, "MountDir"), place, places, kind)
    if isinstance(efs := entry.get("EfsSettings"), Mapping):
        yield from _efs_problems((*at, "EfsSettings"), efs)
    if isinstance(lustre := entry.get("FsxLustreSettings"), Mapping):
        yield from lustre_problems((*at, "FsxLustreSettings"), lustre)


def _identity_problems(at: At, storage: Any, there: list[Any]) -> Problems:
    """What exists is mounted once (``existing_storage_id_list`` of ``cluster_config.py``)."""
    before = {getattr(one, "file_system_id", None) for one in there}
    for index, entry in enumerate(storage):
        for path in _IDENTITIES:
            identity = value_at(entry, path)
            if isinstance(identity, str) and not unresolved(identity):
                if identity in before:
                    text = f"must be another for every shared directory, got {identity} again"
                    yield Problem((*at, index, *path.split(".")), text)
                before.add(identity)


def _made_problems(at: At, storage: Any, spec: ParallelClusterSpec) -> Problems:
    """ParallelCluster makes one file system of a kind (``NumberOfStorageValidator``)."""
    most = fact("new_file_systems")
    made = Counter(Efs=sum(one.file_system_id is None for _, one in known(spec.shared_storage.efs)))
    for index, entry in enumerate(storage):
        kind = entry.get("StorageType") if isinstance(entry, Mapping) else None
        if kind in ("Efs", "FsxLustre") and value_at(entry, f"{kind}Settings.FileSystemId") is None:
            made[kind] += 1
            if made[kind] > (number := most["efs" if kind == "Efs" else "fsx"]):
                text = f"must be {kind} for at most {number} that ParallelCluster makes, got {made[kind]}"
                yield Problem((*at, index, "StorageType"), f"{text}; give 'FileSystemId' of one that exists")


def _directory_problems(at: At, place: str, places: set[Any], kind: Any) -> Problems:
    """It is mounted where nothing else is (``DuplicateMountDir…``, ``Overlapping…``, ``SharedStorageMountDir…``)."""
    if place in places:
        yield Problem(at, f"must be another for every shared directory, got {place} a second time")
    for other in sorted(places - {place}):
        if place.startswith(f"{other}/") or other.startswith(f"{place}/"):
            yield Problem(at, f"must not be inside another mounted directory, got {place} and {other}")
    if f"/{place.strip('/')}" in fact("reserved_directories"):
        yield Problem(at, f"must not be a directory of the system, got {place}")
    if kind == "FileCache" and place.strip("/") == "home":
        yield Problem(at, f"must not be that of people for a file cache, got {place}")


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
