"""Whether what the options of nodes fetch can be reached from their network. Pure: nothing is created here."""

from collections.abc import Collection, Iterator
from typing import Any

from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.lifecycle import NodeTool
from cdk_trainyard.network import TrainingNetwork
from cdk_trainyard.reach import Gateway, Place, Region, Route, Wanted, given_address, unreached, wanted
from cdk_trainyard.tokens import unresolved


def download_problems(cluster: ResolvedCluster) -> list[str]:
    """Options whose downloads do not arrive in a network of this library without NAT; of another nobody knows."""
    region, setup = cluster.region, cluster.node_setup
    if not stands_closed(cluster) or region is None or setup is None:
        return []
    place = Place(name="nodes", route=Route.NONE, gateways={"s3": Gateway()})
    architectures = {known.architecture for group in cluster.groups for known in group.types}
    return unreached(downloads(setup, architectures, place, Region(name=region)), Region(name=region))


def stands_closed(cluster: ResolvedCluster) -> bool:
    """Whether nodes run the project's own scripts in a network of this library without NAT."""
    closed = isinstance(cluster.network, TrainingNetwork) and not cluster.network.has_nat
    return closed and any(group.lifecycle.runs_scripts and not group.lifecycle.scripts for group in cluster.groups)


def missing_packages(setup: Any) -> list[str]:
    """Return what the options install from the system's package archive when the nodes' image lacks it.

    Args:
        setup: ``NodeSetup``.
    """
    options = [
        ("'containers'", "docker.io, gcc, make", setup.containers is not None),
        ("'s3_mounts'", "fuse3", bool(setup.s3_mounts)),
        ("'neuron_environment'", "python3-venv", setup.neuron_environment is not None),
    ]
    return [f"{packages} of {option}" for option, packages, asked in options if asked]


def downloads(setup: Any, architectures: Collection[str], place: Place, region: Region) -> Iterator[Wanted]:
    """Yield what the options of nodes certainly fetch.

    Args:
        setup: ``NodeSetup``, or the section of a file with the same names.
        architectures: Processors of the nodes.
        place: Where the nodes are.
        region: Its Region.
    """
    if setup.exporters is not None and _is_pinned(setup, NodeTool.NODE_EXPORTER, architectures):
        yield from _tool("exporters", NodeTool.NODE_EXPORTER, place)
    if setup.s3_mounts and _is_pinned(setup, NodeTool.MOUNTPOINT, architectures):
        yield from _tool("s3_mounts", NodeTool.MOUNTPOINT, place)
    environment = setup.neuron_environment
    if environment is not None and environment.index is None:
        remedy = "give 'index' of 'neuron_environment' a mirror that the nodes reach"
        yield from wanted("hyperpod", "neuron_environment", place, "'neuron_environment'", remedy=remedy)
    yield from _given(setup, place, region)


def _tool(option: str, tool: NodeTool, place: Place) -> Iterator[Wanted]:
    remedy = f"give 'tools' a file of {tool.value} by its key in the scripts bucket"
    found = wanted("hyperpod", option, place, f"'{option}'", remedy=remedy)
    return (each for each in found if each.address.name != "account-bucket")


def _is_pinned(setup: Any, tool: NodeTool, architectures: Collection[str]) -> bool:
    """Whether some node fetches the file that is pinned: none is given for its processor."""
    given = {file.architecture for file in setup.tools if file.tool is tool}
    return not given or bool(set(architectures) - given)


def _given(setup: Any, place: Place, region: Region) -> Iterator[Wanted]:
    """Yield the user's own addresses, as far as it is known what they are."""
    key = "give its key in the scripts bucket"
    said = [(f"'url' of {file.tool.value} in 'tools'", file.url, key) for file in setup.tools]
    if setup.neuron_environment is not None:
        said.append(("'index' of 'neuron_environment'", setup.neuron_environment.index, "give a mirror in the network"))
    if setup.exporters is not None and setup.exporters.gpu:
        said.append(("'gpu_image' of 'exporters'", setup.exporters.gpu_image, "give an image in Amazon ECR"))
    for subject, url, remedy in said:
        address = None if url is None or unresolved(url) else given_address(url, region)
        if address is not None:
            yield Wanted(subject=subject, address=address, place=place, remedy=remedy)
