"""EC2 instance types: what EC2's DescribeInstanceTypes says of each, as moto holds its answers for the local AWS.

What EC2 does not say stands in ``data/instance_types.json``, each with its source. The library has a catalogue of its
own; ``tests/test_second_source.py`` holds the two to one another.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from cdk_trainyard.rehearsal.errors import RehearsalError

_BY_HAND = Path(__file__).parent / "data" / "instance_types.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """An EC2 instance type, as far as nodes show it.

    Attributes:
        name: EC2's name.
        vcpus: Virtual CPUs.
        threads_per_core: Threads of a core: 2 with simultaneous multithreading.
        memory_mib: Memory of the host.
        gpus: NVIDIA GPUs; a part of one counts as one.
        neuron_devices: Inferentia and Trainium devices.
        max_efa_interfaces: How many EFA interfaces it takes.
    """

    name: str
    vcpus: int
    threads_per_core: int
    memory_mib: int
    gpus: int
    neuron_devices: int
    max_efa_interfaces: int

    @classmethod
    def of(cls, name: str) -> Self:
        """Return a type by its name, as EC2 or as SageMaker (``ml.``) writes it.

        Raises:
            RehearsalError: Nobody describes it.
        """
        ec2_name = name.removeprefix("ml.")
        described = _described().get(ec2_name)
        facts = {**(_facts(described) if described else {}), **_by_hand().get(ec2_name, {}).get("facts", {})}
        if not facts:
            raise RehearsalError(f"EC2 describes no instance type {ec2_name}, as far as moto knows")
        return cls(name=ec2_name, **facts)


def instance_type_names() -> list[str]:
    """Return the names of the types that are known."""
    return sorted({*_described(), *_by_hand()})


@cache
def _described() -> Mapping[str, Any]:
    packed = files("moto").joinpath("ec2", "resources", "instance_types.json.gz").read_bytes()
    return dict(json.loads(gzip.decompress(packed)))


@cache
def _by_hand() -> Mapping[str, Any]:
    return dict(json.loads(_BY_HAND.read_text(encoding="utf-8")))


def _facts(described: Mapping[str, Any]) -> dict[str, int]:
    gpus = described.get("GpuInfo", {}).get("Gpus", [])
    devices = described.get("NeuronInfo", {}).get("NeuronDevices", [])
    return {
        "vcpus": described["VCpuInfo"]["DefaultVCpus"],
        "threads_per_core": described["VCpuInfo"]["DefaultThreadsPerCore"],
        "memory_mib": described["MemoryInfo"]["SizeInMiB"],
        "gpus": sum(gpu["Count"] or gpu["LogicalGpuCount"] for gpu in gpus),
        "neuron_devices": sum(device["Count"] for device in devices),
        "max_efa_interfaces": described["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
    }
