"""Dashboards of Grafana on the metrics of clusters, as JSON: what they show is data. No CDK.

``data/dashboards.json`` has dashboards, panels and queries; Grafana's own builders make JSON of them, for Grafana 10.1
and newer. Every dashboard asks for one cluster, which its reader chooses.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any, Final

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, StackingMode
from grafana_foundation_sdk.models.dashboard import DataSourceRef, VariableRefresh
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from cdk_trainyard.data_files import load

_SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
_WORDS: Final = {"cluster": 'cluster="$cluster"', "node": 'node=~"$node"', "price": "$price"}
"""What stands for a place in a query: matchers on Grafana's variables."""
_WIDTH: Final = {"stat": 6, "table": 24, "timeseries": 12}
_HEIGHT: Final = {"stat": 4, "table": 8, "timeseries": 8}


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A panel of a dashboard.

    Attributes:
        title: What it shows.
        needs: Whose metrics it asks.
        queries: PromQL, with ``$cluster``, ``$node`` and ``$price`` where the reader chooses, and each one's legend.
        kind: ``timeseries``, ``stat`` or ``table``.
        unit: Grafana's name of the unit.
        stacked: Whether the series are parts of a whole.
    """

    title: str
    needs: str
    queries: Sequence[tuple[str, str]]
    kind: str = "timeseries"
    unit: str = "short"
    stacked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Dashboard:
    """A dashboard.

    Attributes:
        name: Its name, with which uid and file are made.
        title: Its title.
        panels: Its panels.
    """

    name: str
    title: str
    panels: Sequence[Panel]

    @property
    def uid(self) -> str:
        """What Grafana knows it by: one that is imported again is changed, and not added."""
        return f"trainyard-{self.name}"

    @property
    def json(self) -> str:
        """The dashboard as Grafana imports it."""
        return JSONEncoder(sort_keys=True, indent=2).encode(self._built().build())

    def _built(self) -> dashboard.Dashboard:
        words = {name for panel in self.panels for query, _ in panel.queries for name in _WORDS if f"${name}" in query}
        made = (
            dashboard.Dashboard(f"Trainyard: {self.title}")
            .uid(self.uid)
            .tags(["trainyard"])
            .refresh("1m")
            .time("now-3h", "now")
            .timezone("browser")
            .readonly()
            .with_variable(dashboard.DatasourceVariable("datasource").label("Workspace").type("prometheus"))
            .with_variable(_values("cluster", "Cluster", "label_values(up, cluster)"))
        )
        if "node" in words:
            query = 'label_values(up{cluster="$cluster"}, node)'
            made.with_variable(_values("node", "Nodes", query).multi(multi=True).include_all(include_all=True))
        if "price" in words:
            label = "Price of an accelerator an hour, as you pay it"
            made.with_variable(dashboard.TextBoxVariable("price").label(label).default_value("0"))
        for panel in self.panels:
            made.with_panel(_panel(panel))
        return made


@cache
def dashboards() -> Sequence[Dashboard]:
    """Return every dashboard."""
    return tuple(
        Dashboard(
            name=row["name"],
            title=row["title"],
            panels=tuple(
                Panel(**panel | {"queries": tuple((query, legend) for query, legend in panel["queries"])})
                for panel in row["panels"]
            ),
        )
        for row in load("monitoring", "dashboards")
    )


def written(query: str, words: Mapping[str, str] = _WORDS) -> str:
    """Return a query with something in the places that are left open.

    Args:
        query: The query.
        words: What stands for each. Default - matchers on Grafana's variables.
    """
    return Template(query).substitute(words)


def _values(name: str, label: str, query: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(_SOURCE)
        .query(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
    )


def _panel(panel: Panel) -> Any:
    made = _BUILDERS[panel.kind]().title(panel.title).datasource(_SOURCE).unit(panel.unit)
    made.span(_WIDTH[panel.kind]).height(_HEIGHT[panel.kind])
    if panel.stacked:
        made.stacking(common.StackingConfig().mode(StackingMode.NORMAL)).fill_opacity(20)
    for letter, (query, legend) in zip("ABCD", panel.queries, strict=False):
        target = prometheus.Dataquery().expr(written(query)).legend_format(legend).ref_id(letter).datasource(_SOURCE)
        if panel.kind == "table":
            target.format(PromQueryFormat.TABLE)
        made.with_target(target.range() if panel.kind == "timeseries" else target.instant())
    return made


def _over_time() -> timeseries.Panel:
    legend = common.VizLegendOptions().display_mode(LegendDisplayMode.LIST).placement(LegendPlacement.BOTTOM)
    return timeseries.Panel().legend(legend.show_legend(show_legend=True))


def _now() -> stat.Panel:
    return stat.Panel().reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))


def _rows() -> table.Panel:
    return table.Panel().show_header(show_header=True)


_BUILDERS: Final[Mapping[str, Callable[[], Any]]] = {"timeseries": _over_time, "stat": _now, "table": _rows}
