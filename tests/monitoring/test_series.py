"""How many series exporters give is counted again: of programs that run here, and of recorded output."""

import re
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Generator
from datetime import date
from pathlib import Path

import pytest

from cdk_trainyard.data_files import load as data
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.lifecycle import scripts_folder
from cdk_trainyard.monitoring import MetricsSource
from cdk_trainyard.monitoring.series import series_of_cluster, series_of_node
from tests.lifecycle_scripts.programs import load
from tests.lifecycle_scripts.test_metrics import LCTL, answer, make_device
from tests.monitoring import promtool
from tests.monitoring.test_emitted import EMITTED, neuron_text

COUNTS = data("monitoring", "series")


def series(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def served(log: Path, program: str, *words: str) -> Generator[str]:
    """What a program serves again and again, at the port that it has taken, and says in its log."""
    command = [promtool.tool(program), *words, "--web.listen-address=127.0.0.1:0"]
    with log.open("w") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            while not (found := re.search(r'msg="Listening on".*? address=(\S+)', log.read_text())):
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            while process.poll() is None:
                with urllib.request.urlopen(f"http://{found[1]}/metrics") as said:
                    yield said.read().decode()
        finally:
            process.terminate()


def dropped() -> re.Pattern[str]:
    """What the agent drops, as its step says."""
    step = (scripts_folder() / "lib/steps/metrics_agent.sh").read_text()
    (found,) = re.findall(r'regex: "(.*)"\n\s*action: drop', step)
    return re.compile(str(found))


@pytest.mark.programs
def test_node_exporter_gives_as_many_as_are_counted(tmp_path: Path) -> None:
    """How many processors, disks and interfaces there are is this machine's; how many series each has is not."""
    served_now = served(tmp_path / "log", "prometheus-node-exporter")
    kept = [line for line in series(next(served_now)) if not dropped().match(line)]
    served_now.close()
    of: dict[str, Counter[str]] = {}
    for line in kept:
        known = re.match(r'node_(cpu|disk|filesystem|network)_\w+\{.*?(?:cpu|device)="([^"]*)"', line)
        of.setdefault(known[1] if known else "node", Counter())[known[2] if known else ""] += 1
    counted = COUNTS["node"]
    assert set(of["cpu"].values()) <= {counted["vcpu"], counted["vcpu"] + 1, counted["vcpu"] + 2}  # of bare metal
    for kind, name in (("disk", "disk"), ("network", "interface"), ("filesystem", "mount")):
        for device, number in of.get(kind, Counter()).items():
            mounts = sum(1 for line in kept if line.startswith(f'node_filesystem_readonly{{device="{device}"'))
            expected = counted[name] * (mounts if kind == "filesystem" else 1)
            assert number <= expected * 1.25, (kind, device, number)
    assert counted["node"] * 0.5 <= of["node"][""] <= counted["node"] * 2


def test_our_own_programs_give_what_is_counted(tmp_path: Path) -> None:
    assert len(series(load("lib/slurm_metrics.py").collect(answer))) == COUNTS["slurm"]["cluster"]
    assert len(series(load("lib/lustre_metrics.py").collect(LCTL))) == COUNTS["lustre"]["node"]
    neuron = COUNTS["neuron"]
    assert len(series(neuron_text())) == neuron["node"] + neuron["device"] + 2 * neuron["core"]
    names = (EMITTED / "efa.counters").read_text().splitlines()[1:]
    for device in ("rdmap0", "rdmap1"):
        make_device(tmp_path, device, "efa", dict.fromkeys(names, "1"))
    assert len(series(load("lib/efa_metrics.py").collect(tmp_path))) == COUNTS["efa"]["node"] + 2 * COUNTS["efa"]["efa"]


def test_counts_say_when_and_how() -> None:
    assert date.fromisoformat(COUNTS["date"])
    assert len(COUNTS["counted"]) > 100
    assert {source.value for source in MetricsSource} <= set(COUNTS)


def test_a_node_gives_what_its_hardware_gives() -> None:
    everything = list(MetricsSource)
    large, trn1, p5 = (InstanceType.of(name) for name in ("m5.large", "trn1.32xlarge", "p5.48xlarge"))
    plain = [MetricsSource.NODE]
    assert series_of_node(trn1, plain) - series_of_node(large, plain) == (128 - 2) * COUNTS["node"]["vcpu"]
    assert series_of_node(trn1, [MetricsSource.EFA]) == 1 + 8 * COUNTS["efa"]["efa"] + COUNTS["target"]
    neuron = COUNTS["neuron"]
    assert series_of_node(trn1, [MetricsSource.NEURON]) == (
        neuron["node"] + 16 * neuron["device"] + 32 * neuron["core"] + 2 * COUNTS["target"]
    )
    assert series_of_node(p5, [MetricsSource.GPU]) == 8 * COUNTS["gpu"]["device"] + 2 * COUNTS["target"]
    assert series_of_node(large, everything) < series_of_node(p5, everything)
    assert series_of_cluster([]) == COUNTS["agent"]["cluster"] + COUNTS["target"]
    assert series_of_cluster(everything) == series_of_cluster([]) + COUNTS["slurm"]["cluster"]
