"""ParallelCluster's nodes: custom actions as they are called, the Neuron installer against stubs of its repository."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.lifecycle import Exporters, MetricsAgent
from cdk_trainyard.local import LocalAws
from cdk_trainyard.monitoring.nodes import node_settings
from cdk_trainyard.rehearsal import Machine, Machines, RehearsalError
from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.agent import run_unit
from cdk_trainyard.rehearsal.nodes import NodeFile
from cdk_trainyard.rehearsal.parallelcluster import neuron
from cdk_trainyard.rehearsal.parallelcluster.agent import ParallelClusterAgent
from cdk_trainyard.rehearsal.parallelcluster.clusters import HEAD
from cdk_trainyard.rehearsal.parallelcluster.neuron import Repositories, make_repositories
from cdk_trainyard.versions import pinned_release
from tests.rehearsal.pcluster_parts import (
    FOLDER,
    QUEUE,
    actions,
    booted,
    bundle,
    config_with_neuron,
    install,
    node,
    of_folder,
    text,
    upload,
)

pytestmark = pytest.mark.nodes

PINS = pinned_release("parallelcluster")
AGENT = MetricsAgent(url="http://127.0.0.1:9091/api/v1/write", region="us-west-2", cluster="demo", scrape_seconds=5)
"""Of a workspace for which Prometheus stands on the head node, and which looks at no signature."""
WORKSPACE = (
    "/usr/bin/prometheus --config.file=/root/server.yml --storage.tsdb.path=/root/metrics "
    "--web.listen-address=0.0.0.0:9091 --web.enable-remote-write-receiver"
)
KEPT = "/var/lib/trainyard-metrics-agent/kept"
AS_ANOTHER_USER = (
    "systemd-run", "--quiet", "--wait", "--property=DynamicUser=yes",
    "--property=StateDirectory=trainyard-metrics-agent",
)  # fmt: skip
"""As an earlier unit of the agent ran."""
NOTE = '#!/bin/bash\nprintf "%s\\n" "${0##*/}" "$@" >>/root/ran\n'


def metrics_words(agent: MetricsAgent | None) -> list[str]:
    return [f"{name}={value}" for name, value in node_settings(Exporters(), agent, []).items()]


@pytest.fixture(scope="module")
def repositories(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Repositories:
    return make_repositories(image, bundle(), "ubuntu2204", tmp_path_factory.mktemp("repositories"))


def test_a_stub_is_made_of_every_pin(repositories: Repositories) -> None:
    debs = sorted(path.stem for path in repositories.packages.glob("pool/*.deb"))
    assert debs == [
        *(f"aws-neuronx-collectives_{PINS.collectives}", "aws-neuronx-collectives_99.0"),
        *(f"aws-neuronx-dkms_{PINS.driver}", "aws-neuronx-dkms_99.0"),
        *(f"aws-neuronx-runtime-lib_{PINS.runtime}", "aws-neuronx-runtime-lib_99.0"),
        *(f"aws-neuronx-tools_{PINS.tools}", "aws-neuronx-tools_99.0"),
    ]
    assert sorted(path.name for path in repositories.directory.glob("pip/*")) == ["neuronx-cc", "torch-neuronx"]


def test_fails_where_nothing_is_pinned(image: Path, tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="nothing is pinned"):
        make_repositories(image, {neuron.SCRIPT: b"NEURON_DRIVER=()\n"}, "ubuntu2204", tmp_path)


@pytest.fixture(scope="module")
def machines(aws: LocalAws, image: Path, repositories: Repositories) -> Iterator[Machines[ParallelClusterAgent]]:
    """A head node and a Trainium node, up; nothing has run on them."""
    upload(aws, repositories, **{"note.sh": NOTE, "fail.sh": "#!/bin/sh\nexit 7\n"})
    head = {
        "CustomActions": {
            "OnNodeStart": actions(("note.sh", ["first", "with space"]), ("note.sh", ["second"])),
            "OnNodeConfigured": actions(("note.sh", ["third"]), ("fail.sh", []), ("note.sh", ["never"])),
            "OnNodeUpdated": actions(of_folder("metrics.sh", *metrics_words(AGENT))),
        },
    }
    config = config_with_neuron("ubuntu2204", head, of_folder("metrics.sh", *metrics_words(None)))
    with booted(aws, image, node(HEAD, 1, 10), node(QUEUE, 1, 11), config=config, sites=repositories.sites) as made:
        yield made


@pytest.fixture
def head(machines: Machines[ParallelClusterAgent]) -> Machine:
    return machines.machine(f"{HEAD}-1")


@pytest.fixture
def worker(machines: Machines[ParallelClusterAgent]) -> Machine:
    return machines.machine(f"{QUEUE}-1")


def forget(machine: Machine) -> None:
    """Take away what the installer has installed."""
    left = "/dev/neuron* /etc/apt/keyrings/neuron.asc /etc/apt/sources.list.d/neuron.list"
    machine.run("sh", "-c", f"apt-get purge --yes 'aws-neuronx-*' >/dev/null 2>&1; rm -rf {left}")


# ---------------------------------------------------------------- custom actions
def test_actions_run_in_order_with_their_arguments(machines: Machines[ParallelClusterAgent], head: Machine) -> None:
    assert machines.agent.run_actions(head, "-preinstall").code == 0
    words = [line for line in text(head, "/root/ran").splitlines() if not line.startswith("tmp")]
    assert words == ["first", "with space", "second"]


def test_the_first_action_that_fails_ends_it(machines: Machines[ParallelClusterAgent], head: Machine) -> None:
    ended = machines.agent.run_actions(head, "-postinstall")
    assert ended.code == 1
    assert f"Failed to execute OnNodeConfigured script 2 {FOLDER}/fail.sh, return code: 7." in ended.output
    assert "never" not in text(head, "/root/ran")


def test_a_script_that_cannot_be_fetched_is_named(machines: Machines[ParallelClusterAgent], head: Machine) -> None:
    """As ParallelCluster does, before any other runs."""
    path = "/opt/parallelcluster/shared/cluster-config.yaml"
    kept = text(head, path)
    head.write(path, NodeFile(text=kept.replace("fail.sh", "none.sh").replace("third", "before")))
    ended = machines.agent.run_actions(head, "-postinstall")
    head.write(path, NodeFile(text=kept))
    assert f"Failed to download OnNodeConfigured script 2 {FOLDER}/none.sh" in ended.output
    assert "before" not in text(head, "/root/ran")


# ---------------------------------------------------------------- the Neuron installer
def test_the_installer_brings_driver_and_runtime(machines: Machines[ParallelClusterAgent], worker: Machine) -> None:
    assert not (worker.root / "dev/neuron0").exists()
    ended = machines.agent.run_actions(worker, "-postinstall")
    assert ended.code == 0, ended.output
    listed = worker.run("dpkg-query", "--show", "--showformat=${Package}=${Version} ", "aws-neuronx-*").out.split()
    assert listed == [
        f"aws-neuronx-collectives={PINS.collectives}-rehearsal",
        f"aws-neuronx-dkms={PINS.driver}-rehearsal",
        f"aws-neuronx-runtime-lib={PINS.runtime}-rehearsal",
        f"aws-neuronx-tools={PINS.tools}-rehearsal",
    ]
    assert worker.run("sh", "-c", "ls /dev/neuron* | wc -l").out.strip() == "16"
    assert "deb [signed-by=/etc/apt/keyrings/neuron.asc] https://apt.repos.neuron.amazonaws.com jammy main" in text(
        worker, "/etc/apt/sources.list.d/neuron.list"
    )


def test_the_second_run_changes_nothing(worker: Machine) -> None:
    before = worker.run("stat", "--format=%y", "/etc/apt/keyrings/neuron.asc", "/var/lib/dpkg/status").out
    ended = install(worker)
    assert ended.code == 0, ended.output
    assert ended.output.count("nothing to do") == 4
    assert worker.run("stat", "--format=%y", "/etc/apt/keyrings/neuron.asc", "/var/lib/dpkg/status").out == before


@pytest.fixture
def bare(worker: Machine, repositories: Repositories) -> Iterator[Machine]:
    """A node without anything of Neuron's; afterwards the repository is as it was, and the installer succeeds."""
    forget(worker)
    kept = {path: path.read_bytes() for path in (repositories.key, *repositories.packages.glob("dists/*/InRelease"))}
    yield worker
    for path, data in kept.items():
        path.write_bytes(data)
    ended = install(worker)
    assert ended.code == 0, ended.output


