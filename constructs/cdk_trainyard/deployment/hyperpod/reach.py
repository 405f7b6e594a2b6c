"""What the options of a HyperPod cluster's nodes fetch, held to the network of the file."""

from cdk_trainyard.deployment.hyperpod.section import HyperPodSection, LifecycleSection
from cdk_trainyard.deployment.reach import granted, node_place, reach_problems
from cdk_trainyard.hyperpod.rules_reach import downloads
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.reach import Region, wanted


def hyperpod_reach_problems(
    cluster: HyperPodSection, network: NetworkSpec | ExistingNetworkSpec | None, region: str | None
) -> list[str]:
    """Every option of the nodes whose downloads do not arrive.

    Args:
        cluster: The cluster.
        network: The network section; None when it has not the right form.
        region: The Region; None likewise.
    """
    if region is None:
        return []
    at = Region(name=region)
    place = node_place(network, at)
    if place is None:
        return []
    found = [*granted(cluster, "hyperpod", place)]
    if not _runs_own_scripts(cluster):
        return reach_problems(found, at)
    types = [name for group in cluster.groups.values() for name in (group.instance_type, *group.instance_types) if name]
    architectures = {known.architecture for name in types if (known := InstanceType.find(name))}
    secret = wanted("hyperpod", "accounting", place, "'accounting'") if cluster.accounting is not None else ()
    return reach_problems([*downloads(cluster.node_setup, architectures, place, at), *secret, *found], at)


def _runs_own_scripts(cluster: HyperPodSection) -> bool:
    def runs(section: LifecycleSection | None) -> bool:
        asked = section is not None and (section.on_create is not None or section.on_init_complete is not None)
        return asked and section is not None and section.folder is None

    return any(runs(group.lifecycle or cluster.lifecycle) for group in cluster.groups.values())
