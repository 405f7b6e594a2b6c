"""The parts of an instance that training depends on: its accelerators and its network cards."""

from dataclasses import dataclass
from enum import StrEnum


class AcceleratorKind(StrEnum):
    """Which software drives an accelerator."""

    GPU = "gpu"
    """NVIDIA GPUs: CUDA."""
    NEURON = "neuron"
    """AWS Trainium and Inferentia: the Neuron SDK."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Accelerator:
    """Equal accelerators of one instance.

    Attributes:
        kind: GPU or Neuron device.
        name: The maker's name, as ``"H100"`` or ``"Trainium2"``.
        count: Devices in the instance. A type with a part of a GPU has one.
        memory_mib: Memory of one device, in MiB.
        cores: NeuronCores of one device; 0 for a GPU. Default: 0.
    """

    kind: AcceleratorKind
    name: str
    count: int
    memory_mib: int
    cores: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkCard:
    """One network card.

    Attributes:
        index: ``NetworkCardIndex``, from 0.
        max_interfaces: Network interfaces that the card takes; 0 when AWS does not say.
        efa: Whether it takes an EFA interface.
        efa_only: Whether it takes nothing but EFA-only interfaces, and so never has an address (the odd cards of
            p6e-gb200.36xlarge). Default: False.
    """

    index: int
    max_interfaces: int
    efa: bool
    efa_only: bool = False