def test_a_missing_key_is_named(bare: Machine, repositories: Repositories) -> None:
    repositories.key.unlink()
    ended = install(bare)
    assert ended.code != 0
    assert "waited in vain for Neuron's key" in ended.output
    assert "the subnet has no way to *.repos.neuron.amazonaws.com" in ended.output
    assert bare.run("dpkg-query", "--show", "aws-neuronx-*", check=False).code != 0


def test_another_key_is_refused_before_it_is_trusted(
    bare: Machine, repositories: Repositories, image: Path, tmp_path: Path
) -> None:
    other = make_repositories(image, bundle(), "ubuntu2204", tmp_path)
    repositories.key.write_bytes(other.key.read_bytes())
    ended = install(bare)
    assert ended.code != 0
    assert f"is {other.fingerprint}, and must be {repositories.fingerprint}; nothing was installed" in ended.output
    assert not (bare.root / "etc/apt/keyrings/neuron.asc").exists()


def test_a_repository_that_is_down_is_named(bare: Machine, repositories: Repositories) -> None:
    (release,) = repositories.packages.glob("dists/*/InRelease")
    release.unlink()
    ended = install(bare)
    assert ended.code != 0
    assert "waited in vain for Neuron's repository" in ended.output


def test_a_repository_that_was_tampered_with_is_refused(bare: Machine, repositories: Repositories) -> None:
    (release,) = repositories.packages.glob("dists/*/InRelease")
    release.write_text(release.read_text().replace("Origin: rehearsal", "Origin: somebody"))
    ended = install(bare)
    assert ended.code != 0
    assert bare.run("dpkg-query", "--show", "aws-neuronx-*", check=False).code != 0


