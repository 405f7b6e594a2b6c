"""Facts that the library and the local AWS or the rehearsal both have: each from a source of its own, and the same."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

import pytest
from botocore.session import Session

from cdk_trainyard.hyperpod import limits
from cdk_trainyard.instances import AcceleratorKind, InstanceType, hyperpod_type_names
from cdk_trainyard.local.parallelcluster import schema as emulated
from cdk_trainyard.local.services.fsx_rules import LIMITS
from cdk_trainyard.parallelcluster import schema as ours
from cdk_trainyard.parallelcluster.facts import fact, parallelcluster_version
from cdk_trainyard.rehearsal import instance_types as rehearsed
from cdk_trainyard.storage.lustre_facts import (
    LUSTRE_FACTS,
    MAX_REPOSITORIES,
    TIERING_SERVER_MB_S,
    LustreStorage,
    LustreType,
)
from tests.parallelcluster.test_schema import GOOD, GRID, changed
from tools import generate_fsx_limits, generate_hyperpod_properties

Facts = Mapping[str, Any]
KINDS = {"section": "object", "map": "object", "list": "array", "values": "array", "any": None}
RANGE = {"min": "minimum", "max": "maximum"}


# ---------------------------------------------------------------- ParallelCluster
def our_keys(keys: Facts, path: str = "") -> Iterator[tuple[str, Facts]]:
    """Yield the keys of the library's facts, in words of JSON Schema; a custom action's Script is one of two."""
    for key, node in keys.items():
        yield f"{path}{key}", described(node) | {"required": bool(node.get("required"))}
        yield from our_keys(node.get("keys", {}), f"{path}{key}.")


def described(node: Facts) -> Facts:
    noun = "Items" if node["type"] in {"list", "values"} else "Length"
    size = {word: node.get("length", node.get(f"{word}_length")) for word in ("min", "max")}
    return {
        "type": KINDS.get(node["type"], node["type"]),
        "enum": node.get("choices"),
        "minimum": node.get("min"),
        "maximum": node.get("max"),
        **{f"{word}{noun}": value for word, value in size.items()},
        "item": node.get("item", {}).get("type"),
    }


def their_keys(section: Facts, path: str = "") -> Iterator[tuple[str, Facts]]:
    """Yield the keys of the schema of the local AWS, in the same words."""
    for key, node in section["properties"].items():
        items = node.get("items", {})
        inner = items if "properties" in items else node
        item = None if "properties" in items or not items else {"object": "map"}.get(items["type"], items["type"])
        names = ("type", "enum", "minimum", "maximum", *(f"{word}{noun_of(node)}" for word in ("min", "max")))
        found = {name: node.get(name) for name in names}
        yield f"{path}{key}", found | {"item": item, "required": key in section.get("required", ())}
        if "properties" in inner:
            yield from their_keys(inner, f"{path}{key}.")


def noun_of(node: Facts) -> str:
    return "Items" if node.get("type") == "array" else "Length"


def test_both_have_the_keys_of_one_version_of_parallelcluster() -> None:
    assert f" {parallelcluster_version()}," in emulated.schema()["$comment"]
    theirs = dict(their_keys(emulated.schema()))
    found = dict(our_keys(fact("schema")))
    assert len(theirs) > 300
    assert found.keys() == theirs.keys()
    scripts = {path for path in found if path.endswith((".Script", ".Sequence"))}
    assert {path: found[path] for path in found if path not in scripts and found[path] != theirs[path]} == {}


@pytest.mark.parametrize("name", GRID)
def test_both_refuse_a_configuration(name: str) -> None:
    path, value, _ = GRID[name]
    config = changed(path, value)
    assert ours.schema_problems(config)
    assert emulated.schema_problems(config)


def test_both_accept_a_configuration() -> None:
    assert not ours.schema_problems(GOOD)
    assert not emulated.schema_problems(GOOD)


# ---------------------------------------------------------------- instance types
def of_the_catalogue(name: str) -> Facts:
    kind = InstanceType.of(name)
    neuron = sum(part.count for part in kind.accelerators if part.kind is AcceleratorKind.NEURON)
    alike = {field.name for field in fields(rehearsed.InstanceType)} - {"neuron_devices"}
    return {fact: getattr(kind, fact) for fact in alike} | {"neuron_devices": neuron}


def test_nodes_show_what_the_catalogue_says_of_their_type() -> None:
    names = rehearsed.instance_type_names()
    assert {name.removeprefix("ml.") for name in hyperpod_type_names()} <= set(names)
    theirs = {name: asdict(rehearsed.InstanceType.of(name)) for name in names}
    assert {name: facts for name, facts in theirs.items() if facts != of_the_catalogue(name)} == {}


# ---------------------------------------------------------------- file systems
def of_fsx(kind: LustreType, storage: LustreStorage) -> Facts:
    """Return what FSx's own model says, in the words of the library's table."""
    throughputs = LIMITS["lustre_throughput"].get(f"{kind} {storage}", [])
    ssd, hdd = LIMITS["lustre_capacity_gib"][kind], LIMITS["lustre_hdd_step_gib"]
    tiering = storage is LustreStorage.INTELLIGENT_TIERING
    steps = {
        LustreStorage.SSD: dict.fromkeys(throughputs or [200], ssd["step"]),
        LustreStorage.HDD: {int(throughput): step for throughput, step in hdd.items()},
        LustreStorage.INTELLIGENT_TIERING: {},
    }
    efa = {int(throughput): step for throughput, step in LIMITS["lustre_efa_step_gib"].items()}
    newest = kind is LustreType.PERSISTENT_2
    return {
        "server_gib": steps[storage],
        "partial_gib": tuple(ssd["also"]) if storage is LustreStorage.SSD else (),
        "throughput_chosen": bool(throughputs),
        "iops": tuple(LIMITS["lustre_metadata_iops"][storage]) if newest else (),
        "efa_server_gib": efa if newest and not tiering else {},
    }


@pytest.mark.parametrize(("kind", "storage"), LUSTRE_FACTS)
def test_lustre_is_sold_as_fsx_says(kind: LustreType, storage: LustreStorage) -> None:
    theirs = of_fsx(kind, storage)
    assert {name: getattr(LUSTRE_FACTS[kind, storage], name) for name in theirs} == theirs


def test_limits_of_lustre_are_those_of_fsx() -> None:
    assert LIMITS["data_repository_associations"] == MAX_REPOSITORIES
    assert LIMITS["lustre_tiering_step_mb_s"] == TIERING_SERVER_MB_S


def test_the_limits_of_fsx_are_those_of_the_installed_botocore() -> None:
    assert generate_fsx_limits.OUTPUT.read_text() == generate_fsx_limits.dump(generate_fsx_limits.limits())


# ---------------------------------------------------------------- HyperPod
def test_the_properties_of_a_cluster_are_those_of_the_installed_schemas() -> None:
    assert generate_hyperpod_properties.OUTPUT.read_text() == generate_hyperpod_properties.text()


def shape(service: str, name: str) -> Facts:
    """Return the bounds that the local AWS holds requests to."""
    found: Facts = Session().get_service_model(service).shape_for(name).metadata
    return found


def span(facts: Facts) -> range:
    return range(facts["min"], facts["max"] + 1)


@pytest.mark.parametrize(
    ("ours", "name"),
    [
        (limits.INSTANCES, "ClusterInstanceCount"),
        (limits.GROUPS, "ClusterInstanceGroupSpecifications"),
        (limits.INSTANCE_TYPES, "ClusterInstanceTypes"),
        (limits.VOLUME_GB, "ClusterEbsVolumeSizeInGB"),
        (limits.SECURITY_GROUPS, "VpcSecurityGroupIds"),
        (limits.WAIT_SECONDS, "WaitTimeIntervalInSeconds"),
        (limits.ROLLBACK_ALARMS, "AutoRollbackAlarms"),
    ],
)
def test_hyperpod_s_bounds_are_those_of_its_model(ours: range, name: str) -> None:
    assert ours == span(shape("sagemaker", name))


def test_training_plans_reserve_the_types_of_its_model() -> None:
    assert sorted(limits.PLAN_TYPES) == sorted(shape("sagemaker", "ReservedCapacityInstanceType")["enum"])


def test_hyperpod_s_names_are_those_of_its_model() -> None:
    assert shape("sagemaker", "ClusterName") == {"min": 1, "max": limits.NAME_LENGTH, "pattern": limits.NAME.pattern}


def test_hyperpod_s_instance_types_are_those_of_its_model() -> None:
    assert set(hyperpod_type_names()) == set(shape("sagemaker", "ClusterInstanceType")["enum"])
