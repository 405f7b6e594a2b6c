"""AWS's partitions: how the names of their Regions begin, and the domain of their services. No CDK."""

from typing import Final

from cdk_trainyard.data_files import load

__all__ = ["DOMAINS", "domain_of", "partition_of"]

_ROWS: Final[list[dict[str, str]]] = load("partitions", "partitions")["partitions"]
_LONGEST_FIRST: Final = sorted(_ROWS, key=lambda row: -len(row["regions"]))
"""How the names of Regions begin, those of most continents last, which begin with nothing that they have in common."""
DOMAINS: Final = frozenset(row["suffix"] for row in _ROWS)
"""The domains of all partitions."""


def partition_of(region: str) -> str:
    """Return the partition of a Region: ``AWS::Partition``.

    Args:
        region: The Region's name.
    """
    return _of(region, "name")


def domain_of(region: str) -> str:
    """Return the domain of the services in a Region: ``AWS::URLSuffix``.

    Args:
        region: The Region's name.
    """
    return _of(region, "suffix")


def _of(region: str, what: str) -> str:
    return next(row[what] for row in _LONGEST_FIRST if region.startswith(row["regions"]))
