"""Dashboards as CloudWatch shows them: the body of AWS::CloudWatch::Dashboard. No CDK.

Queries go through CloudWatch's connector (``connector``), each with its legend. Sources: Amazon CloudWatch API
reference, "Dashboard Body Structure and Syntax"; user guide, "Use your custom data source" (read 2026-11-24).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.monitoring.panels import CHOSEN, COLUMNS, WIDTH, Dashboard, Panel, dashboards, written

_ALWAYS: Final = "agent"
"""Whose metrics there are wherever there are some: what takes them tells of itself."""
_CHOICES: Final = {"node": ("NODES_BY_REGEX", ".+"), "price": ("PRICE_AN_HOUR", "0")}
"""What CloudWatch replaces in queries by what their reader types, and what stands there until then."""
_QUOTED: Final = "'{}'"
_HEIGHT: Final = {"stat": 3, "table": 6, "timeseries": 6}
_VIEWS: Final[Mapping[str, Mapping[str, JsonValue]]] = {
    "stat": {"view": "singleValue"},
    "table": {"view": "table"},
    "timeseries": {"view": "timeSeries"},
}
_UNITS: Final = {
    "Bps": "bytes a second",
    "bytes": "bytes",
    "celsius": "°C",
    "currencyUSD": "USD",
    "percent": "percent",
    "percentunit": "of 1",
    "s": "seconds",
    "short": "",
}
"""Grafana's names of units, as a title says them: CloudWatch knows no unit of what a connector gives."""


def shown(sources: Sequence[str]) -> Iterator[Dashboard]:
    """Yield dashboards with the panels for which there are metrics; one without any is left out.

    Args:
        sources: Whose metrics there are.
    """
    for each in dashboards():
        panels = tuple(panel for panel in each.panels if panel.needs in {_ALWAYS, *sources})
        if panels and (not each.about or {*each.about} & {*sources}):
            yield replace(each, panels=panels)


def body(dashboard: Dashboard, *, cluster_name: str, function_name: str, region: str) -> dict[str, Any]:
    """Return the body of a dashboard of one cluster.

    Args:
        dashboard: The dashboard.
        cluster_name: The label ``cluster`` of its metrics.
        function_name: The connector.
        region: Where the connector is.
    """
    words = {
        "cluster": f'cluster="{cluster_name}"',
        "node": f'node=~"{_CHOICES["node"][0]}"',
        "price": _CHOICES["price"][0],
    }
    return {
        "start": "-PT3H",
        "periodOverride": "auto",
        "variables": [
            {
                "type": "pattern",
                "pattern": pattern,
                "inputType": "input",
                "id": name,
                "label": CHOSEN[name],
                "defaultValue": default,
                "visible": True,
            }
            for name, (pattern, default) in _CHOICES.items()
            if name in dashboard.chosen
        ],
        "widgets": [
            {
                "type": "metric",
                **place,
                "properties": {
                    **_VIEWS[panel.kind],
                    "title": f"{panel.title} ({_UNITS[panel.unit]})" if _UNITS[panel.unit] else panel.title,
                    "region": region,
                    "period": 60,
                    "stacked": panel.stacked,
                    "metrics": [
                        [{"id": f"q{number}", "expression": expression}]
                        for number, expression in enumerate(_expressions(function_name, panel, words))
                    ],
                }
                | ({"yAxis": {"left": {"min": 0, "showUnits": False}}} if panel.kind == "timeseries" else {}),
            }
            for panel, place in zip(dashboard.panels, _places(dashboard.panels), strict=True)
        ],
    }


def _expressions(function_name: str, panel: Panel, words: Mapping[str, str]) -> Iterator[str]:
    """Yield calls of the connector: words between ' and ', as AWS's samples have them (cloudwatch-data-source-samples).

    PromQL has " inside, and nothing needs an escape.
    """
    kind = "range" if panel.kind == "timeseries" else "instant"
    for query, legend in panel.queries:
        said = (function_name, written(query, words), legend, kind)
        yield f"LAMBDA({', '.join(map(_QUOTED.format, said))})"


def _places(panels: Sequence[Panel]) -> Iterator[dict[str, int]]:
    """Yield where panels stand: from left to right, in rows that are as high as the highest of them."""
    x, y, high = 0, 0, 0
    for panel in panels:
        width, height = WIDTH[panel.kind], _HEIGHT[panel.kind]
        if x + width > COLUMNS:
            x, y, high = 0, y + high, 0
        yield {"x": x, "y": y, "width": width, "height": height}
        x, high = x + width, max(high, height)
