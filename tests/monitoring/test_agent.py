"""What the agent's step writes, with Slurm and without, as vmagent judges it."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.lifecycle import Exporters, MetricsAgent
from cdk_trainyard.monitoring.nodes import node_settings
from cdk_trainyard.node_scripts import scripts_folder
from tests.monitoring import promtool

REGION = "us-east-1"
URL = f"https://aps-workspaces.{REGION}.amazonaws.com/workspaces/ws-1/api/v1/remote_write"
ASK = """
step() { :; }
source "${BUNDLE}/lib/steps/exporters.sh"
source "${BUNDLE}/lib/steps/metrics_agent.sh"
asked=$1
shift
for setting in "$@"; do NODE[${setting%%=*}]=${setting#*=}; done
metrics_agent_is_wanted || exit 3
"${asked}"
"""


def asked(
    what: str = "metrics_agent_configuration", *, alone: bool, **node: object
) -> subprocess.CompletedProcess[str]:
    """Run the step's function on a node with these facts."""
    agent = MetricsAgent(url=URL, region=REGION, cluster="demo", alone=alone)
    exporters = Exporters(slurm=not alone, neuron=True, gpu=True)
    facts = {**node_settings(exporters, agent, []), "neuron_devices": 0, "gpus": 0, "efa_interfaces": 0, **node}
    words = [f"{name}={value}" for name, value in facts.items()]
    environment = {"PATH": "/usr/bin:/bin", "ROOT": "", "BUNDLE": str(scripts_folder()), "HOST": "head"}
    command = ["bash", "-Eeuo", "pipefail", "-c", ASK, "ask", what, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def kept() -> re.Pattern[str]:
    """What the agent keeps of its own metrics."""
    content = yaml.safe_load(asked(alone=True, role="worker", instance="i-1").stdout)
    (rule,) = content["scrape_configs"][0]["metric_relabel_configs"]
    assert rule["action"] == "keep"
    return re.compile(str(rule["regex"]))


def jobs(told: str, folder: Path) -> Mapping[str, Any]:
    """The jobs of a configuration that vmagent takes: what it does not know it refuses."""
    path = folder / "scrape.yml"
    path.write_text(told)
    done = promtool.run("vmagent", "-dryRun", f"-promscrape.config={path}")
    assert done.returncode == 0, done.stdout + done.stderr
    content = yaml.safe_load(told)
    assert content["global"]["external_labels"] == {"cluster": "demo"}
    return {job["job_name"]: job for job in content["scrape_configs"]}


def test_the_agent_of_a_cluster_asks_what_slurm_names(tmp_path: Path) -> None:
    found = jobs(asked(alone=False, role="controller").stdout, tmp_path)
    assert found["nodes"]["file_sd_configs"][0]["files"] == ["/var/lib/trainyard/targets/nodes.json"]
    assert "static_configs" not in found["nodes"]
    assert found["agent"]["static_configs"][0]["labels"] == {"node": "head", "instance": "head"}


@pytest.mark.parametrize(
    ("devices", "ports"),
    [
        ({}, {"node": 9100}),
        ({"neuron_devices": 16}, {"node": 9100, "neuron": 8000}),
        ({"gpus": 8}, {"node": 9100, "gpu": 9400}),
    ],
)
def test_an_agent_without_slurm_asks_what_its_own_node_has(
    devices: dict[str, int], ports: dict[str, int], tmp_path: Path
) -> None:
    found = jobs(asked(alone=True, role="worker", instance="i-1", **devices).stdout, tmp_path)
    assert found["agent"]["static_configs"][0]["labels"] == {"node": "i-1", "instance": "i-1"}
    assert found["nodes"]["static_configs"] == [
        {"targets": [f"127.0.0.1:{port}"], "labels": {"job": name, "node": "i-1"}} for name, port in ports.items()
    ]
    assert "file_sd_configs" not in found["nodes"]


@pytest.mark.parametrize(("alone", "role", "code"), [(False, "compute", 3), (True, "master", 0), (True, "worker", 0)])
def test_who_runs_an_agent(alone: bool, role: str, code: int) -> None:
    assert asked(alone=alone, role=role, instance="i-1").returncode == code


def test_it_speaks_prometheus_protocol_signed_and_keeps_an_hour_on_disk() -> None:
    unit = asked("metrics_agent_unit", alone=False, role="controller").stdout
    (started,) = re.findall(r"^ExecStart=\S+/vmagent-prod (.*)$", unit, re.MULTILINE)
    flags = dict(word.removeprefix("-").split("=", 1) for word in started.split())
    assert {name.partition(".")[2]: said for name, said in flags.items() if name.startswith("remoteWrite.")} == {
        "url": URL,
        "aws.useSigv4": "true",
        "aws.region": REGION,
        "forcePromProto": "true",
        "queues": "1",
        "tmpDataPath": "/var/lib/trainyard-metrics-agent",
        "maxDiskUsagePerURL": "4GB",
    }
    assert "StateDirectory=trainyard-metrics-agent\n" in unit


def test_it_is_root_as_head_nodes_of_parallelcluster_demand_and_can_do_nothing_more() -> None:
    unit = asked("metrics_agent_unit", alone=False, role="controller").stdout.splitlines()
    assert not [line for line in unit if line.startswith(("User=", "DynamicUser="))]
    assert {"CapabilityBoundingSet=", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes"} <= set(unit)
