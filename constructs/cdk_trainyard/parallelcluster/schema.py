"""A configuration against the schema of ParallelCluster: unknown keys, types, choices, patterns, bounds. Pure.

ParallelCluster refuses a configuration with one wrong key, twenty minutes into a deployment. The same is said here at
synthesis, with the path and what was probably meant.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.limits import RESERVED_TAG
from cdk_trainyard.parallelcluster.merge import is_list
from cdk_trainyard.problems import At, Problem, either, shown
from cdk_trainyard.tokens import unresolved

Config = Mapping[str, Any]
_Node = Mapping[str, Any]

_TRUTH = {"true", "false", "1", "0", "yes", "no", "on", "off", "t", "f", "y", "n"}
# The checks that ParallelCluster writes as code in its schema; each is a row of the agreement table.
_ONE_OF: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("HeadNode.Networking", ("SecurityGroups", "AdditionalSecurityGroups")),
    ("LoginNodes.Pools[].Networking", ("SecurityGroups", "AdditionalSecurityGroups")),
    ("Scheduling.SlurmQueues[].Networking", ("SecurityGroups", "AdditionalSecurityGroups")),
    ("HeadNode.Iam", ("InstanceRole", "InstanceProfile", "AdditionalIamPolicies")),
    ("HeadNode.Iam", ("InstanceRole", "S3Access")),
    ("HeadNode.Iam", ("InstanceProfile", "S3Access")),
    ("LoginNodes.Pools[].Iam", ("InstanceRole", "InstanceProfile", "AdditionalIamPolicies")),
    ("Scheduling.SlurmQueues[].Iam", ("InstanceRole", "InstanceProfile", "AdditionalIamPolicies")),
    ("Scheduling.SlurmQueues[].Iam", ("InstanceRole", "S3Access")),
    ("Scheduling.SlurmQueues[].Iam", ("InstanceProfile", "S3Access")),
    ("Scheduling.SlurmQueues[].ComputeResources[]", ("InstanceType", "Instances")),
    (
        "Scheduling.SlurmQueues[].ComputeResources[].CapacityReservationTarget",
        ("CapacityReservationId", "CapacityReservationResourceGroupArn"),
    ),
    (
        "Scheduling.SlurmQueues[].CapacityReservationTarget",
        ("CapacityReservationId", "CapacityReservationResourceGroupArn"),
    ),
    (
        "SharedStorage[]",
        (
            "EbsSettings",
            "EfsSettings",
            "FsxLustreSettings",
            "FsxOpenZfsSettings",
            "FsxOntapSettings",
            "FileCacheSettings",
        ),
    ),
)
_ONLY_WITH_ID = {
    ("SharedStorage[].EfsSettings", "FileSystemId"): {
        "FileSystemId",
        "AccessPointId",
        "EncryptionInTransit",
        "IamAuthorization",
    },
    ("SharedStorage[].FsxLustreSettings", "FileSystemId"): {"FileSystemId"},
}
_NOT_OF_A_BACKUP = (
    "DeploymentType",
    "PerUnitStorageThroughput",
    "StorageCapacity",
    "ImportPath",
    "ExportPath",
    "ImportedFileChunkSize",
    "KmsKeyId",
)
"""What FSx for Lustre takes from a backup."""
NO_DIRECTORY = ("NONE", "/NONE")
"""What stands for no directory (``shared_dir_validator`` of its schema)."""
MISSING = "must be given"
FORMS: Mapping[str, str] = {
    "AccessPointId": "the id of an access point, as fsap-0123456789abcdef0",
    "AdditionalSecurityGroups": "the id of a security group, as sg-0123456789abcdef0",
    "AllowedIps": "an IPv4 block or a prefix list, as 203.0.113.7/32",
    "BackupId": "the id of a backup, as backup-0123456789abcdef0",
    "BucketName": "the name of a bucket",
    "CustomAmi": "the id of an image, as ami-0123456789abcdef0",
    "DailyAutomaticBackupStartTime": "a time of day, as 03:30",
    "DatabaseName": "lower case letters, digits and '_', as jobs",
    "FileCacheId": "the id of a file cache, as fc-0123456789abcdef0",
    "FileSystemId": "the id of a file system, as fs-0123456789abcdef0",
    "FileSystemPath": "a path in one line, at most 4096 characters",
    "InstanceProfile": "the ARN of an instance profile",
    "InstanceRole": "the ARN of an IAM role",
    "LambdaFunctionsRole": "the ARN of an IAM role",
    "MountDir": "a path whose parts are not empty and do not begin with '.', as /shared",
    "PasswordSecretArn": "the ARN of a secret",
    "PermissionsBoundary": "the ARN of a managed policy",
    "Policy": "the ARN of a managed policy",
    "SecurityGroupIds": "the id of a security group, as sg-0123456789abcdef0",
    "SecurityGroups": "the id of a security group, as sg-0123456789abcdef0",
    "SnapshotId": "the id of a snapshot, as snap-0123456789abcdef0",
    "SubnetId": "the id of a subnet, as subnet-0123456789abcdef0",
    "SubnetIds": "the id of a subnet, as subnet-0123456789abcdef0",
    "VolumeId": "the id of a volume, as vol-0123456789abcdef0, of FSx fsvol-0123456789abcdef0",
    "WeeklyMaintenanceStartTime": "a day and a time, as 1:03:30",
}
"""What a value must be whose form ParallelCluster's schema has as a pattern, by its key."""


