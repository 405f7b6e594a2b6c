"""Alarms on real nodes: real Slurm, node_exporter, Prometheus as agent and as workspace, Alertmanager; a power cut.

Rules, and what the alert manager is told, come out of the stacks of a deployment file; the agent's configuration is
what the step writes on the controller. Stand-ins: Prometheus for the workspace, a door before it that can be shut, and
a topic that keeps what it is told (`workspace_stand_in`). Debian's build of Prometheus does not sign, so nothing here
is asked for a signature. Shorter than in the template, so that a test ends: how long the alert manager waits.
"""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App
from aws_cdk.assertions import Template

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.lifecycle import Exporters, GroupRole, MetricsAgent, NodeGroup, NodeLustre, NodeSettings, NodeSetup
from cdk_trainyard.lifecycle.bundle import default_folders, read_bundle
from cdk_trainyard.lifecycle.settings import SETTINGS_FILE, USERS_FILE
from cdk_trainyard.lifecycle.spec import SlurmTopology
from cdk_trainyard.rehearsal import HyperPodMachines, LifecycleConfig, Machine
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.nodes import NodeFile
from stacks import build_stacks
from tests.monitoring.test_workspace import only, text
from tests.rehearsal import workspace_stand_in as stand_in
from tests.rehearsal.clusters import SYSTEM, make_cluster, wait_until_idle
from tests.rehearsal.script_cluster import CONTROLLER, FIRST, SECOND, SOURCE, USERS, shell

pytestmark = pytest.mark.nodes

ENTRY = "monitored.sh"
ONLY_METRICS = b"""\
#!/bin/bash
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
source "${here}/lib/steps.sh"
provision "${here}" network lustre users exporters metrics_agent slurm
"""
FILE = """\
name: monitored
region: us-east-1
account: "111111111111"
network: {zone: use1-az4}
storage:
  lustre: {capacity_gib: 1200}
orchestrator: hyperpod
alerts: {emails: [ops@example.com]}
monitoring:
  scrape_seconds: 5
  alarms:
    NodeDrained: {minutes: 1}
    SlurmctldDown: {minutes: 1}
    ExporterDown: {minutes: 5}
cluster:
  cluster_name: demo
  lifecycle: {on_create: on_create.sh}
  groups:
    controller-group: {role: controller, instance_type: ml.m5.large, count: 1}
    worker-group: {role: compute, instance_type: ml.c5.4xlarge, count: 2}
"""
KEY = "[Service]\nEnvironment=AWS_ACCESS_KEY_ID=AKIATEST AWS_SECRET_ACCESS_KEY=test\n"
"""Without credentials Prometheus does not start, whether it signs or not."""
SERVER = {
    "global": {"evaluation_interval": "15s"},
    "rule_files": ["/root/rules.yml"],
    "alerting": {"alertmanagers": [{"static_configs": [{"targets": ["127.0.0.1:9093"]}]}]},
}
PROGRAMS = {
    "stand-in": "/usr/bin/python3 /root/workspace_stand_in.py",
    "workspace": (
        "/usr/bin/prometheus --config.file=/root/server.yml --storage.tsdb.path=/root/metrics "
        "--web.listen-address=127.0.0.1:9091 --web.enable-remote-write-receiver"
    ),
    "manager": (
        "/usr/bin/prometheus-alertmanager --config.file=/root/alertmanager.yml --storage.path=/root/manager "
        "--web.listen-address=127.0.0.1:9093 --cluster.listen-address="
    ),
}
PATIENCE = 900


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    path = tmp_path_factory.mktemp("file") / "deployment.yaml"
    path.write_text(FILE)
    return Template.from_stack(build_stacks(App(), Deployment.load(path))[-1])


