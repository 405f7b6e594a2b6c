"""How private subnets reach the internet."""

from enum import StrEnum


class Nat(StrEnum):
    """NAT gateways of a network: each costs by the hour and by the gigabyte."""

    ONE = "one"
    """One, in the accelerator subnet's zone: the nodes' traffic stays in the zone, other zones share it."""
    PER_ZONE = "per-zone"
    """One in every zone that has a private subnet: no zone depends on another."""
    NONE = "none"
    """None, and without public zones no internet gateway either: nodes reach S3 and the interface endpoints."""
