"""What dashboards show: panels, each with its queries. Who shows them renders them. No CDK."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Final

from cdk_trainyard.data_files import load

CHOSEN: Final = {"cluster": "Cluster", "node": "Nodes", "price": "Price of an accelerator an hour, as you pay it"}
"""Places that queries leave open, each with what its reader is asked for. ``cluster`` and ``node`` stand for matchers,
``price`` for a number."""
COLUMNS: Final = 24
"""Of a row, in CloudWatch and in Grafana."""
WIDTH: Final = {"stat": 6, "table": COLUMNS, "timeseries": 12}
"""Columns of a panel, by its kind."""


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
        about: Of whose metrics there must be some for it to make sense. Nothing: of those of a panel.
    """

    name: str
    title: str
    panels: Sequence[Panel]
    about: Sequence[str] = ()

    @property
    def uid(self) -> str:
        """What Grafana knows it by: one that is imported again is changed, and not added."""
        return f"trainyard-{self.name}"

    @property
    def chosen(self) -> frozenset[str]:
        """Places that its queries leave open."""
        queries = [query for panel in self.panels for query, _ in panel.queries]
        return frozenset(name for name in CHOSEN if any(f"${name}" in query for query in queries))


@cache
def dashboards() -> Sequence[Dashboard]:
    """Return every dashboard."""
    return tuple(
        Dashboard(
            name=row["name"],
            title=row["title"],
            about=tuple(row.get("about", ())),
            panels=tuple(
                Panel(**panel | {"queries": tuple((query, legend) for query, legend in panel["queries"])})
                for panel in row["panels"]
            ),
        )
        for row in load("monitoring", "dashboards")
    )


def written(query: str, words: Mapping[str, str]) -> str:
    """Return a query with something in the places that are left open.

    Args:
        query: The query.
        words: What stands for each.
    """
    return Template(query).substitute(words)