def bundle(agent: MetricsAgent) -> Mapping[str, bytes]:
    settings = NodeSettings(
        groups=[
            NodeGroup(name="controller-group", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"]),
            NodeGroup(name="worker-group", role=GroupRole.COMPUTE, instance_types=["ml.c5.4xlarge"]),
        ],
        lustre=NodeLustre(dns_name=SYSTEM.dns_name, mount_name=SYSTEM.mount_name),
        setup=NodeSetup(exporters=Exporters(), metrics_agent=agent, job_hooks=False),
    )
    rendered = settings.render(topology=SlurmTopology.API_DRIVEN, users_file=USERS_FILE)
    files = {file.name: file.data for file in read_bundle(*default_folders()).files}
    return files | {
        ENTRY: ONLY_METRICS,
        SETTINGS_FILE: json.dumps(rendered).encode(),
        USERS_FILE: USERS.encode(),
    }


def furnish(controller: Machine, template: Template) -> None:
    """Put the workspace on the controller, with what the stack gives it."""
    workspace = only(template, "AWS::APS::Workspace")["Properties"]
    rules = only(template, "AWS::APS::RuleGroupsNamespace")["Properties"]["Data"]
    definition = yaml.safe_load(text(workspace["AlertManagerDefinition"]))
    manager = yaml.safe_load(definition["alertmanager_config"])
    manager["route"] |= {"group_wait": "5s", "group_interval": "15s"}
    for receiver in manager["receivers"]:
        for topic in receiver["sns_configs"]:
            topic["api_url"] = f"http://127.0.0.1:{stand_in.TOPIC}"
            topic["topic_arn"] = "arn:aws:sns:us-east-1:111111111111:alarms"
            topic["sigv4"] |= {"access_key": "AKIATEST", "secret_key": "test"}
    files = {
        "/root/workspace_stand_in.py": Path(stand_in.__file__).read_text(),
        "/root/server.yml": json.dumps(SERVER),
        "/root/rules.yml": rules,
        "/root/alertmanager.yml": json.dumps(manager),
        **{f"/root/{name}": content for name, content in definition["template_files"].items()},
        "/etc/systemd/system/trainyard-metrics-agent.service.d/key.conf": KEY,
    }
    for name, content in files.items():
        controller.write(name, NodeFile(text=content))
    for name, command in PROGRAMS.items():
        controller.run("systemd-run", "--quiet", f"--unit={name}", "--property=Restart=always", *command.split())


@pytest.fixture(scope="module")
def machines(image: Path, template: Template) -> Iterator[HyperPodMachines]:
    """A controller and two workers with metrics, and the workspace that these go to."""
    agent = MetricsAgent(
        url=f"http://127.0.0.1:{stand_in.DOOR}/workspaces/ws-1/api/v1/remote_write",
        region="us-east-1",
        cluster="demo",
        scrape_seconds=5,
    )
    cluster = make_cluster(2, lifecycle=LifecycleConfig(source=SOURCE, on_create=ENTRY))
    with HyperPodMachines(cluster, image=image, bundles={SOURCE: bundle(agent)}) as made:
        made.boot()
        furnish(made.machine(CONTROLLER), template)
        ended = made.provision()
        assert [run.code for run in ended] == [0, 0, 0], "".join(run.output for run in ended)
        wait_until_idle(made)
        wait("metrics of every node", lambda: len(query(made, 'up{job="node"} == 1')) == 3)
        yield made


def wait(what: str, question: Any, seconds: float = PATIENCE) -> None:
    wait_for(what, lambda: bool(question()), seconds=seconds)


def query(machines: HyperPodMachines, asked: str) -> list[dict[str, Any]]:
    """What the workspace answers, without the time."""
    command = ["curl", "--silent", "--get", "http://127.0.0.1:9091/api/v1/query", "--data-urlencode", f"query={asked}"]
    told = machines.machine(CONTROLLER).run(*command, check=False).out
    return list(json.loads(told)["data"]["result"]) if told else []


def messages(machines: HyperPodMachines) -> list[str]:
    """The subjects of what the topic was told."""
    lines = shell(machines.machine(CONTROLLER), "cat /root/messages").splitlines()
    return [json.loads(line)["Subject"] for line in lines]


def ringing(machines: HyperPodMachines) -> set[tuple[str, str]]:
    found = query(machines, 'ALERTS{alertstate="firing"}')
    return {(each["metric"]["alertname"], each["metric"].get("node", "")) for each in found}


def test_metrics_arrive_under_the_names_of_cluster_and_node(machines: HyperPodMachines) -> None:
    hosts = {node.host for node in machines.cluster.nodes}
    found = query(machines, 'up{job="node"}')
    assert {each["metric"]["node"] for each in found} == hosts
    assert {each["metric"]["instance"] for each in found} == hosts
    assert {each["metric"]["cluster"] for each in found} == {"demo"}
    (up,) = query(machines, "slurm_up")
    assert up["metric"]["node"] == machines.machine(CONTROLLER).node.host
    assert query(machines, "slurm_agent_queue_size")
    assert query(machines, "slurm_cpus")
    assert query(machines, 'go_goroutines{job="node"}') == []


def test_a_power_cut_rings_once_and_ends_when_the_node_is_back(machines: HyperPodMachines) -> None:
    worker = machines.machine(FIRST)
    wait("silence", lambda: ringing(machines) == set())
    before = len(messages(machines))
    worker.crash()
    wait("the alarm", lambda: ("NodeDown", worker.node.host) in ringing(machines))
    wait("the message", lambda: len(messages(machines)) > before)
    assert messages(machines)[before:] == ["[FIRING] NodeDown of demo (1)"]
    assert ringing(machines) == {("NodeDown", worker.node.host)}
    machines.boot([worker.node])
    wait_until_idle(machines, [worker.node])
    wait("the end of the alarm", lambda: ringing(machines) == set())
    wait("the message of the end", lambda: len(messages(machines)) > before + 1)
    assert messages(machines)[before:] == ["[FIRING] NodeDown of demo (1)", "[RESOLVED] NodeDown of demo (1)"]


def test_a_drained_node_rings_until_it_is_resumed(machines: HyperPodMachines) -> None:
    host, before = machines.machine(SECOND).node.host, len(messages(machines))
    machines.slurm.controller.run("scontrol", "update", f"NodeName={host}", "State=DRAIN", "Reason=a test of alarms")
    wait("the alarm", lambda: ringing(machines) == {("NodeDrained", host)})
    machines.slurm.controller.run("scontrol", "update", f"NodeName={host}", "State=RESUME")
    wait("the end of the alarm", lambda: ringing(machines) == set())
    wait("both messages", lambda: len(messages(machines)) == before + 2)
    assert messages(machines)[before:] == ["[FIRING] NodeDrained of demo (1)", "[RESOLVED] NodeDrained of demo (1)"]


def test_a_slurmctld_that_is_stopped_rings_alone(machines: HyperPodMachines) -> None:
    controller, before = machines.machine(CONTROLLER), len(messages(machines))
    controller.run("systemctl", "stop", "slurmctld")
    wait("the alarm", lambda: ringing(machines) == {("SlurmctldDown", "")})
    controller.run("systemctl", "start", "slurmctld")
    wait("the end of the alarm", lambda: ringing(machines) == set())
    wait("both messages", lambda: len(messages(machines)) == before + 2)
    assert {subject.split()[1] for subject in messages(machines)[before:]} == {"SlurmctldDown"}
    wait_until_idle(machines)


def test_what_cannot_be_written_is_written_later(machines: HyperPodMachines) -> None:
    """Nothing is lost while the workspace does not answer."""
    controller = machines.machine(CONTROLLER)
    controller.run("touch", "/run/shut")
    shut, began = 90, time.time()
    time.sleep(shut)  # the fault itself
    controller.run("rm", "/run/shut")
    samples = f'count_over_time(up{{job="node"}}[{shut}s] @ {began + shut:.0f})'
    expected = shut / 5 / 2  # a busy machine misses a look; what was not kept would be all of them
    wait(
        "what was kept",
        lambda: len(found := query(machines, samples)) == 3 and all(int(each["value"][1]) > expected for each in found),
    )


def test_an_exporter_that_is_stopped_rings(machines: HyperPodMachines) -> None:
    worker = machines.machine(SECOND)
    worker.run("systemctl", "stop", "trainyard-node-exporter")
    wait("the alarm", lambda: ringing(machines) == {("ExporterDown", worker.node.host)})
    worker.run("systemctl", "start", "trainyard-node-exporter")
    wait("the end of the alarm", lambda: ringing(machines) == set())
