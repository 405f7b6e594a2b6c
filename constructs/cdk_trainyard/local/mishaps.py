"""What goes wrong with machines: capacity that there is not, a node that fails. A test switches it on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

NO_CAPACITY: Final = (
    "We currently do not have sufficient capacity in the Availability Zone you requested. Our system will be working "
    "on provisioning additional capacity."
)
"""Source: Amazon EC2 Auto Scaling user guide, "Troubleshoot Amazon EC2 Auto Scaling: EC2 instance launch failures"."""
_short: dict[str, str] = {}


@contextmanager
def shortage(instance_type: str, message: str = NO_CAPACITY) -> Iterator[None]:
    """Have no capacity for an instance type during a block: machines of it that are asked for do not come.

    Args:
        instance_type: The type as EC2 names it: ``"c5.4xlarge"``.
        message: What AWS says of it.
    """
    _short[instance_type] = message
    try:
        yield
    finally:
        del _short[instance_type]


def lacks(instance_type: str) -> str:
    """Return why machines of a type do not come; empty: they do.

    Args:
        instance_type: The type, as EC2 or SageMaker name it.
    """
    return _short.get(instance_type.removeprefix("ml."), "")
