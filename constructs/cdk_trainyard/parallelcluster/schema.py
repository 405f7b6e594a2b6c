"""A configuration against the schema of ParallelCluster: unknown keys, types, choices, patterns, bounds. Pure.

ParallelCluster refuses a configuration with one wrong key, twenty minutes into a deployment. The same is said here at
synthesis, with the path and what was probably meant.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.merge import is_list
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
_RESERVED_TAG = "parallelcluster:"


def schema_problems(config: Config) -> list[str]:
    """Return where a configuration is not one of ParallelCluster's: keys, types and values.

    Args:
        config: The configuration, with the keys of ParallelCluster. Tokens may stand for text; they are not judged.
    """
    return list(_section(config, fact("schema"), "", ""))


# ---------------------------------------------------------------- sections
def _section(value: Any, keys: Mapping[str, _Node], path: str, place: str, one_of: Sequence[str] = ()) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"'{path}' must be a section of keys, got {value!r}"
        return
    for key, inner in value.items():
        if node := keys.get(key):
            yield from _node(inner, node, _join(path, key), _join(place, key))
        else:
            yield f"'{_join(path, key)}' is not a key of ParallelCluster{did_you_mean(key, keys)}"
    yield from (
        f"'{_join(path, key)}' must be given"
        for key, node in keys.items()
        if node.get("required") and key not in one_of and value.get(key) is None
    )
    yield from _relations(value, path, place)


def _node(value: Any, node: _Node, path: str, place: str) -> Iterator[str]:
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
                yield f"'{path}' must be a mapping, got {value!r}"
        case kind:
            yield from _value(value, kind, node, path)


def _list(value: Any, node: _Node, path: str, place: str) -> Iterator[str]:
    if not is_list(value):
        yield f"'{path}' must be a list, got {value!r}"
        return
    for index, item in enumerate(value):
        name = item.get("Name", index) if isinstance(item, Mapping) else index
        yield from _section(item, node["keys"], f"{path}[{name}]", f"{place}[]")


def _values(value: Any, node: _Node, path: str) -> Iterator[str]:
    if not is_list(value):
        yield f"'{path}' must be a list, got {value!r}"
        return
    yield from _size(len(value), node, path, "entries")
    for index, item in enumerate(value):
        yield from _node(item, node["item"], f"{path}[{index}]", "")


def _alternatives(value: Any, node: _Node, path: str) -> Iterator[str]:
    names = node.get("one_of_keys")
    if names and isinstance(value, Mapping) and len([name for name in names if name in value]) != 1:
        yield f"'{path}' must have one of {' and '.join(names)}, got {_listed(value)}"


# ---------------------------------------------------------------- values
def _value(value: Any, kind: str, node: _Node, path: str) -> Iterator[str]:
    expected, reads = _KINDS[kind]
    if not reads(value):
        yield f"'{path}' must be {expected}, got {value!r}"
        return
    if "choices" in node and _as(kind, value) not in node["choices"]:
        choices = [str(choice) for choice in node["choices"]]
        yield f"'{path}' must be one of {', '.join(choices)}, got {value!r}{did_you_mean(str(value), choices)}"
    # ParallelCluster matches from the beginning only; its patterns say themselves where they end
    if "pattern" in node and not re.match(node["pattern"], str(value)):
        yield f"'{path}' must match {node['pattern']}, got {value!r}"
    if kind in {"integer", "number"}:
        yield from _bounds(_as(kind, value), node, path)
    if kind == "string":
        yield from _size(len(value), node, path, "characters")


def _bounds(number: float, node: _Node, path: str) -> Iterator[str]:
    if "min" in node and number < node["min"]:
        yield f"'{path}' must be at least {node['min']}, got {number}"
    if "max" in node and number > node["max"]:
        yield f"'{path}' must be at most {node['max']}, got {number}"


def _size(size: int, node: _Node, path: str, what: str) -> Iterator[str]:
    if "length" in node and size != node["length"]:
        yield f"'{path}' must have {node['length']} {what}, got {size}"
    if size < node.get("min_length", 0):
        yield f"'{path}' must have at least {node['min_length']} {what}, got {size}"
    if size > node.get("max_length", size):
        yield f"'{path}' must have at most {node['max_length']} {what}, got {size}"


def _reads_integer(value: Any) -> bool:
    # CloudFormation turns every number into text, so ParallelCluster takes both
    return isinstance(value, int) or (isinstance(value, str) and bool(re.fullmatch(r"[+-]?\d+", value.strip())))


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
def _relations(value: Config, path: str, place: str) -> Iterator[str]:
    for where, names in _ONE_OF:
        given = [name for name in names if value.get(name)]
        if where == place and len(given) > 1:
            yield f"'{path}' must have only one of {', '.join(names)}, got {' and '.join(given)}"
    for (where, name), allowed in _ONLY_WITH_ID.items():
        if where == place and value.get(name) is not None and (more := sorted(set(value) - allowed)):
            got = _listed(more)
            yield f"'{path}' must have nothing beside {name}, which names a file system that exists, got {got}"
    if place == "Tags" or place.endswith(".Tags"):
        return
    tags = value.get("Tags")
    if tags is not None and is_list(tags):
        yield from _tags([tag.get("Key") for tag in tags if isinstance(tag, Mapping)], _join(path, "Tags"))
    if place == "SharedStorage[]":
        yield from _storage(value, path)


def _storage(value: Config, path: str) -> Iterator[str]:
    wanted = f"{value.get('StorageType')}Settings"
    for name in value:
        if name.endswith("Settings") and name != wanted:
            yield f"'{path}.{name}' must not be given with StorageType {value.get('StorageType')}"


def _tags(names: Sequence[Any], path: str) -> Iterator[str]:
    for name in sorted({name for name in names if isinstance(name, str) and not unresolved(name)}):
        if names.count(name) > 1:
            yield f"'{path}' must name every tag once, got {name!r} {names.count(name)} times"
        if name.startswith(_RESERVED_TAG):
            yield f"'{path}' must not begin with {_RESERVED_TAG}, which is ParallelCluster's own, got {name!r}"


def _listed(names: Any) -> str:
    return ", ".join(names) or "nothing"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
