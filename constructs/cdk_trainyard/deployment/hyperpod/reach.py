"""What the options of a HyperPod cluster's nodes fetch."""

from collections.abc import Iterator

from cdk_trainyard.deployment.hyperpod.section import HyperPodSection, LifecycleSection
from cdk_trainyard.deployment.reach import node_place, reach_problems
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.lifecycle import NodeTool
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.reach import Place, Region, Wanted, given_address, wanted


def hyperpod_reach_problems(
    cluster: HyperPodSection, network: NetworkSpec | ExistingNetworkSpec | None, region: str | None
) -> list[str]:
    """Every option of the nodes whose downloads do not arrive.

    Args:
        cluster: The cluster.
        network: The network section; None when it has not the right form.
        region: The Region; None likewise.
    """
    if region is None or not _runs_own_scripts(cluster):
        return []
    at = Region(name=region)
    place = node_place(network, at)
    return [] if place is None else reach_problems(_wanted(cluster, place, at), at)


def _runs_own_scripts(cluster: HyperPodSection) -> bool:
    def runs(section: LifecycleSection | None) -> bool:
        asked = section is not None and (section.on_create is not None or section.on_init_complete is not None)
        return asked and section is not None and section.folder is None

    return any(runs(group.lifecycle or cluster.lifecycle) for group in cluster.groups.values())


def _wanted(cluster: HyperPodSection, place: Place, region: Region) -> Iterator[Wanted]:
    setup = cluster.node_setup
    if setup.exporters is not None and _is_pinned(cluster, NodeTool.NODE_EXPORTER):
        yield from _tool("exporters", NodeTool.NODE_EXPORTER, place)
    if setup.s3_mounts and _is_pinned(cluster, NodeTool.MOUNTPOINT):
        yield from _tool("s3_mounts", NodeTool.MOUNTPOINT, place)
    environment = setup.neuron_environment
    if environment is not None and environment.index is None:
        remedy = "give 'index' of 'neuron_environment' a mirror that the nodes reach"
        yield from wanted("hyperpod", "neuron_environment", place, "'neuron_environment'", remedy=remedy)
    if cluster.accounting is not None:
        yield from wanted("hyperpod", "accounting", place, "'accounting'")
    yield from _given(cluster, place, region)


def _tool(option: str, tool: NodeTool, place: Place) -> Iterator[Wanted]:
    remedy = f"give 'tools' a file of {tool.value} by its key in the scripts bucket"
    found = wanted("hyperpod", option, place, f"'{option}'", remedy=remedy)
    return (each for each in found if each.address.name != "account-bucket")


def _is_pinned(cluster: HyperPodSection, tool: NodeTool) -> bool:
    """Whether some node fetches the file that is pinned: none is given for its processor."""
    given = {file.architecture for file in cluster.node_setup.tools if file.tool is tool}
    types = [name for group in cluster.groups.values() for name in (group.instance_type, *group.instance_types) if name]
    known = [found for name in types if (found := InstanceType.find(name))]
    return not given or any(found.architecture not in given for found in known)


def _given(cluster: HyperPodSection, place: Place, region: Region) -> Iterator[Wanted]:
    """Yield the user's own addresses, as far as it is known what they are."""
    setup = cluster.node_setup
    key = "give its key in the scripts bucket"
    said = [(f"'url' of {file.tool.value} in 'tools'", file.url, key) for file in setup.tools]
    if setup.neuron_environment is not None:
        said.append(("'index' of 'neuron_environment'", setup.neuron_environment.index, "give a mirror in the network"))
    if setup.exporters is not None and setup.exporters.gpu:
        said.append(("'gpu_image' of 'exporters'", setup.exporters.gpu_image, "give an image in Amazon ECR"))
    for subject, url, remedy in said:
        address = None if url is None else given_address(url, region)
        if address is not None:
            yield Wanted(subject=subject, address=address, place=place, remedy=remedy)
