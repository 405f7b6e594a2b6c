"""Pictures of dashboards: what is drawn are answers to the queries of today, as they were recorded."""

from xml.etree import ElementTree as ET

import pytest

from cdk_trainyard.monitoring.panels import dashboards
from tests.support import ROOT
from tools import dashboard_pictures as tool

QUERIES = {
    each.name: {panel.title: [query for query, _ in panel.queries] for panel in each.panels} for each in dashboards()
}
README = ROOT / "constructs" / "cdk_trainyard" / "monitoring" / "README.md"


def test_what_was_recorded_are_the_queries_of_today() -> None:
    """Others are to be recorded again, on a rehearsed cluster."""
    recorded = tool.recorded().panels
    assert recorded
    for name, panels in recorded.items():
        asked = {title: [query for query, _ in found] for title, found in panels.items()}
        assert asked == QUERIES[name]


def test_pictures_are_drawn_of_it() -> None:
    assert tool.main([]) == 0, "python -m tools.dashboard_pictures --write"


@pytest.mark.parametrize("name", tool.pictures())
def test_a_picture_has_its_panels_and_stands_in_the_page(name: str) -> None:
    text = tool.pictures()[name]
    ET.fromstring(text)  # noqa: S314  our own
    shown = [title for title, found in tool.recorded().panels[name].items() if any(series for _, series in found)]
    assert len(shown) > 2
    for title in shown:
        assert f">{title}</text>" in text
    assert f"docs/pictures/dashboard-{name}.svg" in README.read_text()
