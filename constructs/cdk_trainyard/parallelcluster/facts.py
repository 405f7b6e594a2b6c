"""What ParallelCluster itself knows, as its package of one version says it: schema, limits, Regions, systems.

Source: the package ``aws-parallelcluster``, read by ``tools/contract/extract_facts.py``; version and date stand in the
file. Nothing here is typed by hand.
"""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.data_files import load


def fact(name: str) -> Any:
    """Return one fact by its name in the file."""
    return load("parallelcluster", "pcluster")[name]


def parallelcluster_version() -> str:
    """Return the version of ParallelCluster that the rules of this library are those of, as ``"3.16.1"``."""
    return str(fact("version"))


def head_node_timeout_minutes() -> float:
    """Return how long ParallelCluster waits for a head node unless it is told otherwise, in minutes."""
    return float(fact("bootstrap_timeout_seconds")) / 60


def user_of(system: str) -> str | None:
    """Return the user whom its images of an operating system have, whose home is below ``/home``. None: not known.

    Args:
        system: The operating system.
    """
    known: Mapping[str, Mapping[str, str]] = fact("operating_systems")
    return known.get(system, {}).get("user")


def operating_systems() -> tuple[str, ...]:
    """Return the names of the operating systems."""
    return tuple(fact("operating_systems"))
