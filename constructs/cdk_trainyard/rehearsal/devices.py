"""Stand-ins for the devices of an instance type: as many as the catalogue says, and nothing behind them.

They let the scripts that count devices pass, and fail when one is taken away. What a device does is not rehearsed.
"""

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.rehearsal.nodes import Machine, NodeFile

_FI_INFO = "/opt/amazon/efa/bin/fi_info"


def plug_devices(machine: Machine, kind: InstanceType) -> None:
    """Give a node that is up the devices of its type."""
    for number in range(neuron_devices(kind)):
        machine.run("touch", f"/dev/neuron{number}")  # not a device: nothing may mistake it for one that works
    if kind.gpus:
        machine.run("mount", "-t", "tmpfs", "gpus", "/proc/driver")
        machine.run("mkdir", "--parents", *(f"/proc/driver/nvidia/gpus/0000:{n:02x}:00.0" for n in range(kind.gpus)))
    if kind.max_efa_interfaces:
        machine.write(_FI_INFO, NodeFile(text=fi_info(kind.max_efa_interfaces), mode=0o755))


def neuron_devices(kind: InstanceType) -> int:
    """Return how many Neuron devices a type has."""
    return sum(device.count for device in kind.accelerators if device.kind is AcceleratorKind.NEURON)


def fi_info(interfaces: int) -> str:
    """Return a program that says what libfabric's ``fi_info -p efa`` says of so many interfaces."""
    lines = ["#!/bin/sh", "cat <<'END'"]
    for number in range(interfaces):
        lines += ["provider: efa", "    fabric: efa", f"    domain: rdmap{number}s0-rdm", "    version: 121.0",
                  "    type: FI_EP_RDM", "    protocol: FI_PROTO_EFA"]  # fmt: skip
    return "\n".join([*lines, "END", ""])
