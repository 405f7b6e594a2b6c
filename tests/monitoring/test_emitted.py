"""Alarms ask for metrics that an exporter of ours gives: what each gives is recorded, with its source."""

import json
import re
from pathlib import Path

import pytest

from cdk_trainyard.monitoring.alarms import Alarm, Record, alarms, records
from tests.lifecycle_scripts.programs import load
from tests.lifecycle_scripts.test_metrics import answer, make_device

EMITTED = Path(__file__).parent / "data" / "emitted"
ANYWHERE = {"up"}
"""What Prometheus itself makes of every scrape."""
WORDS = {"and", "or", "unless", "on", "by", "ignoring", "without", "group_left", "group_right", "bool"}
BESIDE_SLURM = {"ExporterDown", "GpuIdle", "NeuronIdle"}
"""Alarms that ask Slurm, too."""
LABELS = {"job", "node", "task", "cluster"}
"""What discovery and agent give to every sample."""
Series = dict[str, dict[str, set[str]]]


def parsed(text: str) -> Series:
    """Names with the values of their labels."""
    found: Series = {}
    for line in text.splitlines():
        if match := re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line):
            labels = found.setdefault(match[1], {})
            for label, value in re.findall(r'(\w+)="([^"]*)"', match[2] or ""):
                labels.setdefault(label, set()).add(value)
    return found


def answer_with_new_node(program: str, arguments: list[str]) -> str:
    """Slurm's answers, with one node more, which has never registered."""
    more = "NodeName=w9 State=DOWN* SlurmdStartTime=None\n" if program == "scontrol" and "nodes" in arguments else ""
    return answer(program, arguments) + more


ENGINES = {"vllm", "tgi"}
KNOWN_BY = {"controller": "agent", **dict.fromkeys(ENGINES, "engine")}


def emitted(source: str, tmp_path: Path) -> Series:
    """What a source gives: recorded, or written by our own program here."""
    if source == "slurm":
        return parsed(load("lib/slurm_metrics.py").collect(answer_with_new_node)) | emitted("node", tmp_path)
    if source == "efa":
        counters = (EMITTED / "efa.counters").read_text().splitlines()[1:]
        make_device(tmp_path, "rdmap16s2", "efa", dict.fromkeys(counters, "1"))
        return parsed(load("lib/efa_metrics.py").collect(tmp_path))
    if source == "lustre":
        return parsed(load("lib/lustre_metrics.py").collect((EMITTED / "lustre.answers").read_text()))
    if source == "neuron":
        return parsed(neuron_text())
    found = parsed((EMITTED / f"{KNOWN_BY.get(source, source)}.prom").read_text())
    return {name: labels for name, labels in found.items() if source not in ENGINES or name.startswith(source)}


def neuron_text() -> str:
    """What our program serves of a report of neuron-monitor."""
    metrics = load("lib/neuron_metrics.py").Metrics()
    metrics.take(json.loads((EMITTED / "neuron.report").read_text().partition("\n")[2]))
    return str(metrics.text())


def asked(expr: str) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Names that a query asks for, with the matchers on their labels."""
    plain = re.sub(
        r"\b(?:by|on|ignoring|without) *\([^)]*\)", "", expr.replace("$cluster", "").replace("$threshold", "0")
    )
    found = []
    for match in re.finditer(r"([a-zA-Z_:][\w:]*)\s*(\(|\{[^}]*\})?", re.sub(r"\[[^]]*\]", "", plain)):
        name, after = match[1], match[2] or ""
        if name not in WORDS and not after.startswith("("):
            found.append((name, re.findall(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"', after)))
    return found


@pytest.mark.parametrize("row", [*alarms(), *records()], ids=lambda row: row.name)
def test_what_it_asks_for_is_given_by_an_exporter(row: Alarm | Record, tmp_path: Path) -> None:
    given = emitted(row.needs, tmp_path)
    given |= emitted("slurm", tmp_path) if row.name in BESIDE_SLURM else {}
    names = asked(row.expr)
    assert names
    for name, matchers in names:
        if name in ANYWHERE:
            continue
        assert name in given, f"{row.name} asks for {name}, which no exporter of {row.needs} gives"
        for label, how, value in matchers:
            if label in LABELS:
                continue
            assert label in given[name], f"{row.name} asks for the label {label} of {name}"
            if label in {"state", "reason", "event_type", "error_type", "file"}:
                wanted = re.compile(re.sub(r"\\\\", r"\\", value) if how == "=~" else re.escape(value))
                assert any(wanted.fullmatch(each) for each in given[name][label]), f"{row.name}: {label}{how}{value}"


def test_our_program_names_neurons_metrics_as_awss_script_does(tmp_path: Path) -> None:
    ours = emitted("neuron", tmp_path)
    for name, labels in parsed((EMITTED / "neuron.prom").read_text()).items():
        assert set(labels) <= set(ours[name]), name
        for label in {"error_type", "event_type", "status_type", "memory_location"} & set(labels):
            assert labels[label] <= ours[name][label], name


def test_queries_are_read_as_they_are() -> None:
    query = 'max by (cluster) (a_b{x="1", $cluster}) > $threshold and on (c, d) rate(e[5m]) > 0 unless f'
    assert asked(query) == [("a_b", [("x", "=", "1")]), ("e", []), ("f", [])]


@pytest.mark.parametrize("path", sorted(EMITTED.iterdir()), ids=lambda path: path.stem)
def test_what_is_recorded_says_where(path: Path) -> None:
    assert path.read_text().startswith("# ")
