"""What a model takes of an instance: device memory by core, host memory, disk, time. Arithmetic, and no CDK.

Weights are split over the cores of a tensor-parallel group, and so are the key and value heads of the KV cache, when
they can be: ``gqa.py`` and ``kv_cache_manager.py`` of optimum-neuron. What is not known is allowed for and says so.
"""

import math
from dataclasses import dataclass, replace

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.serving.spec_model import INF2_DEGREES, NeuronModel
from cdk_trainyard.serving.spec_service import INF2_TYPES

GIB = 1024**3
USABLE_SHARE = 0.85
"""Share of a core's memory for weights and KV cache. The rest is for activations, the runtime and its scratch: an
allowance, since nobody publishes it."""
VISIBLE_SHARE = 0.95
"""Share of a host's memory that its system has to give: the kernel and the firmware keep some; an allowance."""
HOST_RESERVE_GIB = 2
"""For the operating system, the ECS agent and Mountpoint: an allowance."""
ENGINE_RESERVE_GIB = 2
"""For the engine's own processes beside the weights: an allowance."""
COMPILE_FACTOR = 3
"""Host memory that a compilation takes, in weights: Llama-3.1-8B (15 GiB) was killed on a host of 32 GiB
(aws-neuron/neuronx-distributed-inference issue 26), so more than 2."""
BASE_DISK_GIB = 30
"""The root volume of the AMI itself (aws/amazon-ecs-ami, block_device_size_gb)."""
IMAGE_DISK_GIB = 40
"""An engine image, pulled and unpacked: an allowance."""
COMPILE_DISK_GIB = 20
"""The compiler's cache: an allowance."""
START_SECONDS = 180
"""An engine's own start and warm-up after its weights are in memory: an allowance."""
COMPILE_SECONDS = 90 * 60
"""Compiling from nothing: optimum-neuron says 30 to 60 minutes and more for large models."""
MOST_DISK_GIB = 65_536
"""Of a gp3 volume (EC2 user guide, "General Purpose SSD volumes", read 2026-11)."""
MOST_LOAD_SECONDS = (24 * 60 - 30) * 60 // 2
"""What alarms can wait for: periods of a minute make a day at most (EvaluationPeriods of CloudWatch's API),
and the longest alarm waits for twice the load and half an hour more."""
_KV_BYTES = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizing:
    """What a model takes of an instance type.

    Attributes:
        instance_type: The type.
        cores: Its NeuronCores.
        devices: Neuron devices that the model is on.
        core_gib: Memory of a core.
        usable_gib: What of it weights and KV cache may take.
        weights_gib: All weights.
        weights_per_core_gib: Weights on each core.
        sequence_per_core_gib: KV cache of one sequence on each core.
        kv_heads_per_core: Key and value heads that a core keeps.
        multi_head: Whether key and value heads do not divide over the cores: each attention head then gets its own.
        batch: Sequences that are asked for.
        host_gib: Memory of the host, as its system sees it.
        host_needed_gib: What the host needs.
    """

    instance_type: str
    cores: int
    devices: int
    core_gib: float
    usable_gib: float
    weights_gib: float
    weights_per_core_gib: float
    sequence_per_core_gib: float
    kv_heads_per_core: int
    multi_head: bool
    batch: int
    host_gib: float
    host_needed_gib: float

    @property
    def needed_per_core_gib(self) -> float:
        """Weights and KV cache on each core."""
        return self.weights_per_core_gib + self.batch * self.sequence_per_core_gib

    @property
    def largest_batch(self) -> int:
        """Sequences of this length that fit beside the weights; 0: not even one."""
        return max(0, math.floor((self.usable_gib - self.weights_per_core_gib) / self.sequence_per_core_gib))

    @property
    def fits(self) -> bool:
        """Whether it fits: on the devices and in the host."""
        return self.batch <= self.largest_batch and self.host_needed_gib <= self.host_gib

    @property
    def arithmetic(self) -> str:
        """The sum, for a message."""
        return (
            f"{self.weights_per_core_gib:.2f} GiB of weights + {self.batch} x {self.sequence_per_core_gib:.3f} GiB "
            f"of KV "
            f"cache = {self.needed_per_core_gib:.2f} GiB per core, of {self.usable_gib:.1f} GiB "
            f"({USABLE_SHARE:.0%} of {self.core_gib:.0f} GiB)"
        )