# ---------------------------------------------------------------- metrics
def query(head: Machine, asked: str) -> list[dict[str, Any]]:
    """What the workspace answers, without the time."""
    command = ["curl", "--silent", "--get", "http://127.0.0.1:9091/api/v1/query", "--data-urlencode", f"query={asked}"]
    told = head.run(*command, check=False).out
    return [each["metric"] for each in json.loads(told)["data"]["result"]] if told else []


def named(found: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(each["cluster"], each["node"], each["instance"]) for each in found}


@pytest.fixture(scope="module")
def measured(machines: Machines[ParallelClusterAgent]) -> Machine:
    """The head node with Slurm and the agent, beside a workspace; the worker gives metrics, and is powered down."""
    head, worker = (machines.machine(f"{name}-1") for name in (HEAD, QUEUE))
    head.run("systemctl", "start", "munge", "slurmctld")
    head.write("/root/server.yml", NodeFile(text="{}"))
    head.run(*AS_ANOTHER_USER, "touch", KEPT)
    head.run("systemd-run", "--quiet", "--unit=workspace", "--property=Restart=always", *WORKSPACE.split())
    for machine, event in ((worker, "-postinstall"), (head, "-postupdate")):
        ended = machines.agent.run_actions(machine, event)
        assert ended.code == 0, ended.output
    return head


