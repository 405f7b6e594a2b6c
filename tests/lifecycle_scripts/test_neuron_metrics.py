"""The program that serves what neuron-monitor reports."""

import json
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from cdk_trainyard.lifecycle import scripts_folder
from cdk_trainyard.rehearsal._process import wait_for
from tests.lifecycle_scripts.programs import load

neuron_metrics = load("lib/neuron_metrics.py")


def report(tag: str | None = "7", *, failed: int = 0, corrected: int = 0) -> dict[str, object]:
    """A report of neuron-monitor, with a program or without."""
    errors = {"error_summary": {"runtime": failed}, "latency_stats": {"total_latency": None}, "error": ""}
    program = {"neuron_runtime_tag": tag, "error": "", "report": {"execution_stats": errors}}
    devices = [{"neuron_device_index": 3, "mem_ecc_corrected": corrected}]
    return {
        "neuron_runtime_data": [] if tag is None else [program],
        "system_data": {"neuron_hw_counters": {"neuron_devices": devices, "error": ""}, "vcpu_usage": {"error": "no"}},
        "instance_info": {"instance_id": "i-1"},
    }


def samples(metrics: Any) -> dict[str, float]:
    """Values by name and the label that matters."""
    found = {}
    for line in metrics.text().splitlines():
        if not line.startswith("#"):
            told = re.search(r'(?:runtime_tag|neuron_device_index)="(.*?)"', line)
            found[f"{line.partition('{')[0]} {told[1] if told else ''}".strip()] = float(line.rpartition(" ")[2])
    return found


def test_what_neuron_monitor_counts_in_a_period_is_added_up_as_long_as_the_program_runs() -> None:
    metrics = neuron_metrics.Metrics()
    for each in (report(failed=2, corrected=1), report(failed=3, corrected=4)):
        metrics.take(each)
    assert samples(metrics) == {
        "execution_errors_total 7": 5, "hardware_ecc_events_total 3": 5, "instance_info": 1
    }  # fmt: skip
    metrics.take(report(None))
    assert samples(metrics) == {"hardware_ecc_events_total 3": 5, "instance_info": 1}
    metrics.take(report(failed=1))
    assert samples(metrics)["execution_errors_total 7"] == 1


def test_labels_are_written_as_prometheus_reads_them() -> None:
    metrics = neuron_metrics.Metrics()
    metrics.take(report('a"b\\c\nd', failed=1))
    assert 'runtime_tag="a\\"b\\\\c\\nd",error_type="runtime"} 1\n' in metrics.text()


def test_a_report_that_is_old_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = neuron_metrics.Metrics()
    metrics.take(report())
    monkeypatch.setattr(neuron_metrics.time, "monotonic", lambda: metrics._told + 60)
    assert metrics.text() == ""


def test_reports_are_served_until_there_are_no_more() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, "-ISB", str(scripts_folder() / "lib/neuron_metrics.py"), "--port", str(port)]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stderr=pipe, text=True) as process:
        assert process.stdin

        def asked() -> tuple[int, str]:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as said:
                    return said.status, said.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, ""
            except OSError:
                return 0, ""

        wait_for("the program", lambda: asked()[0] == 503, seconds=60)
        process.stdin.write(f"no JSON\n{json.dumps(report(failed=2))}\n")
        process.stdin.flush()
        wait_for("a report", lambda: asked()[0] == 200, seconds=60)
        assert "# TYPE execution_errors_total counter\n" in asked()[1]
        _, said = process.communicate("", timeout=60)
    assert process.returncode == 1
    assert said.count("a report is left out") == 1
