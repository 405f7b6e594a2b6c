"""What FSx refuses of a file system: capacities, throughputs, networks.

Capacities, throughputs and IOPS stand in ``fsx_limits.json``, which ``tools/generate_fsx_limits.py`` takes from
botocore's model of FSx. Security groups, in AWS's own sentences: "Creating an FSx for Lustre file system fails" in the
FSx for Lustre user guide. That EFA needs PERSISTENT_2 and a metadata configuration is said of ``efa_enabled`` in the
documentation of the AWS provider of Pulumi and Terraform. Read 2026-11-22.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from cdk_trainyard.local.services import network

Parameters = Mapping[str, Any]
_LUSTRE_PORT = 988
_OPENZFS_PORT = 2049
_TIERING = "INTELLIGENT_TIERING"
_NO_EFA = (
    "Insufficient security group permissions to create an EFA-enabled file system. "
    "Update security group to allow all internal inbound and outbound traffic."
)
_OPENZFS_TWO_SUBNETS = "MULTI_AZ_1"
LIMITS: Mapping[str, Any] = json.loads(files(__package__).joinpath("fsx_limits.json").read_text(encoding="utf-8"))
"""What FSx sells, with its source."""


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
        return [_NO_EFA]
    return []


def _kind(parameters: Parameters) -> tuple[str, str]:
    config = parameters.get("LustreConfiguration", {})
    return config.get("DeploymentType", "SCRATCH_1"), parameters.get("StorageType", "SSD")


def _lustre_throughput(parameters: Parameters) -> Iterator[str]:
    kind, throughput = _kind(parameters), parameters.get("LustreConfiguration", {}).get("PerUnitStorageThroughput")
    allowed = LIMITS["lustre_throughput"].get(" ".join(kind))
    if kind[1] == _TIERING:
        if throughput is not None:
            yield "PerUnitStorageThroughput is not supported for INTELLIGENT_TIERING file systems"
        yield from _tiering_throughput(parameters)
    elif allowed is None and throughput is not None:
        yield f"PerUnitStorageThroughput is not supported for the {kind[0]} deployment type"
    elif allowed is not None and throughput not in allowed:
        yield f"PerUnitStorageThroughput for {kind[0]} {kind[1]} must be one of {allowed}, got {throughput}"


def _tiering_throughput(parameters: Parameters) -> Iterator[str]:
    throughput, step = parameters["LustreConfiguration"].get("ThroughputCapacity"), LIMITS["lustre_tiering_step_mb_s"]
    if throughput is not None and throughput % step:
        yield f"ThroughputCapacity must be a multiple of {step}, got {throughput}"


def _lustre_metadata(parameters: Parameters) -> Iterator[str]:
    iops = parameters.get("LustreConfiguration", {}).get("MetadataConfiguration", {}).get("Iops")
    allowed = LIMITS["lustre_metadata_iops"].get(_kind(parameters)[1], [])
    if iops is not None and iops not in allowed:
        yield f"Metadata Iops must be one of {allowed}, got {iops}"


def _lustre_capacity(parameters: Parameters) -> Iterator[str]:
    capacity = parameters.get("StorageCapacity")
    if _kind(parameters)[1] == _TIERING:
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


def _capacity_steps(parameters: Parameters) -> tuple[list[int], int]:
    """Return the smallest capacities, and what any other must be a multiple of."""
    (deployment, storage), config = _kind(parameters), parameters.get("LustreConfiguration", {})
    throughput, ssd = str(config.get("PerUnitStorageThroughput")), LIMITS["lustre_capacity_gib"][deployment]
    if config.get("EfaEnabled"):
        return [], LIMITS["lustre_efa_step_gib"].get(throughput, ssd["step"])
    if storage == "HDD":
        return [], LIMITS["lustre_hdd_step_gib"].get(throughput, 1)
    return ssd["also"], ssd["step"]


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
    allowed = LIMITS["openzfs_throughput"].get(deployment, [])
    if config.get("ThroughputCapacity") not in allowed:
        got = config.get("ThroughputCapacity")
        yield f"ThroughputCapacity for {deployment} must be one of {allowed}, got {got}"
    smallest, largest = LIMITS["openzfs_capacity_gib"]
    if not smallest <= parameters.get("StorageCapacity", 0) <= largest:
        yield f"Storage capacity must be {smallest} to {largest} GiB, got {parameters.get('StorageCapacity')} GiB"
    wanted = 2 if deployment == _OPENZFS_TWO_SUBNETS else 1
    if len(parameters["SubnetIds"]) != wanted:
        yield f"An OpenZFS file system of the {deployment} deployment type needs {wanted} subnets"


_RULES: dict[str, tuple[Callable[[Parameters], Iterator[str]], ...]] = {
    "LUSTRE": (_lustre_throughput, _lustre_capacity, _lustre_metadata, _lustre_efa, _lustre_subnets),
    "OPENZFS": (_openzfs,),
}


def growth_refusals(old: Parameters, new: Parameters) -> list[str]:
    """Return why FSx would not change a file system: capacity only grows, and stays legal."""
    capacity = new.get("StorageCapacity")
    if capacity is not None and capacity < old.get("StorageCapacity", 0):
        return [f"Storage capacity cannot be decreased from {old['StorageCapacity']} to {capacity} GiB"]
    return refusals(new)
