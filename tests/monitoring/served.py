"""A real Prometheus that holds ten minutes of what every exporter gives."""

import json
import re
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdk_trainyard.monitoring.spec import MetricsSource
from tests.monitoring import promtool
from tests.monitoring.test_emitted import Series, emitted

SOURCES = ("agent", *MetricsSource)
MINUTE = 60


@dataclass(frozen=True)
class Ask:
    """A Prometheus that answers.

    Attributes:
        address: Where.
        now: When its last samples were taken, in seconds.
    """

    address: str
    now: int

    def __call__(self, query: str) -> list[Any]:
        return self.result("query", query=query, time=self.now)

    def result(self, api: str, **words: object) -> list[Any]:
        with urllib.request.urlopen(f"{self.address}/api/v1/{api}?{urllib.parse.urlencode(words)}") as said:  # noqa: S310  on this machine
            found: list[Any] = json.load(said)["data"]["result"]
        return found


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


@contextmanager
def prometheus(folder: Path) -> Iterator[Ask]:
    """Run it, with its data in a folder."""
    until = int(time.time())
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
    ask = Ask(f"http://{found[1]}", now)
    while process.poll() is None:
        try:
            ask("vector(1)")
        except OSError:
            time.sleep(0.1)
        else:
            return ask
    raise AssertionError("Prometheus ended")
