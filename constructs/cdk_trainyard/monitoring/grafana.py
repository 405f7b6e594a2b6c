"""Dashboards as Grafana imports them: JSON that Grafana's own builders make, for Grafana 10.1 and newer. No CDK.

Every dashboard asks for one cluster, which its reader chooses.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import LegendDisplayMode, LegendPlacement, StackingMode
from grafana_foundation_sdk.models.dashboard import DataSourceRef, VariableRefresh
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from cdk_trainyard.monitoring.panels import CHOSEN, WIDTH, Dashboard, Panel, written

_SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
_WORDS: Final = {"cluster": 'cluster="$cluster"', "node": 'node=~"$node"', "price": "$price"}
"""What stands for a place in a query: matchers on Grafana's variables."""
_HEIGHT: Final = {"stat": 4, "table": 8, "timeseries": 8}


def grafana_json(shown: Dashboard) -> str:
    """Return a dashboard as Grafana imports it.

    Args:
        shown: The dashboard.
    """
    made = (
        dashboard.Dashboard(f"Trainyard: {shown.title}")
        .uid(shown.uid)
        .tags(["trainyard"])
        .refresh("1m")
        .time("now-3h", "now")
        .timezone("browser")
        .readonly()
        .with_variable(dashboard.DatasourceVariable("datasource").label("Workspace").type("prometheus"))
        .with_variable(_values("cluster", "label_values(up, cluster)"))
    )
    if "node" in shown.chosen:
        query = 'label_values(up{cluster="$cluster"}, node)'
        made.with_variable(_values("node", query).multi(multi=True).include_all(include_all=True))
    if "price" in shown.chosen:
        made.with_variable(dashboard.TextBoxVariable("price").label(CHOSEN["price"]).default_value("0"))
    for panel in shown.panels:
        made.with_panel(_panel(panel))
    return JSONEncoder(sort_keys=True, indent=2).encode(made.build())


def _values(name: str, query: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(CHOSEN[name])
        .datasource(_SOURCE)
        .query(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
    )


def _panel(panel: Panel) -> Any:
    made = _BUILDERS[panel.kind]().title(panel.title).datasource(_SOURCE).unit(panel.unit)
    made.span(WIDTH[panel.kind]).height(_HEIGHT[panel.kind])
    if panel.stacked:
        made.stacking(common.StackingConfig().mode(StackingMode.NORMAL)).fill_opacity(20)
    for letter, (query, legend) in zip("ABCD", panel.queries, strict=False):
        target = prometheus.Dataquery().expr(written(query, _WORDS)).legend_format(legend).ref_id(letter)
        target.datasource(_SOURCE)
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