def test_vmagent_takes_the_agents_configuration(measured: Machine) -> None:
    told = measured.run("vmagent", "-dryRun", "-promscrape.config=/opt/trainyard/metrics-agent/scrape.yml")
    assert "all the configs are ok" in told.out + told.err


def test_what_an_agent_with_another_user_left_belongs_to_root(measured: Machine) -> None:
    assert measured.run("stat", "--format=%U", KEPT).out.strip() == "root"
    assert not (measured.root / KEPT.strip("/")).parent.is_symlink()


def test_metadata_of_the_head_node_are_for_root_and_the_default_user_alone(head: Machine, worker: Machine) -> None:
    ask = ["curl", "--silent", "--fail", "--request", "PUT", "--header", "X-aws-ec2-metadata-token-ttl-seconds: 60"]
    ask += ["http://169.254.169.254/latest/api/token"]
    for machine, user, reached in (
        (head, "root", True), (head, "ubuntu", True), (head, "nobody", False), (worker, "nobody", True),
    ):  # fmt: skip
        asked = machine.run("runuser", "--user", user, "--", *ask, check=False)
        assert (asked.code == 0) == reached, (machine.node.name, user)


def test_a_node_that_is_powered_down_is_not_asked_and_rings_nothing(measured: Machine) -> None:
    assert "POWERED_DOWN" in measured.run("scontrol", "show", "node", worker_name()).out
    wait_for("Slurm's metrics", lambda: bool(query(measured, "slurm_up == 1")), seconds=300)
    wait_for("the head node's", lambda: bool(query(measured, 'up{job="node"} == 1')), seconds=300)
    host = measured.node.host
    assert named(query(measured, "up")) == {("demo", host, host)}
    assert "cannot sign" not in measured.run("journalctl", "--unit=trainyard-metrics-agent").out
    assert named(query(measured, "slurm_up")) == {("demo", host, host)}
    assert query(measured, "slurm_node_unavailable") == []
    assert {each["state"] for each in query(measured, "slurm_nodes > 0")} == {"powered_down"}


def test_a_node_that_is_up_is_asked_under_its_name_in_slurm(measured: Machine, worker: Machine) -> None:
    name = worker_name()
    measured.run("scontrol", "update", f"NodeName={name}", f"NodeAddr={worker.node.address}", "State=POWER_UP")
    ask = ("scontrol", "show", "node", name)  # slurmd that is there before Slurm has asked for it is no news to Slurm
    wait_for("Slurm to power it up", lambda: "POWERING_UP" in measured.run(*ask).out, seconds=300)
    worker.run("systemctl", "start", "munge", "slurmd")
    wait_for("its metrics", lambda: bool(query(measured, f'up{{job="node",node="{name}"}} == 1')), seconds=300)
    assert ("demo", name, name) in named(query(measured, "node_filesystem_avail_bytes"))


def test_a_node_without_slurm_has_an_agent_of_its_own_and_clusters_share_a_workspace(
    measured: Machine, worker: Machine
) -> None:
    """As a fleet's nodes have it: by the instance's id, and under another cluster's name."""
    name, url = "i-0123456789abcdef0", f"http://{measured.node.address}:9091/api/v1/write"
    agent = MetricsAgent(url=url, region="us-west-2", cluster="fleet", scrape_seconds=5, alone=True)
    (folder,) = (worker.root / "opt/trainyard/scripts").iterdir()
    words = [f"/opt/trainyard/scripts/{folder.name}/metrics.sh", *metrics_words(agent), f"instance={name}"]
    ended = run_unit(worker, "alone", words)
    assert ended.code == 0, ended.output
    wait_for("its metrics", lambda: bool(query(measured, 'up{cluster="fleet",job="node"} == 1')), seconds=300)
    assert named(query(measured, 'up{cluster="fleet"}')) == {("fleet", name, name)}
    assert ("demo", worker_name(), worker_name()) in named(query(measured, 'up{job="node"}'))


def worker_name() -> str:
    return f"{QUEUE}-1"
