"""Stand-ins for the devices of an instance type: as many as EC2 says, and nothing behind them.

They let the scripts that count devices pass, and fail when one is taken away. What a device does is not rehearsed.
"""

from pathlib import Path

from cdk_trainyard.rehearsal.instance_types import InstanceType
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile

_DATA = Path(__file__).parent / "data" / "devices"
_FI_INFO = "/opt/amazon/efa/bin/fi_info"
_PCI = "/sys/bus/pci/devices"
# of PCI: the maker, a Trainium device, and what kind of thing it is (gloo reads that of every device)
_NEURON = {"vendor": "0x1d0f", "device": "0x7164", "class": "0x088000"}
_PROGRAMS = {"modprobe": "/usr/local/sbin/modprobe", "lsblk": "/usr/local/bin/lsblk"}


def device_files(kind: InstanceType, *, neuron_driver: str | None = None) -> dict[str, NodeFile]:
    """Return stand-ins of the programs that reach for hardware: nodes share this machine's kernel and disks.

    Args:
        kind: The node's type.
        neuron_driver: The package without which the module ``neuron`` cannot be loaded. Default - the image has it.
    """
    modules = [
        f"neuron /dev/neuron {kind.neuron_devices} {neuron_driver or ''}".rstrip(),
        f"ib_uverbs /dev/infiniband/uverbs {kind.max_efa_interfaces}",
    ]
    programs = {
        path: NodeFile(text=(_DATA / f"{name}.sh").read_bytes(), mode=0o755) for name, path in _PROGRAMS.items()
    }
    return {"/etc/rehearsal/modules": NodeFile(text="\n".join(modules) + "\n"), **programs}


def plug_pci(machine: Machine, kind: InstanceType) -> None:
    """Give a node that is up the PCI devices of its type in the place of this machine's."""
    if machine.run("test", "-d", _PCI, check=False).code:
        machine.run("mount", "-t", "tmpfs", "buses", "/sys/bus")
        machine.run("mkdir", "--parents", _PCI)
    machine.run("mount", "-t", "tmpfs", "devices", _PCI)
    for number in range(kind.neuron_devices):
        place = f"{_PCI}/0000:{number:02x}:1e.0"
        machine.run("mkdir", place)
        for name, value in _NEURON.items():
            machine.run("sh", "-c", f"echo {value} >{place}/{name}")


def plug_devices(machine: Machine, kind: InstanceType, *, neuron: bool = True) -> None:
    """Give a node that is up the devices of its type.

    Args:
        machine: The node.
        kind: Its type.
        neuron: Whether its image has the driver of Neuron devices. Default: True.
    """
    for number in range(kind.neuron_devices if neuron else 0):
        machine.run("touch", f"/dev/neuron{number}")  # not a device: nothing may mistake it for one that works
    if kind.gpus:
        machine.run("touch", *(f"/dev/nvidia{number}" for number in range(kind.gpus)))
        machine.run("mount", "-t", "tmpfs", "gpus", "/proc/driver")
        machine.run("mkdir", "--parents", *(f"/proc/driver/nvidia/gpus/0000:{n:02x}:00.0" for n in range(kind.gpus)))
    if kind.max_efa_interfaces:
        machine.write(_FI_INFO, NodeFile(text=fi_info(kind.max_efa_interfaces), mode=0o755))


def generic_resources(instance_type: str) -> dict[str, int]:
    """Return what Slurm calls the accelerators of a type (GRES), and how many there are of each."""
    kind = InstanceType.of(instance_type)
    return {name: count for name, count in (("gpu", kind.gpus), ("neuron", kind.neuron_devices)) if count}


def device_of_gres(name: str, count: int) -> str:
    """Return the words of ``gres.conf`` that say how many of something a node has.

    Slurm counts GPUs by their files, and anything else as it is told.
    """
    return f"Name={name} File=/dev/nvidia[0-{count - 1}]" if name == "gpu" else f"Name={name} Count={count}"


def fi_info(interfaces: int) -> str:
    """Return a program that says what libfabric's ``fi_info -p efa`` says of so many interfaces."""
    lines = ["#!/bin/sh", "cat <<'END'"]
    for number in range(interfaces):
        lines += ["provider: efa", "    fabric: efa", f"    domain: rdmap{number}s0-rdm", "    version: 121.0",
                  "    type: FI_EP_RDM", "    protocol: FI_PROTO_EFA"]  # fmt: skip
    return "\n".join([*lines, "END", ""])
