"""Alarms on real nodes: a deployed file, real Slurm, node_exporter, vmagent, Prometheus as workspace, Alertmanager.

Rules, alert manager, scripts and settings are those of the deployed stacks, asked of the APIs of the local AWS; what
stands in for the service is in ``cdk_trainyard.rehearsal.metrics``. Faults that do not hide one another come side by
side, so that their minutes pass once.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.credentials import Credentials

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import HyperPodMachines
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.hyperpod.clusters import HyperPodClusters
from cdk_trainyard.rehearsal.metrics import DeployedAlarms, Workspace
from tests.deployed import deploy_file
from tests.local.access.test_remote_write import write
from tests.rehearsal.clusters import wait_until_idle
from tests.rehearsal.node_role import started_in
from tests.rehearsal.script_cluster import CONTROLLER, shell

pytestmark = [pytest.mark.nodes, pytest.mark.slow]

REGION = "us-east-1"
SCRAPE_SECONDS = 5
FILE = f"""\
name: monitored
region: {REGION}
network: {{zone: use1-az4}}
storage:
  lustre: {{capacity_gib: 1200}}
orchestrator: hyperpod
alerts: {{emails: [ops@example.com]}}
monitoring:
  scrape_seconds: {SCRAPE_SECONDS}
  alarms:
    NodeDrained: {{minutes: 1}}
    SlurmctldDown: {{minutes: 1}}
    DiskFull: {{minutes: 1}}
    JobsStarving: {{threshold: 60, minutes: 1}}
cluster:
  cluster_name: demo
  lifecycle: {{on_create: on_create.sh}}
  groups:
    controller-group: {{role: controller, instance_type: ml.m5.large, count: 1}}
    worker-group: {{role: compute, instance_type: ml.c5.4xlarge, count: 3}}
