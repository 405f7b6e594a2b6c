"""Whether what the options of nodes fetch can be reached from their network: pure functions, silent about Tokens."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.lifecycle.spec import GroupRole, NodeSetup, NodeTool
from cdk_trainyard.network.spec import Endpoint
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.reach import Place, Region, Wanted, given, unreached_problems, wanted, wanted_of
from cdk_trainyard.storage.spec import NodeGrantsSpec
from cdk_trainyard.tokens import unresolved

_ROOM = "hyperpod"
_SETUP: At = ("node_setup",)


def reach_problems(cluster: ResolvedCluster) -> Iterator[Problem]:
    """Check that downloads of the nodes' options arrive, as far as it is known what their network lets them reach."""
    place, region = cluster.facts.place, cluster.facts.environment.region
    if place is None or region is None:
        return
    at, setup, spec, choices = Region(name=region), cluster.spec.node_setup, cluster.spec, list[Wanted]()
    if cluster.facts.scrape_seconds is not None and not unresolved(setup):
        setup = cluster.setup
        choices += _metrics(cluster, setup, place)
    if cluster.runs_own_scripts and setup is not None and not unresolved(setup):
        ours = [group for group in cluster.groups if group.lifecycle.is_own]
        architectures = {known.architecture for group in ours for known in group.types}
        choices += downloads(setup, architectures, place, at)
    if cluster.facts.endpoints_known:
        for name in fields_of(NodeGrantsSpec):
            if said := getattr(spec, name):
                choices += wanted_of(_ROOM, name, said, place, at, at=(name,))
        if cluster.facts.accounting and cluster.runs_own_scripts:
            choices += wanted(_ROOM, "accounting", place, at=("accounting",))
    yield from unreached_problems(choices, at, [endpoint.value for endpoint in Endpoint])


def _metrics(cluster: ResolvedCluster, setup: NodeSetup, place: Place) -> Iterator[Wanted]:
    """Yield what the agent of the metrics needs: itself, unless a file is given, and the workspace."""
    controllers = {known.architecture for group in cluster.of_role(GroupRole.CONTROLLER) for known in group.types}
    fetched = _is_pinned(setup, NodeTool.VMAGENT, controllers)
    remedy = f"give 'tools' of 'node_setup' a file of {NodeTool.VMAGENT.value} by its key in the scripts bucket"
    for each in wanted(_ROOM, "metrics", place, remedy=remedy, at=("metrics",)):
        is_workspace = each.address.name == "prometheus"
        if is_workspace and cluster.facts.endpoints_known:
            yield replace(each, remedy="")
        elif fetched and not is_workspace:
            yield each


def missing_packages(setup: NodeSetup) -> list[str]:
    """Return what the options install from the system's package archive when the nodes' image lacks it.

    Args:
        setup: What the nodes are set up with.
    """
    options = [
        ("'containers'", "docker.io, gcc, make", setup.containers is not None),
        ("'s3_mounts'", "fuse3", bool(setup.s3_mounts)),
        ("'neuron_environment'", "python3-venv", setup.neuron_environment is not None),
    ]
    return [f"{packages} of {option}" for option, packages, asked in options if asked]


def downloads(setup: NodeSetup, architectures: Collection[str], place: Place, region: Region) -> Iterator[Wanted]:
    """Yield what the options of nodes certainly fetch.

    Args:
        setup: What the nodes are set up with.
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
        remedy = "give its 'index' a mirror that the nodes reach"
        yield from wanted(_ROOM, "neuron_environment", place, remedy=remedy, at=(*_SETUP, "neuron_environment"))
    yield from _given(setup, place, region)


def _tool(option: str, tool: NodeTool, place: Place) -> Iterator[Wanted]:
    remedy = f"give 'tools' a file of {tool.value} by its key in the scripts bucket"
    found = wanted(_ROOM, option, place, remedy=remedy, at=(*_SETUP, option))
    return (each for each in found if each.address.name != "account-bucket")


def _is_pinned(setup: NodeSetup, tool: NodeTool, architectures: Collection[str]) -> bool:
    """Whether some node fetches the file that is pinned: none is given for its processor."""
    given = {file.architecture for file in setup.tools if file.tool is tool}
    return not given or bool(set(architectures) - given)


def _given(setup: NodeSetup, place: Place, region: Region) -> Iterator[Wanted]:
    """Yield the user's own addresses, as far as it is known what they are."""
    key = "give its key in the scripts bucket"
    said: list[tuple[At, str | None, str]] = [
        (("tools", index, "url"), file.url, key) for index, file in enumerate(setup.tools)
    ]
    if setup.neuron_environment is not None:
        said.append((("neuron_environment", "index"), setup.neuron_environment.index, "give a mirror in the network"))
    if setup.exporters is not None and setup.exporters.gpu:
        said.append((("exporters", "gpu_image"), setup.exporters.gpu_image, "take an image of nodes that has it"))
    for at, url, remedy in said:
        yield from given(url, place, region, remedy=remedy, at=(*_SETUP, *at))
