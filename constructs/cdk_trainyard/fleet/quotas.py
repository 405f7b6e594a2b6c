"""The service quotas that a number of instances counts against, by name."""

from cdk_trainyard.fleet._data import load
from cdk_trainyard.fleet.capacity import FleetCapacity, FleetCapacityKind
from cdk_trainyard.instances import InstanceType

_LISTS = {FleetCapacityKind.SPOT: "spot"}


def quota_text(instance_type: InstanceType, count: int, capacity: FleetCapacity) -> str:
    """Say how many vCPUs of which quota so many instances take; capacity blocks and reservations count as on demand.

    Source: ``data/quotas.json``. Of some families the Spot quota is not known; then no code is named.

    Args:
        instance_type: The type.
        count: How many.
        capacity: How they are bought.
    """
    rows = load("quotas")[_LISTS.get(capacity.kind, "on-demand")]
    named = next((f"{name!r} ({code})" for prefix, code, name in rows if _is(instance_type, prefix)), None)
    quota = named or f"for Spot requests of the family {instance_type.family}"
    vcpus = instance_type.vcpus * count
    return f"{count} x {instance_type.name} take {vcpus} vCPUs of the quota {quota}"


def interface_quota() -> tuple[str, int]:
    """Return name and code of the quota of network interfaces, and its value unless it was raised."""
    code, name, value = load("quotas")["interfaces"]
    return f"{name!r} ({code})", int(value)


def _is(instance_type: InstanceType, prefix: str) -> bool:
    """Whether a family begins with letters that a digit, a hyphen or nothing follows: ``p`` is not ``pe``."""
    rest = instance_type.family.removeprefix(prefix)
    return not prefix or (rest != instance_type.family and not rest[:1].isalpha())