"""
IMPATIENT = FILE.replace("  alarms:\n", "  alarms:\n    ExporterDown: {minutes: 1}\n")
"""The same file with one alarm more that is other than in the table."""
MINUTE = 60
PATIENCE = 900
LOOK_SECONDS = 1
FIRST, SECOND = "worker-group-1", "worker-group-2"
MOUNT = """\
[ -e /dev/loop-control ] || mknod -m 600 /dev/loop-control c 10 237
for number in $(seq 0 63); do [ -e "/dev/loop${number}" ] || mknod -m 600 "/dev/loop${number}" b 7 "${number}"; done
truncate --size=32M /dev/shm/scratch.img
mkfs.ext4 -q -F /dev/shm/scratch.img
mkdir --parents /scratch
mount -t ext4 -o loop /dev/shm/scratch.img /scratch
"""
"""A disk of its own: what a node has at ``/`` here is an overlay, of which node_exporter says nothing."""
Ringing = set[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Monitored:
    """A cluster whose metrics are kept, the deployment that it is of, and its workspace."""

    aws: LocalAws
    file: Path
    plane: ControlPlane
    machines: HyperPodMachines
    workspace: Workspace

    def host(self, name: str) -> str:
        return self.machines.machine(name).node.host

    def deploy(self, text: str) -> None:
        """Deploy another content of the file, and let the workspace take what has come of it."""
        self.file.write_text(text)
        deploy_file(self.aws, self.file)
        self.workspace.change(read(self.plane))

    def ends(self, before: int, names: Sequence[str]) -> None:
        """Wait until all of it has ended, and see that each was told once, and to have ended, and nothing else was."""
        self.wait_until_only(set())
        self.wait_for_quiet()
        assert Counter(self.workspace.subjects()[before:]) == told("FIRING", *names) + told("RESOLVED", *names)

    def wait_until_only(self, expected: Ringing) -> None:
        wait(f"{expected or 'silence'}", lambda: self.workspace.ringing() == expected, self.shown)

    def wait_for_quiet(self) -> None:
        """Wait until nothing is pending, nothing rings, and whatever has rung has been told to have ended."""

        def quiet() -> bool:
            words = Counter(subject.split()[0] for subject in self.workspace.subjects())
            return not self.workspace.query("ALERTS") and words["[FIRING]"] == words["[RESOLVED]"]

        wait("quiet", quiet, self.shown)

    def wait_for_messages(self, before: int, count: int) -> Counter[str]:
        wait(f"{count} messages", lambda: len(self.workspace.subjects()) - before >= count, self.shown)
        return Counter(self.workspace.subjects()[before:])

    def shown(self) -> str:
        return f"{self.workspace.ringing()}, {self.workspace.subjects()}, {self.machines.slurm.states()}"


def read(plane: ControlPlane) -> DeployedAlarms:
    clusters = HyperPodClusters(plane)
    alarms = DeployedAlarms.of(plane, clusters.bundles(clusters.cluster()))
    assert alarms
    return alarms


def wait(what: str, question: Any, shown: Any = None) -> None:
    """Wait for a state that a process reads from others: not ten times a second."""
    try:
        wait_for(what, lambda: bool(question()), seconds=PATIENCE, every=LOOK_SECONDS)
    except Exception as error:
        if shown:
            error.add_note(shown())
        raise


@pytest.fixture(scope="module")
def deployed(
    aws: LocalAws, empty_aws: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ControlPlane, Path]]:
    """The file, deployed."""
    del empty_aws
    file = tmp_path_factory.mktemp("file") / "deployment.yaml"
    file.write_text(FILE)
    deploy_file(aws, file)
    with pytest.MonkeyPatch.context() as environment:
        started_in(aws, environment)
        yield ControlPlane(REGION), file


@pytest.fixture(scope="module")
def monitored(aws: LocalAws, image: Path, deployed: tuple[ControlPlane, Path]) -> Iterator[Monitored]:
    """A controller and three workers with metrics, and the workspace that these go to."""
    plane, file = deployed
    clusters = HyperPodClusters(plane)
    cluster = clusters.cluster()
    bundles = clusters.bundles(cluster)
    with HyperPodMachines(cluster, image=image, bundles=bundles, role_of=clusters.role_of(cluster)) as machines:
        machines.boot()
        machines.machine(SECOND).run("sh", "-ec", MOUNT)
        workspace = Workspace(machines.machine(CONTROLLER))
        workspace.open(read(plane))
        ended = machines.provision()
        assert [run.code for run in ended] == [0, 0, 0, 0], "".join(run.output for run in ended)
        wait_until_idle(machines)
        wait("metrics of every node", lambda: len(workspace.query('up{job="node"} == 1')) == len(cluster.nodes))
        wait("metrics of Slurm", lambda: workspace.query("slurm_up == 1"))
        made = Monitored(aws=aws, file=file, plane=plane, machines=machines, workspace=workspace)
        made.wait_for_quiet()
        yield made


def assert_rang_after(workspace: Workspace, name: str, minutes: int) -> None:
    """By the times of its evaluations the alarm was pending while the rule's minutes passed, and rang after them."""

    def found(series: str) -> list[tuple[float, float]]:
        return [sample for _, samples in workspace.samples(series) for sample in samples]

    latest = max(number for _, number in found(f'ALERTS_FOR_STATE{{alertname="{name}"}}'))  # whole seconds
    pending, firing = (
        [second for second, _ in found(f'ALERTS{{alertname="{name}",alertstate="{state}"}}') if second >= latest]
        for state in ("pending", "firing")
    )
    assert max(pending) < min(pending) + minutes * MINUTE <= min(firing)


def told(word: str, *names: str) -> Counter[str]:
    """One message of each; of those that ring it says how many."""
    return Counter(f"[{word}] {name} of demo{' (1)' if word == 'FIRING' else ''}" for name in names)


def test_what_the_service_holds_is_what_was_deployed(deployed: tuple[ControlPlane, Path]) -> None:
    plane, _ = deployed
    alarms = read(plane)
    ((name, rules),) = alarms.rules.items()
    assert name == "trainyard-demo"
    assert 'cluster="demo"' in rules
    (workspace,) = plane.client("amp").list_workspaces()["workspaces"]
    assert workspace["workspaceId"] in alarms.url
    topics = plane.client("sns").list_topics()["Topics"]
    assert any(topic["TopicArn"] in alarms.alert_manager["alertmanager_config"] for topic in topics)