def size(model: NeuronModel, instance_type: InstanceType) -> Sizing:
    """Work out what ``model`` takes of ``instance_type``.

    Args:
        model: The model, with a legal tensor-parallel degree, batch and sequence length.
        instance_type: A type with Neuron devices.
    """
    shape, degree = model.dimensions, model.tensor_parallel
    (device,) = instance_type.accelerators
    core_gib = device.memory_mib / device.cores / 1024
    kept, multi_head = kv_heads(shape.attention_heads, shape.key_value_heads, degree)
    sequence = 2 * shape.layers * kept * shape.head_dimension * model.tokens * _KV_BYTES
    return Sizing(
        instance_type=instance_type.name,
        cores=instance_type.neuron_cores,
        devices=math.ceil(degree / device.cores),
        core_gib=core_gib,
        usable_gib=USABLE_SHARE * core_gib,
        weights_gib=model.weights_bytes / GIB,
        weights_per_core_gib=model.weights_bytes / degree / GIB,
        sequence_per_core_gib=sequence / GIB,
        kv_heads_per_core=kept,
        multi_head=multi_head,
        batch=model.batch,
        host_gib=VISIBLE_SHARE * instance_type.memory_mib / 1024,
        host_needed_gib=host_memory_gib(model),
    )


def kv_heads(attention_heads: int, key_value_heads: int, degree: int) -> tuple[int, bool]:
    """Return how many key and value heads a core keeps, and whether they had to become one per attention head.

    Args:
        attention_heads: Attention heads of the model.
        key_value_heads: Key and value heads of the model.
        degree: Cores that share it.
    """
    if key_value_heads % degree == 0:
        return key_value_heads // degree, False
    if degree % key_value_heads == 0:
        return 1, False
    return math.ceil(attention_heads / degree), True


def host_memory_gib(model: NeuronModel) -> float:
    """Return the memory that a host needs: the checkpoint, what runs beside it, and a compilation's share."""
    weights = model.weights_bytes / GIB
    reserve = HOST_RESERVE_GIB + ENGINE_RESERVE_GIB
    if not model.precompiled:
        return reserve + COMPILE_FACTOR * weights
    return reserve + (weights / model.tensor_parallel if model.presharded else weights)


def root_disk_gib(model: NeuronModel) -> int:
    """Return the size of the root volume: system, image, the weights that Mountpoint keeps, the compiler's cache."""
    weights = model.weights_bytes / GIB
    needed = BASE_DISK_GIB + IMAGE_DISK_GIB + 1.1 * weights + COMPILE_DISK_GIB
    return max(100, math.ceil(needed / 50) * 50)


def load_seconds(model: NeuronModel, volume_mib_s: int) -> int:
    """Return how long a task takes to serve after it was started: reading, starting, compiling when it has to."""
    reading = math.ceil(model.weights_bytes / 1024**2 / volume_mib_s)
    compiling = 0 if model.precompiled else COMPILE_SECONDS
    return reading + START_SECONDS + compiling


def fitting(model: NeuronModel) -> tuple[str, int] | None:
    """Return the smallest inf2 type that the model fits on, with its tensor-parallel degree. None: there is none."""
    for name in INF2_TYPES:
        known = InstanceType.of(name)
        for degree in degrees(known.neuron_cores):
            sizing = size(replace(model, tensor_parallel=degree, batch=max(1, model.batch)), known)
            if sizing.fits and not sizing.multi_head:
                return name, degree
    return None


def degrees(cores: int) -> tuple[int, ...]:
    """Return the legal tensor-parallel degrees of an instance with that many cores, but for 1, smallest first."""
    return tuple(degree for degree in INF2_DEGREES if 1 < degree <= cores)
