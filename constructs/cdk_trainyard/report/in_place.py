"""What services refuse of changes that CloudFormation would make in place.

Sources: botocore 1.44.5, ``fsx/2018-03-01``: UpdateFileSystem with its Lustre and metadata configurations; FSx for
Lustre User Guide, "Managing metadata performance" and "Working with EFA-enabled file systems"; Amazon RDS User Guide,
"Working with storage for Amazon RDS DB instances" and "Upgrades of the MariaDB DB engine" ("you can't revert to the
previous version"); botocore 1.44.5, ``grafana/2020-08-18``: UpdateWorkspaceConfiguration; of metadata IOPS that come
before capacity, hashicorp/terraform-provider-aws#44432 and #44456 (2025-09-25). All read 2026-11-28.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.report.nested import at
from cdk_trainyard.storage.lustre_deployment import automatic_metadata_iops

Properties = Mapping[str, Any]
_LUSTRE: Final = "AWS::FSx::FileSystem LUSTRE"
_OPENZFS: Final = "AWS::FSx::FileSystem OPENZFS"
_WINDOWS: Final = "AWS::FSx::FileSystem WINDOWS"
_METADATA: Final = "LustreConfiguration.MetadataConfiguration"
_PER_TIB: Final = "LustreConfiguration.PerUnitStorageThroughput"
_CAPACITY: Final = "StorageCapacity"
_VERSION: Final = "FileSystemTypeVersion"
_LEAST_GROWTH: Final = 1.1
UNMOUNT: Final = (
    "FSx does not update Lustre while a client is connected: unmount it on every node first, and mount it again after"
)
"""What another version of Lustre takes. Source: FSx for Lustre User Guide, "Managing Lustre versions"."""

_ONLY_GROWS: Final = {
    _LUSTRE: (_CAPACITY, "LustreConfiguration.ThroughputCapacity", _VERSION),
    _OPENZFS: (_CAPACITY,),
    _WINDOWS: (_CAPACITY,),
    "AWS::Grafana::Workspace": ("GrafanaVersion",),
    "AWS::RDS::DBInstance": ("AllocatedStorage", "EngineVersion"),
}
"""Numbers and versions that a service never lowers."""

_FIXED: Final = {
    _LUSTRE: (
        (_CAPACITY, "LustreConfiguration.DeploymentType", "SCRATCH_1"),
        (_PER_TIB, "StorageType", "HDD"),
        (_PER_TIB, "LustreConfiguration.EfaEnabled", "true"),
    )
}
"""What stays as it was made where another property has a value."""


def refused_in_place(kind: str, before: Properties, after: Properties) -> list[str]:
    """Return why a service would not make a change of a resource; what only a deployment knows is not judged.

    Args:
        kind: The type of the resource.
        before: Its properties before.
        after: Its properties after.
    """
    of = _of(kind, before)
    lowered = (_lowered(path, _value(before, path), _value(after, path)) for path in _ONLY_GROWS.get(of, ()))
    fixed = (
        f"{_name(path)} cannot change where {_name(other)} is {value}"
        for path, other, value in _FIXED.get(of, ())
        if _changes(before, after, path) and str(_value(before, other)).lower() == value.lower()
    )
    others = (text for rule in _RULES.get(of, ()) for text in rule(before, after))
    return [*filter(None, lowered), *fixed, *others]


def is_newer_lustre(kind: str, before: Properties, after: Properties) -> bool:
    """Return whether a file system gets another version of Lustre.

    Args:
        kind: The type of the resource.
        before: Its properties before.
        after: Its properties after.
    """
    return _of(kind, before) == _LUSTRE and _changes(before, after, _VERSION)


def iops_before_capacity(kind: str, before: Properties, after: Properties) -> str:
    """Return what to do about capacity for which FSx wants more metadata IOPS than there are; nothing if it has them.

    Args:
        kind: The type of the resource.
        before: Its properties before.
        after: Its properties after.
    """
    is_ours = _of(kind, before) == _LUSTRE and _value(before, f"{_METADATA}.Mode") == "USER_PROVISIONED"
    iops, capacity, wanted = _metadata_iops(before), _number(before.get(_CAPACITY)), _number(after.get(_CAPACITY))
    if not is_ours or iops is None or capacity is None or wanted is None or wanted <= capacity:
        return ""
    least = automatic_metadata_iops(wanted)
    text = f"FSx raises the capacity to {wanted} GiB when there are {least} metadata IOPS, and there are {iops}"
    return f"{text}: raise them in one deployment, the capacity in the next" if iops < least else ""


def _of(kind: str, properties: Properties) -> str:
    return f"{kind} {properties.get('FileSystemType')}" if kind == "AWS::FSx::FileSystem" else kind


def _lowered(path: str, one: Any, other: Any) -> str:
    """Return that a number, or as much of a version as both say, is lower than before."""
    old, new = _numbers(one), _numbers(other)
    said = min(len(old), len(new))
    return f"{_name(path)} cannot be lowered from {one} to {other}" if new[:said] < old[:said] else ""


def _metadata_added(before: Properties, after: Properties) -> Iterator[str]:
    if _value(before, _METADATA) is None and _value(after, _METADATA) is not None:
        yield f"{_name(_METADATA)} cannot be added to a file system that was made without one"


def _metadata_lowered(before: Properties, after: Properties) -> Iterator[str]:
    one, other = _metadata_iops(before), _metadata_iops(after)
    if _changes(before, after, _METADATA) and one is not None and other is not None and other < one:
        yield f"metadata IOPS cannot be lowered from {one} to {other}"


def _metadata_iops(properties: Properties) -> int | None:
    if _value(properties, f"{_METADATA}.Mode") != "AUTOMATIC":
        return _number(_value(properties, f"{_METADATA}.Iops"))
    capacity = _number(properties.get(_CAPACITY))
    return None if capacity is None else automatic_metadata_iops(capacity)


def _grown_too_little(before: Properties, after: Properties) -> Iterator[str]:
    one, other = _number(before.get(_CAPACITY)), _number(after.get(_CAPACITY))
    if one is not None and other is not None and one < other < one * _LEAST_GROWTH:
        yield f"{_CAPACITY} grows by 10 percent or more at a time, got {one} and {other}"


_RULES: Final[Mapping[str, tuple[Callable[[Properties, Properties], Iterator[str]], ...]]] = {
    _LUSTRE: (_metadata_added, _metadata_lowered),
    _OPENZFS: (_grown_too_little,),
    _WINDOWS: (_grown_too_little,),
}


def _value(properties: Properties, path: str) -> Any:
    return at(properties, *path.split("."))


def _name(path: str) -> str:
    return path.rpartition(".")[2]


def _changes(before: Properties, after: Properties, path: str) -> bool:
    one, other = _value(before, path), _value(after, path)
    return other is not None and one != other


def _numbers(value: Any) -> tuple[int, ...]:
    """Return a number, or the numbers of a version; nothing of what is neither."""
    return tuple(map(int, str(value).split("."))) if re.fullmatch(r"\d+(\.\d+)*", str(value)) else ()


def _number(value: Any) -> int | None:
    numbers = _numbers(value)
    return numbers[0] if len(numbers) == 1 else None
