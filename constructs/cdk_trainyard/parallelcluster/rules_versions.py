"""Whether the version of ParallelCluster has what is asked of it. Pure: nothing is created here."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.resolve import computes, find_type, known
from cdk_trainyard.parallelcluster.rules_config import RAW
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, option, shown
from cdk_trainyard.tokens import Unknown, unresolved

Problems = Iterator[Problem]
_Version = tuple[int, ...]


def older_version_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """An older version has what is asked of it."""
    if (version := version_of(spec)) is None:
        return
    for at, value, since in _values(spec, context):
        first = None if unresolved(value) else since.get(value)
        if first and version < first:
            text = f"must be another with {option('version')} {spec.version}, got {shown(str(value))}"
            yield Problem(at, f"{text}, which ParallelCluster has from {_dots(first)} on")
    for at, why, first in _keys(spec):
        if version < first:
            text = f"must be left out with {option('version')} {spec.version}{why}: ParallelCluster has it from"
            yield Problem(at, f"{text} {_dots(first)} on", of_key=True)
    if spec.login_pools and not unresolved(spec.login_pools) and version < limits.LOGIN_POOLS_SINCE:
        text = f"must be left out with {option('version')} {spec.version}: who may connect to login nodes can be said"
        yield Problem(("login_pools",), f"{text} from {_dots(limits.LOGIN_POOLS_SINCE)} on", of_key=True)


def image_gib(spec: ParallelClusterSpec, image_id: str | None) -> int | None:
    """Return how large the image is that nodes start from; of an image of yours nobody knows, which is None.

    Args:
        spec: The cluster.
        image_id: An image of the nodes' own, or None.
    """
    if spec.image_id is not None or image_id is not None:
        return None
    usual: int = fact("root_volume_gib")
    if (version := version_of(spec)) is None:
        return usual
    return max((gib for since, gib in limits.IMAGE_GIB.items() if since <= version), default=usual)


def version_of(spec: ParallelClusterSpec) -> _Version | None:
    """Return the numbers of a cluster's version, or None where it is not known or none.

    Args:
        spec: The cluster.
    """
    if unresolved(spec.version) or not limits.VERSION.fullmatch(str(spec.version)):
        return None
    return tuple(int(part) for part in str(spec.version).split("."))


def _values(
    spec: ParallelClusterSpec, context: ParallelClusterFacts
) -> Iterator[tuple[At, Any, Mapping[str, _Version]]]:
    """Yield what is asked for, where, and since when there is what of its kind."""
    yield ("operating_system",), spec.operating_system, limits.NEW_SYSTEMS
    yield ("region",), context.region, limits.NEW_REGIONS
    for index, queue in known(spec.queues):
        yield ("queues", index, "allocation"), queue.allocation, limits.NEW_ALLOCATIONS
    if spec.image_id is None:
        for at, name, image in _types(spec):
            if image is None and (found := find_type(name)) is not None:
                since = limits.NEW_FAMILIES.get(found.family)
                yield at, found.name, {found.name: since} if since else {}


def _keys(spec: ParallelClusterSpec) -> Iterator[tuple[At, str, _Version]]:
    """Yield where a key is said that earlier versions had not, what more it needs, and since when there is it."""
    system = "" if unresolved(spec.operating_system) else spec.operating_system
    for at, node in _people(spec):
        if system in limits.NEW_DESKTOPS and node.dcv is not None and not isinstance(node.dcv, Unknown):
            yield (*at, "dcv"), f" on {shown(str(system))}", limits.NEW_DESKTOPS[system]
    for at, node in (*_people(spec), *((at, compute) for at, _, compute in computes(spec))):
        if node.raw_overrides is not None and not unresolved(node.raw_overrides):
            yield from (
                ((*at, RAW, key), "", limits.NEW_KEYS[key]) for key in node.raw_overrides if key in limits.NEW_KEYS
            )


def _types(spec: ParallelClusterSpec) -> Iterator[tuple[At, Any, Any]]:
    """Yield every type, where it is said, and the image of its nodes."""
    for at, node in _people(spec):
        yield (*at, "instance_type"), node.instance_type, node.image_id
    for at, queue, compute in computes(spec):
        if compute.instance_type is not None:
            yield (*at, "instance_type"), compute.instance_type, queue.image_id
        for number, name in known(compute.instance_types):
            yield (*at, "instance_types", number), name, queue.image_id


def _people(spec: ParallelClusterSpec) -> Iterator[tuple[At, Any]]:
    """Yield the nodes that people log in to."""
    if not isinstance(spec.head_node, Unknown):
        yield ("head_node",), spec.head_node
    yield from ((("login_pools", index), pool) for index, pool in known(spec.login_pools))


def _dots(version: _Version) -> str:
    return ".".join(map(str, version))
