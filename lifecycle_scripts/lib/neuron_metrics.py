#!/usr/bin/env python3
"""Serve what neuron-monitor reports as metrics for Prometheus.

Names and labels are those of AWS's own neuron-monitor-prometheus.py, on which its dashboards stand. That script needs
the module prometheus_client, which its package does not bring. Reads neuron-monitor's reports from standard input, a
line of JSON each, and ends with it. Written for the Python of the nodes (3.8 and newer), without any dependency.

Sources: Neuron documentation, Neuron Monitor User Guide: the reports, in which executions and errors are counts of the
period; neuron-monitor-prometheus.py of aws-neuronx-tools as published with its logs and in forks: names and labels.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_FRESH_S = 60  # neuron-monitor reports every 5 s; what is older says nothing of now
_INSTANCE = {"availability_zone": "instance_availability_zone", "region": "instance_region"}  # keys of other names
_INSTANCE.update((name, name) for name in ("instance_name", "instance_id", "instance_type", "subnet_id"))
_HARDWARE = ("neuron_device_count", "neuroncore_per_device_count")
_MEMORY = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors")
_ECC = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected")
_CPU = {"user": ("user", "nice"), "system": ("system", "io_wait", "irq", "soft_irq")}


def numbers(found: Any, names: Any = None) -> Iterator[tuple[str, float]]:
    """Yield names and numbers of a mapping; a number that is not there is left out."""
    for name in names or found or ():
        value = (found or {}).get(name)
        if isinstance(value, (int, float)):
            yield name, value


# ---------------------------------------------------------------- groups of metrics: name, labels, value
def _cores(group: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    for core, data in (group.get("neuroncores_in_use") or {}).items():
        for _, percent in numbers(data, ["neuroncore_utilization"]):
            yield "neuroncore_utilization_ratio", {"neuroncore": core}, percent / 100


def _runtime_cpu(group: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    for name, percent in numbers(group.get("vcpu_usage"), _CPU):
        yield "neuron_runtime_vcpu_usage_ratio", {"usage_type": name}, percent / 100


def _memory_used(group: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    used = group.get("neuron_runtime_used_bytes") or {}
    for place, size in numbers(used, ["host", "neuron_device"]):
        yield "neuron_runtime_memory_used_bytes", {"memory_location": place}, size
    cores = (used.get("usage_breakdown") or {}).get("neuroncore_memory_usage") or {}
    for core, data in cores.items():
        for name, size in numbers(data, _MEMORY):
            labels = {"memory_location": "None", "neuroncore": core}  # as AWS's script has it
            yield f"neuroncore_memory_usage_{name}", labels, size


def _executions(group: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    for name, count in numbers(group.get("error_summary")):
        yield "execution_errors_total", {"error_type": name}, count
    for name, count in numbers(group.get("execution_summary")):
        yield "execution_status_total", {"status_type": name}, count
    for name, seconds in numbers((group.get("latency_stats") or {}).get("total_latency")):
        yield "execution_latency_seconds", {"percentile": name}, seconds


def _hardware_events(group: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    for device in group.get("neuron_devices") or ():
        for name, count in numbers(device, _ECC):
            labels = {"event_type": name, "neuron_device_index": str(device["neuron_device_index"])}
            yield "hardware_ecc_events_total", labels, count


def _system_cpu(group: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    yield "system_vcpu_count", {}, len(group.get("usage_data") or ())
    for name, parts in _CPU.items():
        percent = sum(value for _, value in numbers(group.get("average_usage"), parts))
        yield "system_vcpu_usage_ratio", {"usage_type": name}, min(percent, 100) / 100


def _system_memory(group: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    for name, size in numbers(
        group, [f"{kind}_{what}_bytes" for kind in ("memory", "swap") for what in ("total", "used")]
    ):
        yield f"system_{name}", {}, size


_GROUPS = {
    "neuroncore_counters": _cores,
    "neuron_runtime_vcpu_usage": _runtime_cpu,
    "memory_used": _memory_used,
    "execution_stats": _executions,
    "neuron_hw_counters": _hardware_events,
    "vcpu_usage": _system_cpu,
    "memory_info": _system_memory,
}


def samples(report: Any) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield name, labels and value of everything in a report; what it has an error for is left out."""
    told = report.get("instance_info") or {}
    instance = {label: str(told.get(name, "")) for label, name in sorted(_INSTANCE.items())}
    parts = [
        ({**instance, "runtime_tag": str(runtime["neuron_runtime_tag"])}, runtime.get("report"))
        for runtime in report.get("neuron_runtime_data") or ()
        if not runtime.get("error")
    ]
    for labels, groups in [*parts, (instance, report.get("system_data"))]:
        for name, group in (groups or {}).items():
            if name in _GROUPS and group and not group.get("error"):
                for metric, more, value in _GROUPS[name](group):
                    yield metric, {**labels, **more}, value
    yield "instance_info", instance, 1
    hardware = report.get("neuron_hardware_info")
    if hardware:
        yield "neuron_hardware_info", {**instance, **{name: str(hardware.get(name, "")) for name in _HARDWARE}}, 1


class Metrics:
    """What there is to serve: gauges of the last report, and sums of what reports count."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._totals: dict[str, float] = {}
        self._text = ""
        self._told = 0.0

    def take(self, report: Any) -> None:
        """Add a report. A program that has ended is in none, and its sums go with it."""
        families: dict[str, dict[str, float]] = {}
        totals = {key: value for key, value in self._totals.items() if "runtime_tag=" not in key}
        for name, labels, value in samples(report):
            key = f"{name}{{{','.join(f'{label}={_quoted(text)}' for label, text in labels.items())}}}"
            if name.endswith("_total"):
                totals[key] = totals.get(key, self._totals.get(key, 0)) + value
            families.setdefault(name, {})[key] = totals.get(
                key, value
            )  # programs with the same tag are one, as AWS's script has it
        lines: list[str] = []
        for name, found in families.items():
            lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
            lines += [f"{key} {value}" for key, value in found.items()]
        self._totals, self._text, self._told = totals, "\n".join(lines) + "\n", time.monotonic()

    def text(self) -> str:
        """Return what a scrape is answered; nothing when no report is fresh."""
        return self._text if time.monotonic() - self._told < _FRESH_S else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def serve(metrics: Metrics, port: int) -> ThreadingHTTPServer:
    """Answer scrapes from now on."""

    class Scrape(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.text().encode()
            self.send_response(200 if body else 503)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  the name is the base class's
            """Keep quiet."""

    server = ThreadingHTTPServer(("", port), Scrape)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main(arguments: list[str]) -> int:
    """Serve until there are no more reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="where metrics are served")
    metrics = Metrics()
    serve(metrics, parser.parse_args(arguments).port)
    for line in sys.stdin:
        try:
            metrics.take(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            sys.stderr.write(f"a report is left out: {error!r}\n")
    sys.stderr.write("neuron-monitor reports no more\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