def schema_problems(config: Config) -> list[Problem]:
    """Return where a configuration is not one of ParallelCluster's: keys, types and values, with their paths in it.

    Args:
        config: The configuration, with the keys of ParallelCluster. Tokens may stand for text; they are not judged.
    """
    return list(_section(config, fact("schema"), (), ""))


# ---------------------------------------------------------------- sections
def _section(
    value: Any, keys: Mapping[str, _Node], path: At, place: str, one_of: Sequence[str] = ()
) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield Problem(path, f"must be a section of keys, got {shown(value)}")
        return
    for key, inner in value.items():
        if node := keys.get(key):
            yield from _node(inner, node, (*path, key), f"{place}.{key}".removeprefix("."))
        else:
            first, dot, _ = str(key).partition(".")
            nested = f"; write a section for each dot, beginning with '{first}:'" if dot and first in keys else ""
            text = f"is not a key of ParallelCluster{nested or did_you_mean(str(key), keys)}"
            yield Problem((*path, key), text, of_key=True)
    yield from (
        Problem((*path, key), MISSING)
        for key, node in keys.items()
        if node.get("required") and key not in one_of and value.get(key) is None
    )
    yield from _relations(value, path, place)


def _node(value: Any, node: _Node, path: At, place: str) -> Iterator[Problem]:
    if unresolved(value):
        return
    match node["type"]:
        case "section":
            yield from _section(value, node["keys"], path, place, node.get("one_of_keys", ()))
            yield from _alternatives(value, node, path)
        case "list":
            yield from _list(value, node, path, place)
        case "values":
            yield from _values(value, node, path)
        case "map":
            if not isinstance(value, Mapping):
                yield Problem(path, f"must be a mapping, got {shown(value)}")
        case kind:
            yield from _value(value, kind, node, path)


def _list(value: Any, node: _Node, path: At, place: str) -> Iterator[Problem]:
    if not is_list(value):
        yield Problem(path, f"must be a list, got {shown(value)}")
        return
    for index, item in enumerate(value):
        yield from _section(item, node["keys"], (*path, index), f"{place}[]")


def _values(value: Any, node: _Node, path: At) -> Iterator[Problem]:
    if not is_list(value):
        yield Problem(path, f"must be a list, got {shown(value)}")
        return
    yield from _size(len(value), node, path, "entries")
    for index, item in enumerate(value):
        yield from _node(item, node["item"], (*path, index), "")


def _alternatives(value: Any, node: _Node, path: At) -> Iterator[Problem]:
    names = node.get("one_of_keys")
    if names and isinstance(value, Mapping) and len([name for name in names if name in value]) != 1:
        yield Problem(path, f"must have one of {' and '.join(names)}, got {_listed(value)}")


# ---------------------------------------------------------------- values
def _value(value: Any, kind: str, node: _Node, path: At) -> Iterator[Problem]:
    expected, reads = _KINDS[kind]
    if not reads(value):
        yield Problem(path, f"must be {expected}, got {shown(value)}")
        return
    if "choices" in node and _as(kind, value) not in node["choices"]:
        choices = [str(choice) for choice in node["choices"]]
        yield Problem(path, f"must be {either(choices)}, got {shown(value)}{did_you_mean(str(value), choices)}")
    # ParallelCluster matches from the beginning only; its patterns say themselves where they end
    if "pattern" in node and not re.match(node["pattern"], str(value)):
        yield Problem(path, f"must be {FORMS[_key(path)]}, got {shown(value)}")
    if kind in {"integer", "number"}:
        yield from _bounds(_as(kind, value), node, path)
    if kind == "string":
        yield from _size(len(value), node, path, "characters")


def _bounds(number: float, node: _Node, path: At) -> Iterator[Problem]:
    if "min" in node and number < node["min"]:
        yield Problem(path, f"must be at least {node['min']}, got {number}")
    if "max" in node and number > node["max"]:
        yield Problem(path, f"must be at most {node['max']}, got {number}")


