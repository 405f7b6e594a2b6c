"""Dashboards ask for what there is: every query is run by a real Prometheus on what exporters give."""

import json
import re
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.models import dashboard as models

from cdk_trainyard.cli import main
from cdk_trainyard.monitoring.alarms import records
from cdk_trainyard.monitoring.grafana import grafana_json
from cdk_trainyard.monitoring.panels import Dashboard, Panel, dashboards, written
from cdk_trainyard.monitoring.spec import MetricsSource
from tests.monitoring import promtool
from tests.monitoring.test_emitted import Series, emitted
from tests.shown import lacking, promised

CHOSEN = {"cluster": 'cluster="llama2"', "node": 'node=~"w1|w2"', "price": "1.5"}
RECORDED = {record.name: record.query("llama2") for record in records()}
SOURCES = ("agent", *MetricsSource)
PANELS = [
    pytest.param(panel, query, id=f"{each.name}-{panel.title}-{number}")
    for each in dashboards()
    for panel in each.panels
    for number, (query, _) in enumerate(panel.queries)
]
MINUTE = 60
Ask = Callable[[str], list[Any]]


def samples(series: Series, source: str, until: int) -> Iterator[str]:
    """Ten minutes of every series: each label with its first value, on two nodes."""
    for name, labels in series.items():
        yield f"# TYPE {name} gauge"
        for node in ("w1", "w2"):
            chosen = {label: min(values) for label, values in labels.items()}
            for state in sorted(labels.get("state", {""})):
                more = {"state": state} if state else {}
                written_labels = {**chosen, **more, "cluster": "llama2", "node": node, "job": source}
                inside = ",".join(f"{label}={json.dumps(value)}" for label, value in written_labels.items())
                yield from (f"{name}{{{inside}}} {step} {until - (20 - step) * MINUTE // 2}" for step in range(1, 21))


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A Prometheus that holds what every exporter gives."""
    folder, until = tmp_path_factory.mktemp("prometheus"), int(time.time())
    given: Series = {"up": {}}
    lines: list[str] = []
    for source in SOURCES:
        found = {name: labels for name, labels in emitted(source, folder).items() if name not in given}
        given |= found
        lines += samples({**found, **({"up": {}} if source in {"agent", "engine"} else {})}, source, until)
    (folder / "metrics").write_text("\n".join([*lines, "# EOF\n"]))
    made = promtool.run("promtool", "tsdb", "create-blocks-from", "openmetrics", folder / "metrics", folder / "data")
    assert made.returncode == 0, made.stderr
    (folder / "prometheus.yml").write_text("{}")
    words = [
        promtool.tool("prometheus"),
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data",
        "--web.listen-address=127.0.0.1:0",
    ]
    with (folder / "log").open("w") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            yield answering(folder / "log", until, process)
        finally:
            process.terminate()


def answering(log: Path, now: int, process: "subprocess.Popen[bytes]") -> Ask:
    """Wait until it answers at the port that it has taken, and says in its log."""
    while not (found := re.search(r'msg="Listening on".*? address=(\S+)', log.read_text())):
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    address = f"http://{found[1]}"

    def query(text: str) -> list[Any]:
        words = urllib.parse.urlencode({"query": text, "time": now})
        with urllib.request.urlopen(f"{address}/api/v1/query?{words}") as said:  # noqa: S310  on this machine
            found: list[Any] = json.load(said)["data"]["result"]
        return found

    while process.poll() is None:
        try:
            query("vector(1)")
        except OSError:
            time.sleep(0.1)
        else:
            return query
    raise AssertionError("Prometheus ended")


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
    assert "File exists" in capsys.readouterr().err
