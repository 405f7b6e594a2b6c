"""Samples of metrics that clusters write to Amazon Managed Service for Prometheus, a month, by tiers of its price.

How many series a cluster gives, its own resource says (`monitoring.series`); of other apps' clusters nobody knows.
Source of tiers and free tier: Amazon Managed Service for Prometheus pricing (``data/prices.json``, ``prometheus``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.monitoring.series import SERIES
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import Machines
from cdk_trainyard.report.prices import (
    FREE_GIB,
    FREE_SAMPLES,
    LAST_TIER,
    MONTH,
    PROMETHEUS_STORAGE,
    SAMPLE_TIERS,
    prometheus_samples,
)
from cdk_trainyard.report.words import joined

WORKSPACE: Final = "AWS::APS::Workspace"
_SAMPLES: Final = "Prometheus samples"
_MILLION: Final = 10**6
_RETENTION_DAYS: Final = 150
_MONTH_DAYS: Final = MONTH / 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Metered:
    """One line: so many of an item, when it is deployed and at most.

    Attributes:
        name: What it is, in a word.
        item: The item of the price list. Nothing: there is none.
        count: How many, when it is deployed.
        most: How many there may be.
        assumption: What was assumed.
    """

    name: str
    item: str
    count: int
    most: int
    assumption: str


def metered(graph: Graph, resource: Resource, machines: Sequence[Machines]) -> Iterator[Metered]:
    """Yield what the metrics of a cluster cost, where its resource says how many series there are.

    Args:
        graph: The resources.
        resource: The cluster.
        machines: The machines of the assembly.
    """
    metadata = resource.body.get("Metadata")
    said = metadata.get(SERIES) if isinstance(metadata, Mapping) else None
    if isinstance(said, Mapping) and (uncounted := _uncounted(said)):
        what = f"series of {joined(uncounted)} have not been counted"
        yield Metered(name=_SAMPLES, item="", count=1, most=1, assumption=what)
    if not isinstance(said, Mapping) or not _is_ours(said):
        return
    own = [each for each in machines if each.resource == resource]
    series = [_series(said, {each.name: getattr(each, when) for each in own}) for when in ("count", "most")]
    now, most = (each * MONTH * 3600 // said["ScrapeSeconds"] // _MILLION for each in series)
    how = (
        f"{series[0]:,} series, counted {said.get('Counted')}, every {said['ScrapeSeconds']} seconds; "
        f"without the account's free {FREE_SAMPLES} million"
    )
    for least, end in SAMPLE_TIERS.items():
        of_tier = [max(0, min(each, end) - max(least, FREE_SAMPLES)) for each in (now, most)]
        if of_tier[1] or not least:
            yield Metered(
                name=_SAMPLES,
                item=prometheus_samples(least),
                count=of_tier[0],
                most=of_tier[1],
                assumption=f"{how}; the tier from {least:,} million",
            )
    if most > LAST_TIER:
        item, beyond = prometheus_samples(LAST_TIER), max(0, now - LAST_TIER)
        yield Metered(name=_SAMPLES, item=item, count=beyond, most=most - LAST_TIER, assumption="the last tier")
    days = _retention(graph)
    stored = [max(0, int(each * _MILLION * days / _MONTH_DAYS / 2**30) - FREE_GIB) for each in (now, most)]
    yield Metered(
        name="Prometheus storage",
        item=PROMETHEUS_STORAGE,
        count=stored[0],
        most=stored[1],
        assumption=f"a byte a sample, kept for {days} days, without the account's free {FREE_GIB} GB",
    )


def _is_ours(said: Mapping[str, Any]) -> bool:
    nodes = said.get("Nodes")
    numbers = [
        said.get("ScrapeSeconds"),
        said.get("Cluster"),
        *(nodes.values() if isinstance(nodes, Mapping) else [None]),
    ]
    return all(isinstance(each, int) and each >= 0 for each in numbers) and bool(said.get("ScrapeSeconds"))


def _uncounted(said: Mapping[str, Any]) -> list[str]:
    listed = said.get("NotCounted")
    return [f"{each} metrics" for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def _series(said: Mapping[str, Any], nodes: Mapping[str, int]) -> int:
    of_nodes = sum(int(number) * nodes.get(str(name), 0) for name, number in said["Nodes"].items())
    return int(said["Cluster"]) + of_nodes


def _retention(graph: Graph) -> int:
    found = [graph.properties(each).get("WorkspaceConfiguration") for each in graph.of_type(WORKSPACE)]
    days = [each.get("RetentionPeriodInDays") for each in found if isinstance(each, Mapping)]
    return next((each for each in days if isinstance(each, int)), _RETENTION_DAYS)
