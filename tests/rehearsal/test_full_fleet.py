"""The whole rehearsal of a fleet: a lost node, and the job that goes on."""

import json
from pathlib import Path

import pytest

from tests.rehearsal.whole import README, ROOT, assert_went_on, keep, rehearse
from tests.shown import lacking, promised

pytestmark = [pytest.mark.nodes, pytest.mark.cli, pytest.mark.usefixtures("image", "torch_environment")]


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
MONITORED = "fleet-p5-capacity-block"
MEASURED = """
for each in $(cat ids); do
  trainyard exec "$FILE" "$each" -- 'echo "targets of $(curl --silent http://127.0.0.1:8429/api/v1/targets)"'
done
"""
"""What the agent of each node asks, by the agent itself: what it writes leads nowhere here."""


def file_of(name: str, folder: Path) -> Path:
    """A shipped deployment; one of them with its nodes' metrics."""
    shipped = ROOT / "deployments" / f"{name}.yaml"
    if name != MONITORED:
        return shipped
    path = folder / shipped.name
    path.write_text(f"{shipped.read_text()}monitoring: {{}}\n")
    return path


def asked(line: str) -> dict[tuple[str, str], str]:
    """Job and node of what an agent asks, with how the last scrape of it went."""
    targets = json.loads(line.split("targets of ", 1)[1])["data"]["activeTargets"]
    return {(each["labels"]["job"], each["labels"]["node"]): each["health"] for each in targets}


@pytest.mark.parametrize(("file", "nodes"), [("fleet-p3dn-bert", 9), ("fleet-p5-capacity-block", 16)])
def test_a_fleet_replaces_a_lost_node_and_its_job_goes_on(file: str, nodes: int, tmp_path: Path) -> None:
    """And sessions reach its nodes, that which took the lost one's place among them."""
    with keep(file_of(file, tmp_path), tmp_path) as rehearsal:
        rows = [line.split() for line in rehearse("nodes", "--rehearsal", rehearsal.number).stdout.splitlines()]
        hosts, ids = [row[1] for row in rows], [row[2] for row in rows]
        (tmp_path / "ids").write_text("\n".join(ids))
        said = rehearsal.elsewhere(CONNECTED)
        if file == MONITORED:
            agents = [asked(line) for line in rehearsal.elsewhere(MEASURED) if "targets of " in line]
            assert agents == [{("agent", each): "up", ("node", each): "up"} for each in ids]
        done = rehearsal.end()
    assert {f"connected to {hosts[0]}", f"ssh on {hosts[-1]}"} <= {*said}
    assert sorted(line.split("exec on ")[1] for line in said if "exec on " in line) == sorted(hosts)
    assert {each for each in ids if any(f" {each}/" in line for line in said)} == {*ids}
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the cluster has {nodes} nodes: 3 are booted (--max-nodes)" in done.stderr
    shown = promised(README, "make rehearse DEPLOYMENT=deployments/fleet-p3dn-bert.yaml")
    assert file != "fleet-p3dn-bert" or lacking(shown, done.stdout) == [], done.stdout
    assert "9 of 9 pairs" in done.stdout
    assert_went_on(done, r"started at steps 0, (\d+), ")
    assert "both runs learned the same, to the bit" in done.stdout
