"""HyperPod clusters and their machines, as they are remembered."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moto.ec2.models.elastic_network_interfaces import NetworkInterface

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request
from cdk_trainyard.local.state import Store

INVALID = "ValidationException"
RUNNING = "Running"
randomness = random.Random()  # noqa: S311  ids, not secrets


@dataclass(kw_only=True, slots=True)
class Node:
    """A machine of a cluster; one that has not come has no instance id."""

    instance_id: str
    group: str
    instance_type: str
    launched: datetime
    interface: NetworkInterface | None
    logical_id: str = field(default_factory=lambda: f"node-{uuid4()}")
    status: str = RUNNING
    message: str = ""
    updated: datetime | None = None


@dataclass(kw_only=True, slots=True)
class Event:
    """Something that happened to a cluster, a group or a machine."""

    text: str
    level: str = "Info"
    group: str = ""
    instance_id: str = ""
    failure: str = ""
    operation: str = ""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: str = field(default_factory=lambda: str(uuid4()))

    @property
    def resource_type(self) -> str:
        """What it happened to."""
        return "Instance" if self.instance_id else "InstanceGroup" if self.group else "Cluster"


@dataclass(kw_only=True, slots=True)
class Scaling:
    """An operation that changes how many machines groups have."""

    groups: dict[str, tuple[int, int]]
    done: bool
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(kw_only=True, slots=True)
class Cluster:
    """A cluster: what was asked for, its machines, and what has happened."""

    arn: str
    name: str
    parameters: dict[str, Any]
    created: datetime
    tags: dict[str, str]
    status: str = "InService"
    failure: str = ""
    nodes: list[Node] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    operations: list[Scaling] = field(default_factory=list)
    software: dict[str, str] = field(default_factory=dict)

    @property
    def is_continuous(self) -> bool:
        """Whether machines come one by one."""
        return self.parameters.get("NodeProvisioningMode") == "Continuous"

    @property
    def groups(self) -> dict[str, dict[str, Any]]:
        """What was asked for, by the names of the groups."""
        return {row["InstanceGroupName"]: row for row in self.parameters.get("InstanceGroups") or []}

    @property
    def log_group(self) -> str:
        """Where its machines log."""
        return f"/aws/sagemaker/Clusters/{self.name}/{self.arn.rpartition('/')[2]}"


_CLUSTERS: Store[dict[str, Cluster]] = Store(lambda _account, _region: {})


def clusters(request: Request) -> dict[str, Cluster]:
    """Return the clusters of whoever asks, by their names."""
    return _CLUSTERS.of(request.account, request.region)


def clusters_of(account: str, region: str) -> Iterator[Cluster]:
    """Yield the clusters of an account in a region."""
    yield from _CLUSTERS.of(account, region).values()


def find(request: Request, name_or_arn: str) -> Cluster:
    """Return a cluster.

    Raises:
        ApiError: There is none.
    """
    for cluster in clusters(request).values():
        if name_or_arn in (cluster.name, cluster.arn):
            return cluster
    raise ApiError("ResourceNotFound", f"Cluster with name {name_or_arn} could not be found.")


def every_cluster() -> Iterator[Cluster]:
    """Yield the clusters of all accounts and regions."""
    for found in _CLUSTERS.all():
        yield from found.values()


def new_instance_id() -> str:
    """Return an instance id that nobody has."""
    return f"i-{randomness.getrandbits(68):017x}"