def test_the_controllers_role_alone_may_write(aws: LocalAws, deployed: tuple[ControlPlane, Path]) -> None:
    """What is signed with the credentials of a node, here by botocore."""
    plane, _ = deployed
    cluster, workspace = HyperPodClusters(plane).cluster(), read(plane).url.split("/")[4]
    answers = {}
    for node in cluster.nodes:
        role = cluster.group_of(node).execution_role
        assert role
        made = plane.credentials_of(role, node.instance_id)
        key = Credentials(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
        answers[node.group] = write(aws, workspace, key, region=REGION)[0]
    assert answers == {"controller-group": 200, "worker-group": 403}


def test_metrics_arrive_under_the_names_of_cluster_and_node(monitored: Monitored) -> None:
    workspace, hosts = monitored.workspace, {node.host for node in monitored.machines.cluster.nodes}
    found = workspace.query('up{job="node"}')
    assert {each["metric"]["node"] for each in found} == hosts
    assert {each["metric"]["instance"] for each in found} == hosts
    assert {each["metric"]["cluster"] for each in found} == {"demo"}
    (up,) = workspace.query("slurm_up")
    assert up["metric"]["node"] == monitored.host(CONTROLLER)
    assert workspace.query("slurm_agent_queue_size")
    assert workspace.query("slurm_cpus")
    assert workspace.query('go_goroutines{job="node"}') == []


def test_what_is_at_fault_rings_once_and_ends_when_it_is_mended(monitored: Monitored) -> None:
    """A power cut, a node that is drained, its disk that is full, and a job for which too few nodes are left."""
    machines, workspace, slurm = monitored.machines, monitored.workspace, monitored.machines.slurm
    first, second = monitored.host(FIRST), monitored.host(SECOND)
    monitored.wait_for_quiet()
    before = len(workspace.subjects())
    slurm.mark(second, "drain", "a test of alarms")
    job = slurm.submit("/tmp", "--nodes=3", "--wrap=true", environment={})  # noqa: S108  on a node
    machines.machine(FIRST).crash()
    machines.machine(SECOND).run("dd", "if=/dev/zero", "of=/scratch/full", "bs=1M", check=False)  # until it is full
    names = ("NodeDown", "NodeDrained", "DiskFull", "JobsStarving")
    monitored.wait_until_only(
        {("NodeDown", first), ("NodeDrained", second), ("DiskFull", second), ("JobsStarving", "")}
    )
    assert monitored.wait_for_messages(before, len(names)) == told("FIRING", *names)
    for name in names:
        assert_rang_after(workspace, name, 1)
    topics = {row["TopicArn"] for row in monitored.plane.client("sns").list_topics()["Topics"]}
    assert {message["TopicArn"] for message in workspace.messages()} <= topics
    machines.machine(SECOND).run("rm", "/scratch/full")
    slurm.mark(second, "resume")
    machines.boot([machines.machine(FIRST).node])
    wait("the job", lambda: slurm.is_over(job) == "COMPLETED", monitored.shown)
    monitored.ends(before, names)
    wait_until_idle(machines)


def test_a_daemon_that_is_stopped_rings_alone_by_the_rules_of_the_latest_deployment(monitored: Monitored) -> None:
    """slurmctld, and an exporter whose alarm has other minutes since the file was deployed again."""
    machines, workspace = monitored.machines, monitored.workspace
    monitored.wait_for_quiet()
    before = len(workspace.subjects())
    monitored.deploy(IMPATIENT)
    stopped = ((machines.machine(CONTROLLER), "slurmctld"), (machines.machine(SECOND), "trainyard-node-exporter"))
    for machine, unit in stopped:
        machine.run("systemctl", "stop", unit)
    names = ("SlurmctldDown", "ExporterDown")
    monitored.wait_until_only({("SlurmctldDown", ""), ("ExporterDown", monitored.host(SECOND))})
    assert monitored.wait_for_messages(before, len(names)) == told("FIRING", *names)
    for name in names:
        assert_rang_after(workspace, name, 1)
    for machine, unit in stopped:
        machine.run("systemctl", "start", unit)
    monitored.ends(before, names)
    wait_until_idle(machines)


RACK = [f"rack-{number}" for number in range(1, 19)]


class Told:
    """An alert manager that is told of a cluster of which Prometheus tells nothing, and what comes of it."""

    def __init__(self, monitored: Monitored, cluster: str) -> None:
        self.monitored, self.cluster = monitored, cluster
        self.before = len(monitored.workspace.subjects())
        self.expected: Counter[str] = Counter()

    def is_told(self, name: str, hosts: Sequence[str], word: str, message: str) -> None:
        """Tell it that an alarm rings, or has ended, and see that one message comes of it."""
        now = datetime.now(UTC)
        ends = now + timedelta(days=1) if word == "FIRING" else now
        labels = [{"alertname": name, "cluster": self.cluster, "node": host, "severity": "critical"} for host in hosts]
        self.monitored.workspace.ring([{"labels": each, "endsAt": ends.isoformat()} for each in labels])
        self.expected[message] += 1
        came = self.monitored.wait_for_messages(self.before, self.expected.total())
        assert came == self.expected


def test_a_dead_rack_is_one_message(monitored: Monitored) -> None:
    """Eighteen nodes are down; what else rings on them is muted by the deployed alert manager, on another node not."""
    rack = Told(monitored, "rack")
    rack.is_told("NodeDown", RACK, "FIRING", "[FIRING] NodeDown of rack (18)")
    rack.is_told("DiskFull", [*RACK, "other"], "FIRING", "[FIRING] DiskFull of rack (1)")
    rack.is_told("DiskFull", [*RACK, "other"], "RESOLVED", "[RESOLVED] DiskFull of rack")
    rack.is_told("NodeDown", RACK, "RESOLVED", "[RESOLVED] NodeDown of rack")


def test_what_rings_is_told_again_beside_an_end_that_its_message_did_not_have(monitored: Monitored) -> None:
    """As README says: Prometheus tells of an end for a quarter of an hour, and Alertmanager takes it for a new one."""
    rack = Told(monitored, "again")
    rack.is_told("NodeDown", ["other"], "FIRING", "[FIRING] NodeDown of again (1)")
    rack.is_told("NodeDown", ["other"], "RESOLVED", "[RESOLVED] NodeDown of again")
    rack.is_told("NodeDown", RACK, "FIRING", "[FIRING] NodeDown of again (18)")
    rack.is_told("NodeDown", ["other"], "RESOLVED", "[FIRING] NodeDown of again (18)")
    rack.is_told("NodeDown", RACK, "RESOLVED", "[RESOLVED] NodeDown of again")


AGENT_SAYS = "curl --silent --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8429/metrics"


def agent_counters(monitored: Monitored, *names: str) -> Sequence[float]:
    """Sums of the agent's own counters, now, whether anybody else hears of them or not."""
    lines = shell(monitored.machines.machine(CONTROLLER), AGENT_SAYS).splitlines()
    return [
        sum(float(line.split()[-1]) for line in lines if line.startswith((f"{name}{{", f"{name} "))) for name in names
    ]


SCRAPES = "vm_promscrape_scrapes_total"


def pass_scrapes(monitored: Monitored) -> float:
    """Wait for half a dozen scrapes of every target; return how many the agent has made since it was started."""
    (before,) = agent_counters(monitored, SCRAPES)
    enough = before + 6 * (len(monitored.machines.cluster.nodes) + 1)
    wait("half a minute of scrapes", lambda: agent_counters(monitored, SCRAPES)[0] >= enough)
    return agent_counters(monitored, SCRAPES)[0]


def test_what_cannot_be_written_is_written_later_by_an_agent_that_was_started_again(monitored: Monitored) -> None:
    """An outage of a dozen scrapes of every target: each of its samples arrives, and none is refused or dropped."""
    workspace, controller = monitored.workspace, monitored.machines.machine(CONTROLLER)
    workspace.shut(shut=True)
    begun, (scrapes,) = time.time(), agent_counters(monitored, SCRAPES)
    made = pass_scrapes(monitored) - scrapes
    newest = max(second for _, samples in workspace.samples("up") for second, _ in samples)
    assert newest < time.time() - SCRAPE_SECONDS, "nothing came in"
    controller.run("systemctl", "restart", "trainyard-metrics-agent")
    wait("the agent", lambda: agent_counters(monitored, SCRAPES)[0])
    made += pass_scrapes(monitored)
    ended = time.time()
    workspace.shut(shut=False)

    def arrived() -> int:
        found = workspace.samples("up")
        return sum(begun - 1 <= second <= ended + 1 for _, samples in found for second, _ in samples)

    wait("what was kept", lambda: arrived() >= made, lambda: f"{arrived()} of {made}")
    lost = agent_counters(
        monitored, "vmagent_remotewrite_packets_dropped_total", "vm_persistentqueue_blocks_dropped_total"
    )
    assert lost == [0, 0]
    assert workspace.ringing() == set()
