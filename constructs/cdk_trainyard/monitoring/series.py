"""How many series the exporters of a cluster give, as counted: what a workspace is paid for. No CDK.

``data/series.json`` has the counts, with the day and how they were made; a test counts again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.json_value import JsonObject
from cdk_trainyard.monitoring.spec import MetricsSource

SERIES: Final = "trainyard:Series"
"""The metadata of a cluster's resource that says how many series it gives."""
_DISKS: Final = 2
_DEVICES: Final = {AcceleratorKind.NEURON: MetricsSource.NEURON, AcceleratorKind.GPU: MetricsSource.GPU}


def series_of_node(instance_type: InstanceType, sources: Sequence[MetricsSource]) -> int:
    """Return how many series one node gives.

    Args:
        instance_type: Its type.
        sources: Whose metrics there are.
    """
    devices = {_DEVICES[each.kind]: each for each in instance_type.accelerators}
    numbers: dict[MetricsSource, Mapping[str, int]] = {
        MetricsSource.SLURM: {"accelerator": 1 if devices else 0},
        MetricsSource.NODE: {
            "node": 1, "vcpu": instance_type.vcpus, "disk": _DISKS, "mount": _DISKS, "interface": 2,
        },
        MetricsSource.EFA: {"node": 1, "efa": instance_type.max_efa_interfaces} if instance_type.efa_supported else {},
        MetricsSource.LUSTRE: {"node": 1},
    }  # fmt: skip
    for source, device in devices.items():
        numbers[source] = {"node": 1, "device": device.count, "core": device.count * device.cores}
    targets = 1 + sum(1 for source in devices if source in sources)
    return _counted({source: numbers.get(source, {}) for source in sources}) + targets * int(_data()["target"])


def series_of_cluster(sources: Sequence[MetricsSource]) -> int:
    """Return how many series a cluster gives beside those of its nodes: Slurm's, and the agent's own.

    Args:
        sources: Whose metrics there are.
    """
    once = {"cluster": 1}
    return _counted({"agent": once, **dict.fromkeys(sources, once)}) + int(_data()["target"])


def series_metadata(
    groups: Iterable[tuple[str, Sequence[InstanceType]]],
    sources: Sequence[MetricsSource],
    *,
    scrape_seconds: int,
    alone: bool = False,
) -> JsonObject:
    """Return what a cluster's resource says of its series, for who works out what they cost.

    Args:
        groups: The groups of nodes, each with the types that its nodes may have.
        sources: Whose metrics there are.
        scrape_seconds: Seconds between two samples of a series.
        alone: Whether each node has an agent of its own. Default: false, one of them has it.
    """
    agent = series_of_cluster(sources)
    return {
        "ScrapeSeconds": scrape_seconds,
        "Cluster": 0 if alone else agent,
        "Nodes": {
            name: max((series_of_node(each, sources) for each in types), default=0) + (agent if alone else 0)
            for name, types in groups
        },
        "Counted": str(_data()["date"]),
    }


def uncounted_series_metadata(sources: Sequence[MetricsSource], *, scrape_seconds: int) -> JsonObject:
    """Return what a resource says whose series nobody has counted, so that they are not taken for none.

    Args:
        sources: Whose metrics there are.
        scrape_seconds: Seconds between two samples of a series.
    """
    return {"ScrapeSeconds": scrape_seconds, "NotCounted": [str(each) for each in sources]}


def _counted(numbers: Mapping[str, Mapping[str, int]]) -> int:
    counts = _data()
    return sum(
        counts[source].get(what, 0) * number for source, each in numbers.items() for what, number in each.items()
    )


def _data() -> Mapping[str, Any]:
    found: Mapping[str, Any] = load("monitoring", "series")
    return found
