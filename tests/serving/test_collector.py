"""The collector beside the engine: what it prints is what CloudWatch makes metrics of."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cdk_trainyard.lifecycle import scripts_folder

SCRIPT = scripts_folder() / "ecs" / "collector.py"
METRICS = """# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="llama"} 3.0
vllm:num_requests_waiting{engine="1",model_name="llama"} 2.0
vllm:num_requests_running{engine="0",model_name="llama"} 4.0
"""


class Engine(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(METRICS.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Stay silent."""


@pytest.fixture
def url() -> Iterator[str]:
    """The metrics of an engine that runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/metrics"
    server.shutdown()
    server.server_close()


def first_line(url: str) -> dict[str, object]:
    """Start it as the task definition does, and read what it prints first."""
    command = [
        sys.executable, "-u", "-c", SCRIPT.read_text(), url, "60", "Space", "chat",
        "vllm:num_requests_waiting", "RequestsWaiting", "vllm:num_requests_running", "RequestsRunning",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        running.kill()
    return dict(json.loads(line))


def test_the_queue_becomes_a_metric(url: str) -> None:
    found = first_line(url)
    assert (found["Service"], found["Up"], found["RequestsWaiting"], found["RequestsRunning"]) == ("chat", 1, 5, 4)
    described = found["_aws"]
    assert isinstance(described, dict)
    assert described["CloudWatchMetrics"] == [
        {
            "Namespace": "Space",
            "Dimensions": [["Service"]],
            "Metrics": [{"Name": name, "Unit": "Count"} for name in ("Up", "RequestsWaiting", "RequestsRunning")],
        }
    ]
    assert isinstance(described["Timestamp"], int)


def test_an_engine_that_loads_is_not_up() -> None:
    found = first_line("http://127.0.0.1:9/metrics")
    assert found["Up"] == 0
    assert "RequestsWaiting" not in found