def _size(size: int, node: _Node, path: At, what: str) -> Iterator[Problem]:
    if "length" in node and size != node["length"]:
        yield Problem(path, f"must have {node['length']} {what}, got {size}")
    if size < node.get("min_length", 0):
        yield Problem(path, f"must have at least {node['min_length']} {what}, got {size}")
    if size > node.get("max_length", size):
        yield Problem(path, f"must have at most {node['max_length']} {what}, got {size}")


def _reads_integer(value: Any) -> bool:
    # CloudFormation turns every number into text, so ParallelCluster takes both
    return isinstance(value, int) or (isinstance(value, str) and bool(re.fullmatch(r"[+-]?[0-9]+", value.strip())))


def _reads_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and _is_float(value))


def _reads_boolean(value: Any) -> bool:
    return isinstance(value, bool) or str(value).lower() in _TRUTH


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as(kind: str, value: Any) -> Any:
    return {"integer": int, "number": float, "string": str}.get(kind, lambda same: same)(value)


_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("text", lambda value: isinstance(value, str)),
    "integer": ("a whole number", _reads_integer),
    "number": ("a number", _reads_number),
    "boolean": ("true or false", _reads_boolean),
    "any": ("a value", lambda _: True),
}


# ---------------------------------------------------------------- keys that exclude or need one another
def _relations(value: Config, path: At, place: str) -> Iterator[Problem]:
    for where, names in _ONE_OF:
        given = [name for name in names if value.get(name)]
        if where == place and len(given) > 1:
            yield Problem(path, f"must have only one of {', '.join(names)}, got {' and '.join(given)}")
    for (where, name), allowed in _ONLY_WITH_ID.items():
        if where == place and value.get(name) is not None and (more := sorted(set(value) - allowed)):
            got = _listed(more)
            yield Problem(path, f"must have nothing beside {name}, which names a file system that exists, got {got}")
    if place == "Tags" or place.endswith(".Tags"):
        return
    tags = value.get("Tags")
    if tags is not None and is_list(tags):
        yield from _tags([tag.get("Key") for tag in tags if isinstance(tag, Mapping)], (*path, "Tags"))
    if check := _CHECKS.get(place):
        yield from check(value, path)


def _throughput(value: Config, path: At) -> Iterator[Problem]:
    mode, provisioned = value.get("ThroughputMode"), value.get("ProvisionedThroughput")
    if unresolved(mode, provisioned):
        return
    if provisioned and mode != "provisioned":
        got = "nothing" if mode is None else shown(mode)
        yield Problem(path, f"must have ThroughputMode provisioned with ProvisionedThroughput, got {got}")
    if mode == "provisioned" and not provisioned:
        yield Problem(path, "must have ProvisionedThroughput with ThroughputMode provisioned, got nothing")


def _backup(value: Config, path: At) -> Iterator[Problem]:
    if value.get("BackupId") is not None:
        for name in _NOT_OF_A_BACKUP:
            if name in value:
                yield Problem((*path, name), "must be left out with BackupId, which says it", of_key=True)


def _instances(value: Config, path: At) -> Iterator[Problem]:
    instances: Any = value.get("Instances")
    if not is_list(instances):
        return
    names = [one.get("InstanceType") if isinstance(one, Mapping) else None for one in instances]
    for index, name in enumerate(names):
        if isinstance(name, str) and not unresolved(name) and name in names[:index]:
            yield Problem(
                (*path, "Instances", index, "InstanceType"), f"must be different from every other, got {name} again"
            )


def _storage(value: Config, path: At) -> Iterator[Problem]:
    if value.get("MountDir") in NO_DIRECTORY:
        yield Problem((*path, "MountDir"), f"must be another directory, got {value['MountDir']}: it stands for none")
    wanted = f"{value.get('StorageType')}Settings"
    for name in value:
        if name.endswith("Settings") and name != wanted:
            text = f"must be left out with StorageType {value.get('StorageType')}"
            yield Problem((*path, name), text, of_key=True)


_CHECKS: Mapping[str, Callable[[Config, At], Iterator[Problem]]] = {
    "SharedStorage[]": _storage,
    "SharedStorage[].EfsSettings": _throughput,
    "SharedStorage[].FsxLustreSettings": _backup,
    "Scheduling.SlurmQueues[].ComputeResources[]": _instances,
}


def _tags(names: Sequence[Any], path: At) -> Iterator[Problem]:
    for name in sorted({name for name in names if isinstance(name, str) and not unresolved(name)}):
        if names.count(name) > 1:
            yield Problem(path, f"must name every tag once, got {name!r} {names.count(name)} times")
        if name.startswith(RESERVED_TAG):
            yield Problem(path, f"must not begin with {RESERVED_TAG}, which is ParallelCluster's own, got {name!r}")


def _key(path: At) -> str:
    return next(part for part in reversed(path) if isinstance(part, str))


def _listed(names: Any) -> str:
    return ", ".join(names) or "nothing"
