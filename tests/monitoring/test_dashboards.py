"""Dashboards ask for what there is: every query is run by a real Prometheus on what exporters give."""

import json
import re
from pathlib import Path

import pytest
from grafana_foundation_sdk.models import dashboard as models

from cdk_trainyard.cli import main
from cdk_trainyard.monitoring.alarms import records
from cdk_trainyard.monitoring.grafana import grafana_json
from cdk_trainyard.monitoring.panels import Dashboard, Panel, dashboards, written
from tests.monitoring.served import SOURCES, Ask
from tests.shown import lacking, promised

CHOSEN = {"cluster": 'cluster="llama2"', "node": 'node=~"w1|w2"', "price": "1.5"}
RECORDED = {record.name: record.query("llama2") for record in records()}
PANELS = [
    pytest.param(panel, query, id=f"{each.name}-{panel.title}-{number}")
    for each in dashboards()
    for panel in each.panels
    for number, (query, _) in enumerate(panel.queries)
]


@pytest.mark.programs
@pytest.mark.parametrize(("panel", "query"), PANELS)
def test_a_query_has_an_answer_where_there_are_metrics(panel: Panel, query: str, ask: Ask) -> None:
    assert panel.needs in SOURCES
    text = written(query, CHOSEN)
    for name, recorded in RECORDED.items():
        text = text.replace(f'{name}{{cluster="llama2"}}', f"({recorded})")
    assert ask(text), text


@pytest.mark.parametrize("made", dashboards(), ids=lambda made: made.name)
def test_it_is_what_grafana_reads(made: Dashboard) -> None:
    data = json.loads(grafana_json(made))
    read = models.Dashboard.from_json(data)
    assert (read.uid, [panel.title for panel in read.panels or [] if isinstance(panel, models.Panel)]) == (
        made.uid,
        [panel.title for panel in made.panels],
    )
    named = {variable["name"] for variable in data["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps([panel["targets"] for panel in data["panels"]])))
    assert used == named
    assert all(panel["options"] for panel in data["panels"])
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in data["panels"]]
    assert len(set(places)) == len(places)


def test_each_is_another() -> None:
    names = [made.name for made in dashboards()]
    assert len(set(names)) == len(names) == 8
    for made in dashboards():
        titles = [panel.title for panel in made.panels]
        assert len(set(titles)) == len(titles)


def test_the_page_shows_the_files_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["dashboards", "dashboards"]) == 0
    shown = promised("constructs/cdk_trainyard/monitoring/README.md", "trainyard dashboards dashboards")
    assert lacking(shown, capsys.readouterr().out) == []


def test_the_command_writes_them_again_as_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        assert main(["dashboards", str(folder)]) == 0
        assert capsys.readouterr().out.splitlines() == [str(folder / f"{made.uid}.json") for made in dashboards()]
    assert json.loads((folder / "trainyard-jobs.json").read_text())["title"] == "Trainyard: Jobs"
    assert main(["dashboards", str(folder / "trainyard-jobs.json")]) == 1
    assert "it is a file; DIR names another place" in capsys.readouterr().err
