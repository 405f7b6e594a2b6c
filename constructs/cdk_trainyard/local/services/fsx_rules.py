"""What FSx refuses of a file system: capacities, throughputs, networks.

Capacities and throughputs: CreateFileSystem and UpdateFileSystem in the FSx API reference, and "Managing storage and
throughput capacity" in the FSx for Lustre user guide (EFA multiples), read 2026-11.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cdk_trainyard.local.services import network

Parameters = Mapping[str, Any]
_LUSTRE_PORT = 988
_OPENZFS_PORT = 2049
_SSD_STEP_GIB = 2400
_SSD_SMALLEST_GIB = 1200
_SCRATCH_1_STEP_GIB = 3600
_EFA_STEP_GIB = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
_HDD_STEP_GIB = {12: 6000, 40: 1800}
_THROUGHPUTS = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
_OPENZFS_THROUGHPUTS = {
    "SINGLE_AZ_1": (64, 128, 256, 512, 1024, 2048, 3072, 4096),
    "SINGLE_AZ_HA_1": (64, 128, 256, 512, 1024, 2048, 3072, 4096),
    "SINGLE_AZ_2": (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240),
    "SINGLE_AZ_HA_2": (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240),
    "MULTI_AZ_1": (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240),
}
_OPENZFS_CAPACITIES_GIB = (64, 524288)
_OPENZFS_TWO_SUBNETS = "MULTI_AZ_1"


def refusals(parameters: Parameters) -> list[str]:
    """Return why FSx would not make a file system with these parameters."""
    rules = _RULES.get(parameters["FileSystemType"])
    if rules is None:
        return [f"local AWS: file systems of type {parameters['FileSystemType']} are not emulated"]
    return [problem for rule in rules for problem in rule(parameters)]


def network_refusals(parameters: Parameters, groups: list[dict[str, Any]]) -> list[str]:
    """Return why FSx would not accept the security groups of a file system."""
    lustre = parameters["FileSystemType"] == "LUSTRE"
    port = _LUSTRE_PORT if lustre else _OPENZFS_PORT
    protocol = f"Lustre LNET network traffic on port {port}" if lustre else f"NFS network traffic on port {port}"
    if not network.lets_through(groups, port):
        where = "the default security group in the subnet provided or the provided security groups"
        return [f"The file system cannot be created because {where} do not permit {protocol}"]
    efa = parameters.get("LustreConfiguration", {}).get("EfaEnabled")
    if efa and not any(map(network.trusts_itself, groups)):
        why = "an EFA-enabled file system needs a security group that permits all traffic from and to itself"
        return [f"The file system cannot be created because {why}"]
    return []


def _kind(parameters: Parameters) -> tuple[str, str]:
    config = parameters.get("LustreConfiguration", {})
    return config.get("DeploymentType", "SCRATCH_1"), parameters.get("StorageType", "SSD")


def _lustre_throughput(parameters: Parameters) -> Iterator[str]:
    kind, throughput = _kind(parameters), parameters.get("LustreConfiguration", {}).get("PerUnitStorageThroughput")
    allowed = _THROUGHPUTS.get(kind)
    if kind[1] == "INTELLIGENT_TIERING":
        if throughput is not None:
            yield "PerUnitStorageThroughput is not supported for INTELLIGENT_TIERING file systems"
    elif allowed is None and throughput is not None:
        yield f"PerUnitStorageThroughput is not supported for the {kind[0]} deployment type"
    elif allowed is not None and throughput not in allowed:
        yield f"PerUnitStorageThroughput for {kind[0]} {kind[1]} must be one of {list(allowed)}, got {throughput}"


def _lustre_capacity(parameters: Parameters) -> Iterator[str]:
    capacity = parameters.get("StorageCapacity")
    if _kind(parameters)[1] == "INTELLIGENT_TIERING":
        if capacity is not None:
            yield "StorageCapacity is not supported for INTELLIGENT_TIERING file systems"
        return
    if capacity is None:
        yield "StorageCapacity is required"
        return
    smallest, step = _capacity_steps(parameters)
    if capacity not in smallest and (capacity <= 0 or capacity % step):
        allowed = ", ".join(map(str, [*smallest, f"multiples of {step}"]))
        yield f"Storage capacity must be {allowed} GiB, got {capacity} GiB"


def _capacity_steps(parameters: Parameters) -> tuple[tuple[int, ...], int]:
    """Return the smallest capacities, and what any other must be a multiple of."""
    (deployment, storage), config = _kind(parameters), parameters.get("LustreConfiguration", {})
    throughput = config.get("PerUnitStorageThroughput")
    if config.get("EfaEnabled"):
        return (), _EFA_STEP_GIB.get(throughput, _SSD_STEP_GIB)
    if storage == "HDD":
        return (), _HDD_STEP_GIB.get(throughput, 1)
    if deployment == "SCRATCH_1":
        return (_SSD_SMALLEST_GIB, _SSD_STEP_GIB), _SCRATCH_1_STEP_GIB
    return (_SSD_SMALLEST_GIB,), _SSD_STEP_GIB


def _lustre_efa(parameters: Parameters) -> Iterator[str]:
    config = parameters.get("LustreConfiguration", {})
    if not config.get("EfaEnabled"):
        return
    if config.get("DeploymentType") != "PERSISTENT_2":
        yield "EfaEnabled is supported for the PERSISTENT_2 deployment type only"
    if "MetadataConfiguration" not in config:
        yield "EfaEnabled needs a MetadataConfiguration"


def _lustre_subnets(parameters: Parameters) -> Iterator[str]:
    if len(parameters["SubnetIds"]) != 1:
        yield "A Lustre file system needs exactly one subnet"


def _openzfs(parameters: Parameters) -> Iterator[str]:
    config = parameters.get("OpenZFSConfiguration")
    if config is None:
        yield "OpenZFSConfiguration is required"
        return
    deployment = config.get("DeploymentType")
    allowed = _OPENZFS_THROUGHPUTS.get(deployment, ())
    if config.get("ThroughputCapacity") not in allowed:
        got = config.get("ThroughputCapacity")
        yield f"ThroughputCapacity for {deployment} must be one of {list(allowed)}, got {got}"
    smallest, largest = _OPENZFS_CAPACITIES_GIB
    if not smallest <= parameters.get("StorageCapacity", 0) <= largest:
        yield f"Storage capacity must be {smallest} to {largest} GiB, got {parameters.get('StorageCapacity')} GiB"
    wanted = 2 if deployment == _OPENZFS_TWO_SUBNETS else 1
    if len(parameters["SubnetIds"]) != wanted:
        yield f"An OpenZFS file system of the {deployment} deployment type needs {wanted} subnets"


_RULES: dict[str, tuple[Callable[[Parameters], Iterator[str]], ...]] = {
    "LUSTRE": (_lustre_throughput, _lustre_capacity, _lustre_efa, _lustre_subnets),
    "OPENZFS": (_openzfs,),
}


def growth_refusals(old: Parameters, new: Parameters) -> list[str]:
    """Return why FSx would not change a file system: capacity only grows, and stays legal."""
    capacity = new.get("StorageCapacity")
    if capacity is not None and capacity < old.get("StorageCapacity", 0):
        return [f"Storage capacity cannot be decreased from {old['StorageCapacity']} to {capacity} GiB"]
    return refusals(new)
