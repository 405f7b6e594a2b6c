"""The whole rehearsal of a fleet: a lost node, and the job that goes on."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import job
from cdk_trainyard.rehearsal.fleet.scenario import FleetScenario
from tests.operations.nodes import plugin_on_path
from tests.rehearsal.whole import README, ROOT, assert_went_on, keep, rehearse, rehearse_here
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment", "empty_aws")]
WEIGHTS = r"weights (\w{12})"


CONNECTED = """
echo 'echo "connected to $(hostname)"; exit' | trainyard connect "$FILE" "$(head -n 1 ids)"
for each in $(cat ids); do trainyard exec "$FILE" "$each" -- 'echo "exec on $(hostname)"'; done
trainyard logs "$FILE" $(cat ids)
ssh-keygen -q -t ed25519 -N "" -f key
trainyard exec "$FILE" "$(tail -n 1 ids)" --user ubuntu -- \\
  "mkdir -p ~/.ssh; echo $(cat key.pub) >>~/.ssh/authorized_keys"
trainyard ssh-config "$FILE" --file config --identity "$PWD/key"
ssh -F config -o UserKnownHostsFile=known "$(tail -n 1 ids)" 'echo "ssh on $(hostname)"' </dev/null
"""
"""By the ids of the nodes that were booted: the others of the fleet run in the local AWS alone."""
MEASURED = """echo "exec on $(hostname)"
for _ in $(seq 90); do
  said=$(curl --silent http://127.0.0.1:8429/api/v1/targets)
  case $said in *'"health":"down"'*) sleep 1 ;; *) break ;; esac
done
echo "targets of $said\""""
"""What the agent of each node asks, by the agent itself: what it writes leads nowhere here. It asks each target once in
its interval, spread over that: of a node that has just taken another's place, some are down until they are asked."""


def asked(line: str) -> dict[tuple[str, str], str]:
    """Job and node of what an agent asks, with how the last scrape of it went."""
    targets = json.loads(line.split("targets of ", 1)[1])["data"]["activeTargets"]
    return {(each["labels"]["job"], each["labels"]["node"]): each["health"] for each in targets}


def hosts_of(said: list[str]) -> list[str]:
    """Return the hosts on which commands said their name."""
    return sorted(line.split("exec on ")[1] for line in said if "exec on " in line)


def assert_passed(done: "subprocess.CompletedProcess[str]", nodes: int, booted: int) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the cluster has {nodes} nodes: {booted} are booted (--max-nodes)" in done.stderr
    assert f"{booted**2} of {booted**2} pairs" in done.stdout
    assert_went_on(done, r"started at steps 0, (\d+), ")


@pytest.fixture(scope="module")
def with_a_master(tmp_path_factory: pytest.TempPathFactory) -> "subprocess.CompletedProcess[str]":
    """The rehearsal that the README shows; sessions reach its nodes, and that which took the lost one's place."""
    folder = tmp_path_factory.mktemp("fleet")
    with keep(ROOT / "deployments" / "fleet-p3dn-bert.yaml", folder) as rehearsal:
        rows = [line.split() for line in rehearse("nodes", "--rehearsal", rehearsal.number).stdout.splitlines()]
        hosts, ids = [row[1] for row in rows], [row[2] for row in rows]
        (folder / "ids").write_text("\n".join(ids))
        said = rehearsal.elsewhere(CONNECTED)
        done = rehearsal.end()
    assert {f"connected to {hosts[0]}", f"ssh on {hosts[-1]}"} <= {*said}
    assert hosts_of(said) == sorted(hosts)
    assert {each for each in ids if any(f" {each}/" in line for line in said)} == {*ids}
    return done


def test_a_fleet_replaces_a_lost_node_and_its_job_goes_on(with_a_master: "subprocess.CompletedProcess[str]") -> None:
    assert_passed(with_a_master, 9, 3)
    shown = promised(README, "make rehearse DEPLOYMENT=deployments/fleet-p3dn-bert.yaml")
    assert lacking(shown, with_a_master.stdout) == [], with_a_master.stdout
    assert "both runs learned the same, to the bit" in with_a_master.stdout


def test_so_does_one_without_a_master_and_its_agents_ask_their_own_nodes(
    with_a_master: "subprocess.CompletedProcess[str]", aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With metrics. Its first worker launches the job, which learns what that of the other fleet does undisturbed."""
    shipped = ROOT / "deployments" / "fleet-p5-capacity-block.yaml"
    file = tmp_path / shipped.name
    file.write_text(f"{shipped.read_text()}monitoring: {{scrape_seconds: 5}}\n")
    found: list[FleetScenario] = []

    def train(scenario: FleetScenario) -> None:
        found.append(scenario)
        scenario._run_job("interrupted", lose=scenario.machines.cluster.with_role("worker")[job.NODES - 1])

    def measure() -> None:
        for node in found[0].machines.cluster.nodes:
            assert main(["exec", str(file), node.instance_id, "--", MEASURED]) == 0

    monkeypatch.setattr(FleetScenario, "train", train)
    with plugin_on_path(tmp_path):
        done = rehearse_here(aws, file, "--max-nodes", "2", kept=measure)
    assert_passed(done, 16, 2)
    assert {*re.findall(WEIGHTS, done.stdout)} == {*re.findall(WEIGHTS, with_a_master.stdout)}
    nodes, said = found[0].machines.cluster.nodes, done.stdout.splitlines()
    assert hosts_of(said) == sorted(node.host for node in nodes)
    agents = [asked(line) for line in said if "targets of " in line]
    assert agents == [{("agent", each): "up", ("node", each): "up"} for each in (node.instance_id for node in nodes)]
